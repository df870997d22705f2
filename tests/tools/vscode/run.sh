#!/usr/bin/env bash
# Checks, builds and packs the VS Code extension, and uses it in a real editor.
#
#   tests/tools/vscode/run.sh [--unit] [BUILD_DIR]     (default build/dev)
#
# --unit skips the editor. The packed extension is build/vscode/fieldcost.vsix. Dependencies come from
# npm's registry, pinned by the lock files; their install scripts are not run. Everything else needs no
# network, and has none where a network namespace can be created.
#
# Exit status: 0 passed; 77 skipped, with the reason; otherwise failed. Takes half a minute with
# dependencies present, and a minute or two to fetch them; each part has a time limit.
set -euo pipefail
cd "$(dirname "$0")/../../.."

case "${1:-}" in
  -h | --help)
    sed -n '2,11s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac
with_editor=true
if [[ "${1:-}" == --unit ]]; then
  with_editor=false
  shift
fi

readonly NAME=vscode SCRIPT=tests/tools/vscode/run.sh
readonly BUILD="$(realpath -m "${1:-build/dev}")"
readonly WORK="$PWD/build/vscode"
readonly EXTENSION="$WORK/tools/vscode"
readonly TESTS="$WORK/tests/tools/vscode"
# The package's inputs: deploy/debian/build.sh compares them with the committed ones.
SOURCES="$(git ls-files -z tools/vscode LICENSE tools/lsp/SETTINGS.md | LC_ALL=C sort -z | xargs -0 sha256sum |
  sha256sum)"
readonly SOURCES
readonly EDITOR_TIMEOUT_S=180

. tests/support/npm.sh

# Copies the sources, because npm and the compilers write next to them.
copy_sources() {
  mkdir -p "$EXTENSION" "$TESTS"
  local folder
  for folder in tools/vscode tests/tools/vscode; do
    find "$WORK/$folder" -mindepth 1 -maxdepth 1 ! -name node_modules ! -name installed \
      -exec rm -rf {} +
    tar -c -C "$folder" --exclude=node_modules --exclude=out . | tar -x -C "$WORK/$folder"
  done
  cp LICENSE "$WORK/LICENSE"
  install -D -m 644 tools/lsp/SETTINGS.md "$WORK/tools/lsp/SETTINGS.md"
}

# As in tools/vscode/README.md; the dependencies are in npm's cache.
pack() {
  local status=0
  step "pack"
  (
    export npm_config_prefer_offline=true npm_config_audit=false npm_config_fund=false
    cd "$WORK"
    timeout "$INSTALL_TIMEOUT_S" bash -e -c '
      cd tools/vscode
      cp ../../LICENSE .
      npm ci --ignore-scripts && npm run build && npm run package'
  ) > "$WORK/package.log" 2>&1 || status=$?
  ((status == 0)) || npm_failed "$status" "$WORK/package.log"
  step "types and rules"
  cd "$EXTENSION"
  logged check npm run check
  cp fieldcost.vsix "$WORK/fieldcost.vsix"
  echo "$SOURCES" > "$WORK/fieldcost.vsix.sources"
}

# bundle KIND FILE...: tests as modules for node, in out/KIND.
bundle() {
  local kind="$1"
  shift
  logged "bundle-$kind" npx --no-install esbuild "$@" --bundle --platform=node --format=esm \
    --external:playwright-core --loader:.md=text --out-extension:.js=.mjs --outdir="out/$kind" --log-level=warning
}

unit_tests() {
  step "unit tests"
  cd "$TESTS"
  logged types npx --no-install tsc --noEmit -p .
  bundle unit unit/*_test.ts
  logged unit timeout 60 node --test out/unit/*.mjs
}

editor_test() {
  local chromium code="$TESTS/node_modules/code-server/lib/vscode" directory status=0
  chromium="$(command -v chromium)" || skip "chromium is missing"
  [[ -x "$BUILD/bin/fieldcost-lsp" && -x "$BUILD/bin/synthetic_catalog" ]] ||
    fail "fieldcost-lsp or synthetic_catalog is not built in $BUILD"
  # The editor expects its dependencies below its own folder, but the lock file puts them here.
  ln -sfn ../../.. "$code/node_modules"
  cd "$TESTS"
  bundle editor editor/editor_test.ts
  (cd other_server && logged other "$EXTENSION/node_modules/.bin/vsce" package --no-dependencies \
    --skip-license --out "$WORK/other.vsix")
  step "the packed extension in an editor"
  directory="$(mktemp -d "${TMPDIR:-/tmp}/fieldcost-vscode.XXXXXX")"
  timeout 30 "$BUILD/bin/synthetic_catalog" "$directory/profile" || fail "there is no catalogue"
  FIELDCOST_TEST_WORK="$directory" \
    FIELDCOST_TEST_CODE="$code" \
    FIELDCOST_TEST_CHROMIUM="$chromium" \
    FIELDCOST_TEST_VSIX="$WORK/fieldcost.vsix" \
    FIELDCOST_TEST_OTHER_VSIX="$WORK/other.vsix" \
    FIELDCOST_TEST_SERVER="$BUILD/bin/fieldcost-lsp" \
    FIELDCOST_TEST_PICTURE="$WORK/editor.png" \
    without_network timeout --kill-after=10 "$EDITOR_TIMEOUT_S" node --test out/editor/editor_test.mjs \
    > "$WORK/editor.log" 2>&1 || status=$?
  cp "$directory/editor/editor.log" "$WORK/editor-server.log" 2> /dev/null || true
  rm -rf "$directory"
  ((status == 0)) || {
    grep -E '^ +not ok|error:' -A 6 "$WORK/editor.log" >&2 || tail -n 40 "$WORK/editor.log" >&2
    fail "the extension does not work in the editor (log: $WORK/editor.log, its last page: $WORK/editor.png)"
  }
}

check_node
mkdir -p "$WORK"
copy_sources
pack
install_folder "$TESTS" tests
unit_tests
cd "$TESTS/../../../../.."
if $with_editor; then editor_test; fi
step "passed"
