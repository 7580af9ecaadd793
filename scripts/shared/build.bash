# Sourced, in the repository's folder: the one debug build that the tests and all checks share.

# The same options for everybody: with others SwiftPM compiles everything again, which takes minutes.
#
# The build leaves out descriptions for debuggers (a third of the time), and the index for editors (a tenth) with the search for
# tests of XCTest that needs it. Package.swift names the modules that are optimised, with all assertions. Optimising all of them
# costs more time to compile than the tests gain. Tests are not optimised: the compiler of Swift 6.3 crashes on one.
# BELFRY_DEBUG_INFO=dwarf makes a build for a debugger instead, with nothing optimised.
#
# Four files at a time even on two processors: that takes no longer, and next to other programs the build gets its share.
compile_jobs=$(nproc)
if ((compile_jobs < 4)); then compile_jobs=4; fi
debug_options=(
  -debug-info-format "${BELFRY_DEBUG_INFO:-none}" --disable-index-store --disable-xctest --jobs "$compile_jobs")
debug_build=optimized
if [[ ${BELFRY_DEBUG_INFO:-none} != none ]]; then debug_build=plain; fi

# The compiler asks for much memory in small pieces. In huge pages it takes a twentieth less of the processor.
compiler_memory=glibc.malloc.hugetlb=1:glibc.malloc.top_pad=16777216

# build_debug --product belfry | --build-tests: without a terminal it shows only what the compiler complains of.
build_debug() {
  if [[ -t 1 ]]; then
    GLIBC_TUNABLES=$compiler_memory BELFRY_DEBUG_BUILD=$debug_build swift build "${debug_options[@]}" "$@"
    return
  fi
  local log status=0
  log=$(mktemp)
  GLIBC_TUNABLES=$compiler_memory BELFRY_DEBUG_BUILD=$debug_build swift build "${debug_options[@]}" "$@" >"$log" 2>&1 || status=$?
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
