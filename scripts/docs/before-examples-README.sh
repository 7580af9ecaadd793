# What examples/README.md takes for granted: what scripts/run starts and makes, and the Swift example, made from what is built
# already.
# serve: scripts/run
until BELFRY_TOKEN=$(belfry token --data data --sub bob) belfry unread | grep --quiet serverEnterLeave; do sleep 0.1; done
python3 "$BELFRY_ROOT/scripts/docs/swift.py" examples/swift/Sources/belfry-example/Example.swift \
  examples/swift/.build/debug/belfry-example
swift package --package-path examples/swift show-dependencies >/dev/null
# Others of the files that it names, by the programs that read them.
if command -v promtool; then
  promtool check rules examples/alerts.yml
elif python3 -c 'import yaml' 2>/dev/null; then
  python3 -c 'import yaml; yaml.safe_load(open("examples/alerts.yml"))'
fi
haproxy -c -f examples/haproxy.cfg
if command -v node; then
  BELFRY_TOKEN=$(belfry token --data data --sub alice) examples/curl.sh send carol "For the page"
  node scripts/docs/browser_page.mjs http://127.0.0.1:8080 "$(belfry token --data data --sub carol)" "For the page"
fi
