# What docs/http.md takes for granted: what scripts/run starts and makes.
# serve: scripts/run
until BELFRY_TOKEN=$(belfry token --data data --sub bob) belfry unread | grep --quiet serverEnterLeave; do sleep 0.1; done
