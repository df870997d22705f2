#!/bin/sh
# How the agent's package reads and writes `permit` in an administrator's file.     permit.sh SOURCE_DIR
set -eu
scripts=$1/deploy/debian
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
file=$work/system.toml

# The functions as they are in the script $1.
functions_of() { sed -n '/^permit_in() {/,/^}/p; /^with_permit() {/,/^}/p' "$scripts/fieldcost-agent.$1"; }
[ "$(functions_of config)" = "$(functions_of postinst | sed '/^with_permit/,$d')" ] || {
  echo "config and postinst do not read the file alike"
  exit 1
}
eval "$(functions_of postinst)"

# expect TEXT VALUE TEXT_WITH_FALSE: VALUE is read from TEXT; with permit = false it is the other.
expect() {
  printf "$1" > "$file"
  [ "$(permit_in "$file")" = "$2" ] || {
    printf 'read "%s" from:\n%s\n' "$(permit_in "$file")" "$1"
    exit 1
  }
  printf "$3" > "$work/expected"
  with_permit "$file" false | diff "$work/expected" - || exit 1
}
expect '[consent]\npermit = true\n' true '[consent]\npermit = false\n'
expect '[consent]\npermit = false\n' false '[consent]\npermit = false\n'
expect '# mine\n[ consent ] # yes\n\tpermit=true# no\n# end\n' true \
  '# mine\n[ consent ] # yes\n\tpermit=false# no\n# end\n'
expect '[other]\npermit = true\n' '' '[other]\npermit = true\n\n[consent]\npermit = false\n'
expect '[consent]\n# permit = true\n[other]\npermit = true\n' '' \
  '[consent]\npermit = false\n# permit = true\n[other]\npermit = true\n'
expect '' '' '\n[consent]\npermit = false\n'
