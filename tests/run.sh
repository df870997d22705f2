#!/usr/bin/env bash
# Installs what the tests need, builds, and runs every test.     ./tests/run.sh [--help]
#
#   ./tests/run.sh                  all tests, preset dev, then under the address sanitizer what reads bytes of others
#                                   and the programs from end to end (label asan_short), the editor's extension, the
#                                   pages in a browser and the Debian packages
#   ./tests/run.sh --ci             the same, and a test that is skipped without a reason in tests/skips_expected.txt
#                                   is an error
#   ./tests/run.sh --all            also under the sanitizers (presets asan and tsan), 20,000 inputs for each fuzz
#                                   target, and clang-tidy: some hours
#   ./tests/run.sh -R Preload       only what CTest's -R selects (further CTest options work too)
#   ./tests/run.sh --quick [REV]    unit tests of what changed since the merge base with the upstream branch (or since
#                                   REV), and style checks: at most 5 minutes with a warm compiler cache
#
# Announces how long it takes, and prints minutes and CPU seconds of each stage at the end.
# Exit status: 0 if all passed. Needs root or sudo once, for packages.
set -euo pipefail
cd "$(dirname "$0")/.."

all="" strict="" whole=1 quick="" form=all_tests
case "${1:-}" in
  -h | --help)
    sed -n '2,17s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
  --all) all=1 form=sanitizers && shift ;;
  --ci) strict=--strict && shift ;;
  --quick) quick=1 form=quick && shift ;;
esac
if [[ -z "$quick" ]] && (($#)); then
  whole="" form=selected_tests
elif (($# > 1)) || [[ -n "$quick" && "${1:-}" == -* ]]; then
  echo "tests/run.sh: --quick takes at most one argument, a revision; see --help" >&2
  exit 64
fi

. tests/run_times.sh
announce "$form"
trap 'print_times $?' EXIT

. deploy/packages.sh
install_packages $BUILD_PACKAGES $TEST_PACKAGES ${all:+clang-tidy-14}
command -v nginx > /dev/null || unpack_package nginx
# rustdoc without Rust's libraries (80 of 270 MB).
unpack_package rustc ./usr/bin/rustdoc
unpack_package libstd-rust-1.63 './usr/lib/*/lib*.so'
# Its promtool checks the server's metrics.
command -v promtool > /dev/null || unpack_package prometheus

configure() {
  cmake --preset "$1" > "build/$1-configure.log" 2>&1 || {
    tail -n 20 "build/$1-configure.log" >&2
    echo "tests/run.sh: configuring failed; the whole log is build/$1-configure.log" >&2
    exit 1
  }
}

# build PRESET [TARGET]
build() {
  begin_stage "build $1${2:+, $2}"
  echo "== configure and build (preset $1${2:+, $2})"
  configure "$1"
  cmake --build --preset "$1" ${2:+--target "$2"}
}

# run_tests PRESET [CTEST OPTION...]: a log keeps what failed, and not two lines of each of the two thousand that
# passed.
run_tests() {
  local preset="$1" results="$PWD/build/$1-tests.xml" status=0
  shift
  begin_stage "test $preset"
  echo "== test (preset $preset)"
  rm -f "$results"
  if [[ -t 1 ]]; then
    ctest --preset "$preset" --parallel 2 --progress --output-junit "$results" "$@" || status=$?
  else
    ctest --preset "$preset" --parallel 2 --output-junit "$results" "$@" |
      { grep --line-buffered -vE '^ +Start +[0-9]+: | +Passed +[0-9.]+ sec$' || true; } || status=$?
  fi
  [[ ! -f "$results" ]] || python3 tests/skips.py "$results" $strict || status=1
  return $status
}

# A stage of its own; 77 = it cannot run here, and has printed the reason.
stage() {
  local status=0
  begin_stage "$1"
  "$@" || status=$?
  ((status == 0 || status == 77)) || exit "$status"
}

# Unit tests of what changed (tests/quick.py selects them), and style checks.
run_quick() {
  local targets numbers
  begin_stage "build dev, what changed"
  configure dev
  python3 tests/quick.py plan build/dev "$@"
  targets="$(python3 tests/quick.py targets build/dev "$@")"
  # shellcheck disable=SC2086
  [[ -z "$targets" ]] || cmake --build --preset dev --target $targets
  # CTest lists a program that is not built as one test of that name; none of these is selected.
  numbers="$(ctest --preset dev --show-only=json-v1 | python3 tests/quick.py tests build/dev "$@")"
  run_tests dev -I "$numbers"
}

if [[ -n "$quick" ]]; then
  run_quick "$@"
  exit
fi

build dev
[[ -z "$whole" ]] || build dev bench  # so that a benchmark that no longer builds is noticed
run_tests dev "$@"

# A part of --all; tests/CMakeLists.txt lists the programs.
if [[ -n "$whole" && -z "$all" ]]; then
  build asan asan_short
  run_tests asan -L asan_short
fi

# All but the last fetch from npm's registry; the last builds once more, from the compiler's cache, and needs root and a
# Debian mirror.
if [[ -n "$whole" ]]; then
  install_editor_packages
  stage tests/tools/vscode/run.sh build/dev
  stage tests/tools/pages/run.sh
  stage tests/aggregator/probe_server/browser/run.sh
  stage tests/tools/exchange/run.sh
  stage tests/tools/reader/run.sh
  stage tests/packages/run.sh
fi

if [[ -n "$all" ]]; then
  for preset in asan tsan fuzz; do
    build "$preset"
    run_tests "$preset"
  done
  # The preset has clang's own options, and builds no more than the headers that protoc makes.
  build tidy
  begin_stage "clang-tidy"
  echo "== clang-tidy"
  git ls-files 'agent/*.cc' 'aggregator/*.cc' 'common/*.cc' 'tools/*.cc' |
    xargs -P "$(nproc)" -n 4 clang-tidy-14 --quiet --warnings-as-errors='*' -p build/tidy
fi
