#!/bin/sh
# How the agent's package reads and writes `permit` in an administrator's file, and the preset with a
# suggested service.     permit.sh SOURCE_DIR
set -eu
scripts=$1/deploy/debian
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
file=$work/system.toml

# The functions as defined in the script $1.
functions_of() {
  sed -n '/^permit_in() {/,/^}/p; /^url_in() {/,/^}/p; /^with_permit() {/,/^}/p' "$scripts/fieldcost-agent.$1"
}
[ "$(functions_of config)" = "$(functions_of postinst | sed '/^with_permit/,$d')" ] || {
  echo "config and postinst do not read the file alike"
  exit 1
}
eval "$(functions_of postinst)"

# expect TEXT VALUE TEXT_WITH_FALSE: VALUE is read from TEXT; permit = false turns TEXT into TEXT_WITH_FALSE.
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

# The scripts themselves, on a test directory and with a fixed answer instead of debconf's.
cat > "$work/debconf" << 'END'
db_get() { case $1 in */permit) RET=$answer ;; */service) RET=$service ;; esac; }
db_set() { case $1 in */permit) answer=$2 ;; */service) echo "service=$2" ;; esac; }
db_input() { :; }
db_go() { :; }
db_stop() { :; }
END
run() {
  sed -e "s,/usr/share/debconf/confmodule,$work/debconf," -e "s,/etc/fieldcost,$work/etc,g" \
    -e "s,^template=.*,template=$1/deploy/config/system.toml," "$scripts/fieldcost-agent.$2" > "$work/script"
  printed=$(answer=$answer service=$service sh "$work/script" "$3" "${4:-}" 2>&1) || {
    echo "$2 $3 fails: $printed"
    exit 1
  }
}
etc=$work/etc
file=$etc/system.toml
answer=false
service=
source=$1
configure() {
  run "$source" config configure
  run "$source" postinst configure
}
fail() {
  echo "$1"
  exit 1
}
mkdir "$etc"
configure
[ "$(permit_in "$file")" = false ] || fail "an answer is not written"
[ "$(stat -c %a "$file")" = 644 ] || fail "others may not read the answer"
# A link stays a link, and the file that it points to keeps its mode.
mv "$file" "$work/elsewhere"
chmod 640 "$work/elsewhere"
ln -s "$work/elsewhere" "$file"
answer=true
run "$source" postinst configure
[ -L "$file" ] && [ "$(permit_in "$work/elsewhere")" = true ] || fail "not written through a link"
[ "$(stat -c %a "$work/elsewhere")" = 640 ] || fail "the mode is another"
# Anything that is not a file is left alone and does not prevent installation.
for target in "$work/nowhere" "$work/no/where" "$work"; do
  ln -sfn "$target" "$file"
  configure
  [ "$(readlink "$file")" = "$target" ] || fail "a link was replaced"
  [ -n "$printed" ] || fail "nothing is reported"
done
[ ! -e "$work/nowhere" ] || fail "written through a link that leads nowhere"
rm "$file"
mkdir "$file"
configure
[ -d "$file" ] || fail "a directory was replaced"
# Purging removes our files in any state, and none of the administrator's.
touch "$file.new-abc123" "$file.backup" "$file/inside"
run "$source" postrm remove
[ -d "$file" ] || fail "removed before it was purged"
run "$source" postrm purge
[ "$(ls "$etc")" = system.toml.backup ] || fail "purging left: $(ls "$etc")"

# The suggested service: none by default.
preset=$etc/agent.d/50-debconf.toml
[ ! -e "$preset" ] || fail "a service is suggested without an answer"
service=https://fieldcost.example.org:8443
run "$source" postinst configure
grep -qx "url = \"$service\"" "$preset" || fail "the service is not written"
[ "$(stat -c %a "$preset")" = 644 ] || fail "others may not read the preset"
# The file goes before the answer, and keeps what was added to it.
echo 'ca_file = "mine.pem"' >> "$preset"
run "$source" postinst configure
grep -q mine.pem "$preset" || fail "an edited preset was replaced"
service=https://another.example
run "$source" config configure 1
[ "$printed" = "service=https://fieldcost.example.org:8443" ] || fail "an old answer went first: $printed"
run "$source" postinst configure
[ "$(url_in "$preset")" = "$service" ] && ! grep -q mine.pem "$preset" ||
  fail "the authority of one service is used for another"
# An address that could end the string of the file, or that is not encrypted, is not written.
for wrong in 'http://a.example' 'https://a"b' 'https://a
url = "https://b' 'https://' 'no'; do
  rm -f "$preset"
  service=$wrong
  run "$source" postinst configure
  [ ! -e "$preset" ] && [ -n "$printed" ] || fail "written: $wrong"
done
# A removed file is not written again by an upgrade; a first installation takes the prepared answer.
run "$source" config configure 1
[ "$printed" = "service=" ] || fail "an upgrade would write it again: $printed"
run "$source" config configure
[ -z "$printed" ] || fail "a prepared answer is lost: $printed"
# A preset without an address belongs to the administrator; an empty answer removes any other.
mkdir -p "$etc/agent.d"
echo '# nothing for now' > "$preset"
service=
run "$source" postinst configure
[ -e "$preset" ] || fail "the administrator's file was removed"
echo 'url = "https://a.example"' > "$preset"
run "$source" postinst configure
[ ! -e "$preset" ] || fail "still suggested"
echo 'url = "https://a.example"' > "$preset"
run "$source" postrm remove
[ -e "$preset" ] || fail "removed before it was purged"
run "$source" postrm purge
[ ! -e "$etc/agent.d" ] || fail "purging left: $(ls "$etc/agent.d")"
