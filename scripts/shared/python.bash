# Sourced, in the repository's folder: the one environment of Python that checks share, with what they take from PyPI.

# python_tools: makes the environment if it is not there or not complete, and prints its folder. Complete, it asks no network.
#
# All that is installed stands with its version in scripts/shared/python-packages.txt, what the packages need themselves included: a
# release on PyPI must not change what a check of an old commit says.
python_tools() {
  local tools=.build/python packages=scripts/shared/python-packages.txt
  mkdir -p .build
  (
    # Two checks may begin at the same time.
    flock 9
    if ! cmp --silent "$packages" "$tools/packages.txt" || ! "$tools/bin/python" -c '' 2>/dev/null; then
      _make_python_tools "$tools" "$packages" || exit
    fi
  ) 9>.build/python.lock >&2 || return
  echo "$PWD/$tools"
}

_make_python_tools() {
  local try
  for try in 1 2 3; do
    rm -rf "$1"
    # The packages that build others come first, by the list, since pip would fetch the newest. `pip check` names packages
    # that the list lacks, or that do not fit together.
    if python3 -m venv "$1" \
      && _install_into "$1" "$(grep '^setuptools==' "$2")" \
      && _install_into "$1" --no-build-isolation --requirement "$2" \
      && "$1/bin/pip" --disable-pip-version-check check; then
      cp "$2" "$1/packages.txt"
      return
    fi
    if ((try < 3)); then
      echo "Installing the packages of $2 into $1 failed; trying again in $((10 * try)) s." >&2
      sleep $((10 * try))
    fi
  done
  echo "Installing the packages of $2 into $1 failed three times: above is why." >&2
  return 1
}

# Python compiles what it uses when it uses it: most of these files are never read.
_install_into() {
  "$1/bin/pip" install --quiet --disable-pip-version-check --retries 10 --no-deps --no-compile "${@:2}"
}
