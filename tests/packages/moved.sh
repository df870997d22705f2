#!/bin/bash
# Installs a release below directories of its own and removes it.     moved.sh INSTALL_SH WORK_DIR [BUILD_DIR]
#
# Without BUILD_DIR, INSTALL_SH belongs to an unpacked archive. The trees before and after must be equal byte for byte.
set -euo pipefail
install="$(realpath "$1")"
mkdir -p "$2"
work="$(realpath "$2")/moved"
build=(${3:+--build-dir "$(realpath "$3")"})
fail() {
  printf 'tests/packages/moved.sh: line %s: %s\n' "${BASH_LINENO[0]}" "$*" >&2
  exit 1
}
# Names, types, modes, targets and contents of all files.
state() {
  (cd "$1" && find . -printf '%P %y %m %l\n' | LC_ALL=C sort && find . -type f -print0 | LC_ALL=C sort -z |
    xargs -0r sha256sum)
}
# Runs the script: sets `status` and `output`.
try() {
  status=0
  output="$(cd / && env HOME="$work/home" PATH=/usr/bin:/bin "$install" "$@" 2>&1)" || status=$?
}
expect() {
  ((status == $1)) || fail "status $status: $output"
  [[ "$output" == *"$2"* ]] || fail "no \"$2\" in: $output"
}

rm -rf "$work"
mkdir -p "$work/home/.local/bin" "$work/home/.local/share/man/man1"
echo mine > "$work/home/.local/bin/mine"
echo mine > "$work/home/.local/share/man/man1/mine.1"
prefix="$work/home/.local"
state "$work/home" > "$work/before"

try "${build[@]}"
expect 0 "is installed in $prefix"
[[ "$output" == *"export PATH=\"$prefix/bin:\$PATH\""* ]] || fail "no line for PATH in: $output"
[[ "$output" != *"systemctl --user link"* ]] || fail "systemd does search ~/.local/share: $output"
for file in bin/fieldcost bin/fieldcostd bin/fieldcost-aggregator lib/fieldcost/lib/libfieldcost_preload.so \
  share/bash-completion/completions/fieldcost share/zsh/site-functions/_fieldcost \
  share/fish/vendor_completions.d/fieldcost.fish share/systemd/user/fieldcostd.service; do
  [[ -s "$prefix/$file" ]] || fail "$file is missing"
done
find "$prefix/share/man/man1" -name 'fieldcost.1*' | grep -q . || fail "no manual page"
grep -qx "ExecStart=$prefix/bin/fieldcostd" "$prefix/share/systemd/user/fieldcostd.service" ||
  fail "the unit starts something else: $(grep ExecStart "$prefix/share/systemd/user/fieldcostd.service")"
! grep -rlI '@PREFIX@' "$prefix" || fail "these files have no path"
grep -qx "prefix=$prefix" "$prefix/lib/pkgconfig/fieldcost-probe.pc" || fail "pkg-config has another prefix"
run=(env HOME="$work/home" FIELDCOST_HOME="$work/profile" "$prefix/bin/fieldcost")
mkdir -p "$work/profile"
"${run[@]}" --version > /dev/null || fail "it does not run"
"${run[@]}" agent local > /dev/null || fail "fieldcost agent local: status $?"
"${run[@]}" run -- env > "$work/environment" || fail "fieldcost run: status $?"
grep -q "^LD_PRELOAD=.*$prefix/lib/fieldcost/lib/libfieldcost_preload.so" "$work/environment" ||
  fail "another library was preloaded: $(grep LD_PRELOAD "$work/environment")"

# Again, over itself: the same files.
state "$prefix" > "$work/first"
try "${build[@]}"
expect 0 "is installed in $prefix"
state "$prefix" | diff "$work/first" - || fail "the second installation differs"

# A changed file is kept and named; it is in the way of the next installation until it is moved.
echo changed >> "$prefix/share/systemd/user/fieldcostd.service"
try --uninstall
expect 0 "kept, because it was changed since: $prefix/share/systemd/user/fieldcostd.service"
try "${build[@]}"
expect 73 "fieldcostd.service exists and was not installed by this script; nothing was changed"
rm "$prefix/share/systemd/user/fieldcostd.service"
rmdir -p "$prefix/share/systemd/user" 2> /dev/null || true
state "$work/home" | diff "$work/before" - || fail "files are left, or were changed"

try --uninstall
expect 66 "nothing that this script installed is below $prefix"

# A prefix that did not exist disappears, with the directories above that were created for it.
state "$work/home" > "$work/before"
try "${build[@]}" --prefix "$work/home/a/b"
expect 0 "systemctl --user link $work/home/a/b/share/systemd/user/*"
try --uninstall --prefix "$work/home/a/b"
expect 0 "fieldcost is removed from $work/home/a/b"
state "$work/home" | diff "$work/before" - || fail "files are left, or were changed"

try --prefix "/tmp/a b" "${build[@]}"
expect 64 "the path contains a space"
try --prefix
expect 64 "--prefix needs a directory"
try --unknown
expect 64 "unknown argument '--unknown'"
try --help
expect 0 "--uninstall"
rm -rf "$work"
