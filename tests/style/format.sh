#!/bin/sh
# Checks that every C++ source is formatted as .clang-format says.   format.sh SOURCE_DIR
cd "$1" || exit 2
files=$(find common agent aggregator tools tests -name '*.h' -o -name '*.cc')
[ -n "$files" ] || { echo "no sources found"; exit 2; }
# shellcheck disable=SC2086
exec clang-format-14 --dry-run -Werror $files
