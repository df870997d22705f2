#!/usr/bin/env bash
# Looks at the golden pages of tests/tools/report in a browser: nothing cut at 400, 1,200 and 1,920 pixels and on
# paper, light and dark; and pictures of them, compared with golden ones.
#
#   tests/tools/pages/run.sh [--update]
#
# --update writes the golden pictures anew (look at build/pages/pictures before). The pages themselves are compared
# with what the programs write by report_test. playwright-core comes from npm's registry, pinned by the lock file;
# everything else needs no network, and has none where a network namespace can be made.
#
# Exit status: 0 passed; 77 skipped, with the reason; otherwise failed. Half a minute; bounded.
set -euo pipefail
cd "$(dirname "$0")/../../.."

update=()
case "${1:-}" in
  -h | --help)
    sed -n '2,11s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
  --update) update=(FIELDCOST_UPDATE_GOLDEN=1) ;;
esac

readonly NAME=pages SCRIPT=tests/tools/pages/run.sh
readonly SOURCES="$PWD/tests/tools/pages"
readonly WORK="$PWD/build/pages"
readonly TEST_TIMEOUT_S=180

. tests/support/npm.sh

check_node
chromium="$(command -v chromium)" || skip "chromium is missing"
[[ -f /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf ]] || skip "fonts-dejavu-core is missing"
mkdir -p "$WORK"
cp "$SOURCES"/package.json "$SOURCES"/package-lock.json "$SOURCES"/*.mjs "$WORK/"
install_folder "$WORK" pages
step "pages in a browser"
cd "$WORK"
logged pages without_network env "${update[@]}" \
  XDG_CACHE_HOME="$WORK/cache" \
  FONTCONFIG_FILE="$SOURCES/fonts.conf" \
  FIELDCOST_TEST_PAGES="$SOURCES/../report" \
  FIELDCOST_TEST_GOLDEN="$SOURCES/golden" \
  FIELDCOST_TEST_PICTURES="$WORK/pictures" \
  FIELDCOST_TEST_CHROMIUM="$chromium" \
  timeout --kill-after=10 "$TEST_TIMEOUT_S" node --test pages_test.mjs
step "passed"
