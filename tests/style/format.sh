#!/bin/sh
# Checks that C++ sources are formatted according to .clang-format.
#
#   format.sh SOURCE_DIR    all sources
#   format.sh --staged      the sources that are staged for the next commit, as they are in the working tree
case "$1" in
  --staged)
    cd "$(git rev-parse --show-toplevel)" || exit 2
    files=$(git diff --cached --name-only --diff-filter=d -- '*.h' '*.cc')
    [ -n "$files" ] || { echo "no C++ sources are staged"; exit 0; }
    ;;
  "" | -*)
    sed -n '2,5s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
  *)
    cd "$1" || exit 2
    files=$(find common agent aggregator tools tests -name '*.h' -o -name '*.cc')
    [ -n "$files" ] || { echo "no sources found below $1"; exit 2; }
    ;;
esac
# shellcheck disable=SC2086
exec clang-format-14 --dry-run -Werror $files
