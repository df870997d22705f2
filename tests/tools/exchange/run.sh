#!/usr/bin/env bash
# Opens exported call trees with programs of others: speedscope (its own page in a browser, which reads pprof, folded,
# Chrome's and its own files), pprof-format (profile.proto), and `go tool pprof` where Go is installed; and checks
# speedscope's file against its published schema. Firefox Profiler's importer is in no package: of its file only the
# references are checked.
#
#   tests/tools/exchange/run.sh
#
# The preset `dev` must be built (exchange_write_samples). Packages come from npm's registry, pinned by the lock file;
# everything else needs no network, and has none where a network namespace can be made.
#
# Exit status: 0 passed; 77 skipped, with the reason; otherwise failed. Half a minute; bounded.
set -euo pipefail
cd "$(dirname "$0")/../../.."

case "${1:-}" in
  -h | --help)
    sed -n '2,13s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac

readonly NAME=exchange SCRIPT=tests/tools/exchange/run.sh
readonly SOURCES="$PWD/tests/tools/exchange"
readonly WORK="$PWD/build/exchange"
readonly WRITE_SAMPLES="$PWD/build/dev/tests/exchange_write_samples"
readonly TEST_TIMEOUT_S=120

. tests/support/npm.sh

check_node
chromium="$(command -v chromium)" || skip "chromium is missing"
[[ -x $WRITE_SAMPLES ]] || fail "$WRITE_SAMPLES is not built"
mkdir -p "$WORK/samples"
cp "$SOURCES"/package.json "$SOURCES"/package-lock.json "$SOURCES"/*.mjs "$WORK/"
install_folder "$WORK" exchange
"$WRITE_SAMPLES" "$WORK/samples"

if command -v go > /dev/null; then
  step "go tool pprof"
  logged go_pprof timeout 60 go tool pprof -sample_index=calls -top "$WORK/samples/pprof.pb.gz"
  grep -qE '7 .*deflate' "$WORK/go_pprof.log" || fail "go tool pprof does not show 7 calls of deflate"
else
  step "go is missing: go tool pprof is not tried"
fi

step "files in programs of others"
cd "$WORK"
logged opened without_network env \
  XDG_CACHE_HOME="$WORK/cache" \
  FIELDCOST_TEST_SAMPLES="$WORK/samples" \
  FIELDCOST_TEST_CHROMIUM="$chromium" \
  timeout --kill-after=10 "$TEST_TIMEOUT_S" node --test opened_test.mjs
step "passed"
