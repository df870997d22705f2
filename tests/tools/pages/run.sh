#!/usr/bin/env bash
# Checks the golden pages of tests/tools/report in a browser: nothing is cut at 400, 1,100, 1,200 and 1,920 pixels and
# on paper, light and dark; pictures of them equal the golden ones. Then checks pages of call trees, which the program
# writes for recordings, and of idle CPUs: they show what the program prints, by mouse and keyboard. Then
# searches the indexes of static sites.
#
#   tests/tools/pages/run.sh [--update]
#
# --update rewrites the golden pictures (inspect build/pages/pictures first). report_test compares the pages themselves
# with the programs' output. The preset `dev` must be built (fieldcost, pages_write_recordings, pages_write_sites).
# playwright-core, axe-core and uPlot (compared with the vendored copy) come from npm's registry, pinned by the lock
# file; everything else needs no network, and has none where a network namespace can be created.
#
# Exit status: 0 passed; 77 skipped, with the reason; otherwise failed. Takes a minute, with a time limit.
set -euo pipefail
cd "$(dirname "$0")/../../.."

update=()
case "${1:-}" in
  -h | --help)
    sed -n '2,15s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
  --update) update=(FIELDCOST_UPDATE_GOLDEN=1) ;;
esac

readonly NAME=pages SCRIPT=tests/tools/pages/run.sh
readonly SOURCES="$PWD/tests/tools/pages"
readonly WORK="$PWD/build/pages"
readonly FIELDCOST="$PWD/build/dev/bin/fieldcost"
readonly WRITE_RECORDINGS="$PWD/build/dev/tests/pages_write_recordings"
readonly WRITE_SITES="$PWD/build/dev/tests/pages_write_sites"
readonly TREES="$WORK/trees"
readonly TEST_TIMEOUT_S=240

. tests/support/npm.sh

check_node
chromium="$(command -v chromium)" || skip "chromium is missing"
[[ -f /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf ]] || skip "fonts-dejavu-core is missing"
for program in "$FIELDCOST" "$WRITE_RECORDINGS" "$WRITE_SITES"; do
  [[ -x $program ]] || fail "$program is not built"
done
mkdir -p "$WORK"
cp "$SOURCES"/package.json "$SOURCES"/package-lock.json "$SOURCES"/*.mjs "$WORK/"
install_folder "$WORK" pages

step "pages of call trees"
rm -rf "$TREES"
mkdir -p "$TREES"
make_trees() {
  cd "$TREES"
  "$WRITE_RECORDINGS" .
  { printf 'main' && printf ';recurse%.0s' {1..900} && printf ' 5\n'; } > deep.folded
  "$FIELDCOST" tree show deep.folded --html deep.html
  local name
  for name in a big large threads; do "$FIELDCOST" tree show "$name.fct" --html "$name.html"; done
  "$FIELDCOST" tree show a.fct@500ms..3.25s --html part.html
  "$FIELDCOST" idle show idle.fct --html idle.html
  "$FIELDCOST" idle show idle.fct@500ms..1.25s --html idle_part.html
  local status=0
  "$FIELDCOST" tree diff old.fct new.fct --html diff.html || status=$?
  ((status == 1)) # something costs more
}
logged trees make_trees
rm -rf "$WORK/sites"
logged sites "$WRITE_SITES" "$WORK/sites"

step "pages in a browser"
cd "$WORK"
logged pages without_network env "${update[@]}" \
  XDG_CACHE_HOME="$WORK/cache" \
  FONTCONFIG_FILE="$SOURCES/fonts.conf" \
  FIELDCOST_TEST_PAGES="$SOURCES/../report" \
  FIELDCOST_TEST_GOLDEN="$SOURCES/golden" \
  FIELDCOST_TEST_PICTURES="$WORK/pictures" \
  FIELDCOST_TEST_CHROMIUM="$chromium" \
  FIELDCOST_TEST_TREES="$TREES" \
  FIELDCOST_TEST_SITES="$WORK/sites" \
  FIELDCOST_TEST_PROGRAM="$FIELDCOST" \
  FIELDCOST_TEST_VENDORED="$SOURCES/../../../tools/report/vendored" \
  timeout --kill-after=10 "$TEST_TIMEOUT_S" node --test pages_test.mjs tree_page_test.mjs \
  idle_page_test.mjs site_test.mjs
step "passed"
