#!/usr/bin/env bash
# Tests tools/reader, the second reader of publications: types, golden files, key sequences, the command, both
# cryptographies, a browser; and that it agrees with the C++ reader on 10,000 rows and on each refusal.
#
#   tests/tools/reader/run.sh
#
# The preset `dev` must be built (reader_counterpart). Packages come from npm's registry, pinned by the lock files;
# everything else needs no network, and has none where a network namespace can be made.
#
# Exit status: 0 passed; 77 skipped, with the reason; otherwise failed. Half a minute; bounded.
set -euo pipefail
cd "$(dirname "$0")/../../.."

case "${1:-}" in
  -h | --help)
    sed -n '2,10s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac

readonly NAME=reader SCRIPT=tests/tools/reader/run.sh
readonly WORK="$PWD/build/reader"
readonly COUNTERPART="$PWD/build/dev/tests/reader_counterpart"
readonly TEST_TIMEOUT_S=180

. tests/support/npm.sh

check_node
[[ -x $COUNTERPART ]] || fail "$COUNTERPART is not built"

# Copies the sources, because npm writes next to them.
for folder in tools/reader tests/tools/reader tests/common/wire/golden tests/common/catalog/data; do
  mkdir -p "$WORK/$folder"
  find "$WORK/$folder" -mindepth 1 -maxdepth 1 ! -name node_modules ! -name installed -exec rm -rf {} +
  tar -c -C "$folder" --exclude=node_modules . | tar -x -C "$WORK/$folder"
done
install_folder "$WORK/tools/reader" reader
install_folder "$WORK/tests/tools/reader" tests

cd "$WORK/tests/tools/reader"
step "types"
logged types npx --no-install tsc -p .

tests=(agreement_test.mjs command_test.mjs crypto_test.mjs golden_test.mjs key_sequences_test.mjs)
if chromium="$(command -v chromium)"; then
  tests+=(browser_test.mjs)
else
  step "chromium is missing: the module is not tried in a browser"
fi
step "reading"
logged reading without_network env \
  FIELDCOST_TEST_WORK="$WORK" \
  FIELDCOST_TEST_COUNTERPART="$COUNTERPART" \
  FIELDCOST_TEST_CHROMIUM="${chromium:-}" \
  timeout --kill-after=10 "$TEST_TIMEOUT_S" node --test "${tests[@]}"
step "passed"
