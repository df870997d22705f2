#!/usr/bin/env bash
# Tests the pages of the real fieldcost-probe-server in a browser, over TLS: logs in, views, compares, marks, removes,
# logs out; without scripts, by keyboard, light and dark, narrow and wide, on paper; and attacks them.
#
#   tests/aggregator/probe_server/browser/run.sh
#
# The preset `dev` must be built (fieldcost-probe-server, probe_send_events). playwright-core and axe-core come from
# npm's registry, pinned by the lock file of tests/tools/pages; nothing else needs the network.
#
# Exit status: 0 passed; 77 skipped, with the reason; otherwise failed. Takes about half a minute, with a time limit.
set -euo pipefail
cd "$(dirname "$0")/../../../.."

case "${1:-}" in
  -h | --help)
    sed -n '2,11s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac

readonly NAME=probe_pages SCRIPT=tests/aggregator/probe_server/browser/run.sh
readonly SOURCES="$PWD/tests/aggregator/probe_server/browser"
readonly PAGES="$PWD/tests/tools/pages"
readonly WORK="$PWD/build/probe_pages"
readonly SERVER="$PWD/build/dev/bin/fieldcost-probe-server"
readonly SEND="$PWD/build/dev/tests/probe_send_events"
readonly HOME_DIR="$WORK/home"
readonly PASSWORD='correct horse battery'
readonly TEST_TIMEOUT_S=240

. tests/support/npm.sh

check_node
chromium="$(command -v chromium)" || skip "chromium is missing"
for program in "$SERVER" "$SEND"; do
  [[ -x $program ]] || fail "$program is not built"
done
mkdir -p "$WORK"
cp "$PAGES"/package.json "$PAGES"/package-lock.json "$PAGES"/fonts.conf "$SOURCES"/*.mjs "$WORK/"
install_folder "$WORK" probe_pages

server_pid=
stop_server() {
  [[ -z $server_pid ]] || kill "$server_pid" 2> /dev/null || true
  server_pid=
}
trap stop_server EXIT

# The server must run inside the network namespace, if there is one, because it listens on that namespace's loopback.
if [[ ${FIELDCOST_TEST_INSIDE:-} != yes ]]; then
  rm -rf "$HOME_DIR"
  "$SERVER" init --dir "$HOME_DIR" --host localhost --port 0 --admin-port 0 > "$WORK/init.log"
  for user in alice bob; do
    "$SERVER" user add $user --config "$HOME_DIR/probe-server.toml" <<< "$PASSWORD" >> "$WORK/init.log"
  done
  step "pages in a browser"
  status=0
  FIELDCOST_TEST_INSIDE=yes without_network "$SOURCES/run.sh" || status=$?
  ((status == 0)) || exit "$status"
  step "passed"
  exit 0
fi

"$SERVER" --config "$HOME_DIR/probe-server.toml" 2> "$WORK/server.log" &
server_pid=$!
for ((i = 0; i < 200; ++i)); do
  [[ ! -s $HOME_DIR/address ]] || break
  sleep 0.1
done
url="$(sed 's/127\.0\.0\.1/localhost/' "$HOME_DIR/address")"
"$SEND" "$url" "$HOME_DIR/ca.pem" alice "$PASSWORD"
cd "$WORK"
logged pages env XDG_CACHE_HOME="$WORK/cache" FONTCONFIG_FILE="$WORK/fonts.conf" \
  FIELDCOST_TEST_URL="$url" FIELDCOST_TEST_PASSWORD="$PASSWORD" FIELDCOST_TEST_CHROMIUM="$chromium" \
  timeout --kill-after=10 "$TEST_TIMEOUT_S" node --test probe_pages_test.mjs
