#!/usr/bin/env bash
# Installs what the tests need, builds, and runs every test.     ./tests/run.sh [--help]
#
#   ./tests/run.sh                  all tests, preset dev, then the editor's extension and the Debian packages
#   ./tests/run.sh -R Preload       only what CTest's -R selects (further CTest options work too)
#
# Exit status: 0 if all passed. Needs root or sudo once, for packages.
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in
  -h | --help)
    sed -n '2,7s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac

. deploy/packages.sh
install_packages $BUILD_PACKAGES $TEST_PACKAGES
command -v nginx > /dev/null || unpack_package nginx
# Its promtool checks what the server tells its monitoring.
command -v promtool > /dev/null || unpack_package prometheus

# What is compiled here is found again when the packages are built from a copy of the tree.
export CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1

echo "== configure and build (preset dev)"
cmake --preset dev > build/dev-configure.log 2>&1 || {
  tail -n 20 build/dev-configure.log >&2
  echo "tests/run.sh: configuring failed; the whole log is build/dev-configure.log" >&2
  exit 1
}
cmake --build --preset dev

# A log keeps what failed, and not two lines of each of the two thousand that passed.
echo "== test"
if [[ -t 1 ]]; then
  ctest --preset dev --parallel 2 --progress "$@"
else
  ctest --preset dev --parallel 2 "$@" | { grep --line-buffered -vE '^ +Start +[0-9]+: | +Passed +[0-9.]+ sec$' || true; }
fi

# Stages of their own. The first fetches from npm's registry; where it cannot run it says why.
if (($# == 0)); then
  install_editor_packages
  status=0
  tests/tools/vscode/run.sh build/dev || status=$?
  ((status == 0 || status == 77)) || exit "$status"
fi

# It builds once more, from the compiler's cache, and needs root and a Debian mirror.
# Where it cannot run it says why.
if (($# == 0)); then
  status=0
  tests/packages/run.sh || status=$?
  ((status == 0 || status == 77)) || exit "$status"
fi
