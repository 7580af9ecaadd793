# Builds for debugging, for the scripts that source this. All of them build with the same options, since SwiftPM builds
# everything again when they differ. Without debug information a build takes three minutes instead of four;
# `BELFRY_DEBUG_INFO=dwarf` has it, for a debugger.
debug_options=(-debug-info-format "${BELFRY_DEBUG_INFO:-none}")

# build_debug [--build-tests | --product NAME]...: shows what the compiler says only if it fails, or if there is a terminal.
build_debug() {
  if [[ -t 1 ]]; then
    swift build "${debug_options[@]}" "$@"
    return
  fi
  local log
  log=$(mktemp)
  if ! swift build "${debug_options[@]}" "$@" >"$log" 2>&1; then
    grep -v '^\[' "$log" >&2 || true
    rm -f "$log"
    return 1
  fi
  rm -f "$log"
}

# Prints the path of an executable: the one that BELFRY_EXECUTABLE names, or the one of this build.
debug_executable() {
  if [[ ${BELFRY_EXECUTABLE:-} ]]; then
    realpath "$BELFRY_EXECUTABLE"
    return
  fi
  build_debug --product belfry >&2 && echo "$PWD/.build/debug/belfry"
}
