# Sourced, in the repository's folder: the one debug build that the tests and all checks share.

# The same options for everybody: with others SwiftPM compiles everything again, which takes minutes. Without descriptions for
# debuggers the build is a third quicker; BELFRY_DEBUG_INFO=dwarf makes one with them.
debug_options=(-debug-info-format "${BELFRY_DEBUG_INFO:-none}")

# build_debug --product belfry | --build-tests: without a terminal it shows only what the compiler complains of.
build_debug() {
  if [[ -t 1 ]]; then
    swift build "${debug_options[@]}" "$@"
    return
  fi
  local log status=0
  log=$(mktemp)
  swift build "${debug_options[@]}" "$@" >"$log" 2>&1 || status=$?
  if ((status != 0)); then grep -v '^\[' "$log" >&2 || true; fi
  rm -f "$log"
  return "$status"
}

# debug_executable: the path of the executable that is checked, which is BELFRY_EXECUTABLE, or built here. The output of the
# build is for people, so it goes where errors go.
debug_executable() {
  if [[ -n ${BELFRY_EXECUTABLE:-} ]]; then
    [[ -x $BELFRY_EXECUTABLE ]] || { echo "BELFRY_EXECUTABLE names no executable: $BELFRY_EXECUTABLE" >&2; return 1; }
    realpath "$BELFRY_EXECUTABLE"
    return
  fi
  build_debug --product belfry >&2 || return
  realpath "$(swift build "${debug_options[@]}" --show-bin-path)/belfry"
}
