#!/bin/bash
# Checks the relocatable archive, and uses it in minimal trees of distributions.
#
#   archive.sh ARCHIVE WORK_DIR TREE.tar...
#
# The trees (mmdebstrap --variant=minbase RELEASE TREE.tar MIRROR) have none of the libraries that fieldcost needs.
# Needs root and namespaces; they have no network. Exit status: 0 passed; 77 skipped; otherwise failed.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"

# The newest versions of symbols that a release may need: glibc 2.35 and GCC 12 are those of Ubuntu 22.04, Fedora 36
# and Debian 12. A newer one excludes systems, so it is a decision and not an accident.
readonly GLIBC=2.35
readonly LIBSTDCXX=GLIBCXX_3.4.30

fail() {
  printf 'tests/packages/archive.sh: %s\n' "$*" >&2
  exit 1
}

# Runs in namespaces of its own.     inside ROOT
use() {
  local root="$1" archive=/opt/archive run
  mount -t proc proc "$root/proc"
  mount --bind /dev "$root/dev"
  run=(chroot "$root" env -i HOME=/root PATH=/usr/bin:/bin LC_ALL=C.UTF-8)
  version="$("${run[@]}" $archive/bin/fieldcost --version 2>&1)" || fail "fieldcost --version: $version"
  "${run[@]}" $archive/bin/fieldcost agent local > /dev/null || fail "fieldcost agent local"
  "${run[@]}" $archive/bin/fieldcost run --pick 'libc.so.6!*' -- ls / > "$root/tmp/output" 2> "$root/tmp/errors" ||
    fail "fieldcost run -- ls: $(tail -n 3 "$root/tmp/errors")"
  grep -qx proc "$root/tmp/output" || fail "ls printed: $(cat "$root/tmp/output")"
  "${run[@]}" $archive/bin/fieldcost top --local > "$root/tmp/table" 2>&1 ||
    fail "fieldcost top --local: $(tail -n 3 "$root/tmp/table")"
  grep -q 'libc\.so\.6' "$root/tmp/table" || fail "nothing was measured: $(cat "$root/tmp/errors" "$root/tmp/table")"
  for program in fieldcostd fieldcost-aggregator fieldcost-probe-server fieldcost-lsp; do
    "${run[@]}" $archive/bin/$program --version > "$root/tmp/output" 2>&1 ||
      fail "$program --version: $(tail -n 1 "$root/tmp/output")"
  done
  for program in trace idle probe; do
    ! "${run[@]}" /usr/bin/ldd $archive/lib/fieldcost/bin/fieldcost-$program | grep 'not found' ||
      fail "fieldcost-$program lacks libraries"
  done
  install -m 755 "$here/moved.sh" "$root/tmp/moved.sh"
  "${run[@]}" bash /tmp/moved.sh $archive/install.sh /tmp/work || fail "install.sh does not work there"
  echo "$version"
}

if [[ "$1" == inside ]]; then
  use "$2"
  exit
fi

if ((EUID != 0)) || ! unshare --mount --pid --net --fork true 2> /dev/null; then
  echo "tests/packages/archive.sh: skipped: needs root and namespaces"
  exit 77
fi
archive="$1" work="$2"
shift 2
rm -rf "$work"
mkdir -p "$work/unpacked"
tar -I zstd -x -C "$work/unpacked" --strip-components=1 -f "$archive"
printf 'glibc %s\nlibstdc++ %s\n' $GLIBC $LIBSTDCXX | diff - "$work/unpacked/share/fieldcost/requirements" ||
  fail "the archive needs other versions (>) than expected (<)"
for library in "$work"/unpacked/lib/fieldcost/lib/libfieldcost_*.so; do
  [[ "$(readelf --dynamic --wide "$library" | grep -c '(NEEDED)')" == 1 ]] || fail "$library needs more than libc"
  ! readelf --dynamic --wide "$library" | grep -E '\((RPATH|RUNPATH)\)' || fail "$library has a search path"
done
! find "$work/unpacked" -name 'libc.so*' -o -name 'libstdc++*' -o -name 'ld-linux*' | grep . ||
  fail "the archive contains libraries of the target"

for tree in "$@"; do
  root="$work/root"
  rm -rf "$root"
  mkdir -p "$root"
  tar -x -C "$root" --numeric-owner -f "$tree"
  mkdir -p "$root/opt"
  cp -a "$work/unpacked" "$root/opt/archive"
  glibc="$(chroot "$root" ldd --version | sed -n '1s/.* //p')"
  name="$(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' "$root/etc/os-release")"
  if [[ "$(printf '%s\n' "$glibc" $GLIBC | sort -V | head -n 1)" != "$GLIBC" ]]; then
    # Too old: the message of the dynamic linker, and of install.sh, must name what is missing.
    output="$(chroot "$root" env HOME=/root bash /opt/archive/install.sh 2>&1)" && fail "$name: it installs"
    [[ "$output" == *"they need glibc $GLIBC"* ]] || fail "$name: install.sh prints: $output"
    [[ ! -e "$root/root/.local" ]] || fail "$name: install.sh has written files"
    echo "   $name (glibc $glibc): too old, and install.sh reports it"
    continue
  fi
  output="$(timeout 170 unshare --mount --pid --net --fork --kill-child --propagation private "$0" inside "$root")" ||
    fail "$name (glibc $glibc) failed"
  echo "   $name (glibc $glibc): $output"
done
rm -rf "$work"
