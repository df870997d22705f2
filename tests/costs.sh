#!/usr/bin/env bash
# Measures what builds from nothing and the tests cost.     ./tests/costs.sh [--help] [ROW...]
#
#   ./tests/costs.sh                all rows: quickstart, release, dev, tests; an hour or more on two cores
#   ./tests/costs.sh quickstart     only these; `tests` needs a `dev` that was measured before
#
# Each build begins in an empty directory below build/costs and without the compiler cache. Prints one row of the table
# in tests/README.md for each; logs are in build/costs. Everything that the builds need must be installed (run.sh).
# Exit status: 0 if all succeeded; limits are only printed.
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in -h | --help) sed -n '2,9s/^# \{0,1\}//p' "$0" && exit 0 ;; esac
readonly ROWS=(quickstart release dev tests)
declare -A LIMITS=([quickstart]=500 [release]=900)
for row in "$@"; do
  [[ " ${ROWS[*]} " == *" $row "* ]] || {
    echo "tests/costs.sh: no row called $row; there are ${ROWS[*]}" >&2
    exit 64
  }
done
. tests/run_times.sh
export CCACHE_DISABLE=1
mkdir -p build/costs

build_row() {
  rm -rf "build/costs/$1"
  cmake --preset "$1" -B "build/costs/$1"
  if [[ "$1" == quickstart ]]; then
    cmake --build "build/costs/$1" --target fieldcost fieldcostd fieldcost-aggregator fieldcost_preload
  else
    cmake --build "build/costs/$1"
  fi
}

# measure ROW: prints its row.
measure() {
  local cpu_before began sources
  cpu_before="$(cpu_seconds)" began=$SECONDS
  if [[ "$1" == tests ]]; then
    ctest --test-dir build/costs/dev --parallel 2
  else
    build_row "$1"
  fi > "build/costs/$1.log" 2>&1 || {
    tail -n 20 "build/costs/$1.log" >&2
    echo "tests/costs.sh: $1 failed; the whole log is build/costs/$1.log" >&2
    exit 1
  }
  sources="-"
  [[ "$1" == tests ]] || sources="$(grep -c '"file":' "build/costs/$1/compile_commands.json")"
  printf '| %s | %s | %d | %.1f (%d cores) | %s | %s |\n' "$1" "$sources" $(($(cpu_seconds) - cpu_before)) \
    "$(awk "BEGIN { print ($SECONDS - $began) / 60 }")" "$(nproc)" "${LIMITS[$1]:+≤ }${LIMITS[$1]:--}" "$(date +%F)"
}

for row in "${@:-${ROWS[@]}}"; do measure "$row"; done
