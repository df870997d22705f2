#!/usr/bin/env bash
# Opens exported call trees with programs of others: speedscope (its own page in a browser, which reads pprof, folded,
# Chrome's and its own files), pprof-format (profile.proto), Firefox Profiler (its program for the command line) and
# Go's pprof, whose own profiles we read in turn; and checks speedscope's file against its published schema. Events of
# probe points: OTLP/JSON by OpenTelemetry's own messages, Chrome's traces by speedscope.
#
#   tests/tools/exchange/run.sh
#
# The preset `dev` must be built (fieldcost, exchange_write_samples). Packages come from npm's registry, pinned by the
# lock file, and Go's from Debian's mirror (63 MB, unpacked in part below build/packages); everything else needs no
# network, and has none where a network namespace can be made.
#
# Exit status: 0 passed; 77 skipped, with the reason; otherwise failed. Half a minute; bounded.
set -euo pipefail
cd "$(dirname "$0")/../../.."

case "${1:-}" in
  -h | --help)
    sed -n '2,16s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac

readonly NAME=exchange SCRIPT=tests/tools/exchange/run.sh
readonly SOURCES="$PWD/tests/tools/exchange"
readonly WORK="$PWD/build/exchange"
readonly WRITE_SAMPLES="$PWD/build/dev/tests/exchange_write_samples"
readonly PROGRAM="$PWD/build/dev/bin/fieldcost"
readonly TEST_TIMEOUT_S=120

. deploy/packages.sh
. tests/support/npm.sh

check_node
chromium="$(command -v chromium)" || skip "chromium is missing"
for program in "$WRITE_SAMPLES" "$PROGRAM"; do
  [[ -x $program ]] || fail "$program is not built"
done
mkdir -p "$WORK/samples" "$WORK/home"
cp "$SOURCES"/package.json "$SOURCES"/package-lock.json "$SOURCES"/*.mjs "$WORK/"
install_folder "$WORK" exchange
"$WRITE_SAMPLES" "$WORK/samples"

# Go's library is already compiled: neither its sources nor the command `go` are needed.
go_tests=()
unpack_go
if [[ -d $GO_ROOT ]]; then
  step "a profile of a Go program"
  tools="$(echo "$GO_ROOT"/pkg/tool/*)" libraries="$(echo "$GO_ROOT"/pkg/linux_*)"
  export GOROOT="$GO_ROOT"
  logged go_compile "$tools/compile" -p main -I "$libraries" -o "$WORK/go_profile.o" "$SOURCES/go_profile.go"
  logged go_link "$tools/link" -L "$libraries" -o "$WORK/go_profile" "$WORK/go_profile.o"
  timeout 60 "$WORK/go_profile" > "$WORK/samples/go.pb.gz"
  go_tests=(go_pprof_test.mjs)
else
  step "Debian's golang-1.19-go cannot be had: go tool pprof is not tried (log: build/packages.log)"
fi

# Firefox Profiler's program responds through a socket, whose path must be short.
sessions="$(mktemp -d)"
trap 'rm -rf "$sessions"' EXIT

step "files in programs of others"
cd "$WORK"
logged opened without_network env \
  XDG_CACHE_HOME="$WORK/cache" \
  FIELDCOST_TEST_SAMPLES="$WORK/samples" \
  FIELDCOST_TEST_CHROMIUM="$chromium" \
  FIELDCOST_TEST_FIREFOX_PROFILER="$WORK/node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js" \
  PROFILER_CLI_SESSION_DIR="$sessions" \
  FIELDCOST_TEST_PROGRAM="$PROGRAM" \
  FIELDCOST_TEST_PPROF="${tools:+$tools/pprof}" \
  HOME="$WORK/home" PPROF_TMPDIR="$WORK/home" \
  timeout --kill-after=10 "$TEST_TIMEOUT_S" node --test opened_test.mjs firefox_test.mjs otlp_test.mjs \
  "${go_tests[@]}"
step "passed"
