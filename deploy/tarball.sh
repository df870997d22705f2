#!/usr/bin/env bash
# Makes an archive of a release that runs on other x86-64 distributions.     deploy/tarball.sh [OPTION...]
#
#   --build-dir DIR   the build (default: build/release; cmake --workflow --preset release makes one)
#   --packages DIR    takes the programs from the Debian packages in DIR (deploy/debian/build.sh) instead
#   --output DIR      where fieldcost-VERSION-x86_64.tar.zst goes (default: build)
#
# The archive contains the shared libraries that the programs need (RocksDB, Boost, protobuf, OpenSSL, ...), except
# glibc, libstdc++ and libgcc: the target provides these, and the required versions are computed, printed, and stored in
# share/fieldcost/requirements. Programs find the libraries relative to themselves, so they run from any directory.
# Libraries that are loaded into measured programs need only libc. install.sh in the archive installs it.
#
# Needs patchelf, binutils and zstd. The archive's bytes depend only on the input and the commit's time.
set -euo pipefail
cd "$(dirname "$0")/.."

build=build/release packages="" output=build
while (($#)); do
  case "$1" in
    --build-dir | --packages | --output)
      [[ -n "${2:-}" ]] || {
        echo "tarball.sh: $1 needs a directory" >&2
        exit 64
      }
      case "$1" in
        --build-dir) build="$2" ;;
        --packages) packages="$2" ;;
        --output) output="$2" ;;
      esac
      shift
      ;;
    -h | --help)
      sed -n '2,13s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    *)
      echo "tarball.sh: unknown argument '$1'; see --help" >&2
      exit 64
      ;;
  esac
  shift
done
fail() {
  printf 'tarball.sh: %s\n' "$*" >&2
  exit 1
}
for tool in patchelf readelf strip zstd; do
  command -v "$tool" > /dev/null || fail "$tool is missing (Debian packages: patchelf binutils zstd)"
done

# Libraries of every target. A copy of glibc would not fit the target's; an older libstdc++ would break programs'
# plugins, and a newer one needs a newer glibc than ours do.
readonly OF_THE_TARGET='^(ld-linux-x86-64|lib(c|m|dl|rt|pthread|resolv|util|stdc\+\+|gcc_s))\.so'

. deploy/layout.sh
version="$(sed -n 's/^project(fieldcost VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)"
name="fieldcost-$version-x86_64"
mkdir -p "$output"
output="$(realpath "$output")"
work="$(mktemp -d "$output/tarball.XXXXXX")"
trap 'rm -rf "$work"' EXIT
tree="$work/$name"

if [[ -n "$packages" ]]; then
  for package in "$packages"/fieldcost*.deb; do
    [[ -f "$package" ]] || fail "no packages in $packages"
    dpkg-deb -x "$package" "$work/unpacked"
  done
  lay_out "$work/unpacked" /usr lib/x86_64-linux-gnu "$tree"
else
  lay_out_build "$build" "$tree" || exit $?
fi
readelf -h "$tree/bin/fieldcost" > "$work/header"
grep -q X86-64 "$work/header" || fail "the programs are not for x86-64"

mapfile -t programs < <(find "$tree/lib/fieldcost/bin" -type f)
mapfile -t preloaded < <(find "$tree/lib/fieldcost/lib" -name 'libfieldcost_*.so')
chmod u+w "${programs[@]}" "${preloaded[@]}"
strip --strip-unneeded "${programs[@]}" "${preloaded[@]}"
for library in "${preloaded[@]}"; do
  needed="$(readelf --dynamic --wide "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')"
  [[ "$needed" == libc.so.6 ]] ||
    fail "${library##*/} is loaded into other programs and needs more than libc: $needed"
done

# ldd resolves indirect dependencies, too.
resolved="$(ldd "${programs[@]}")"
! grep 'not found' <<< "$resolved" || fail "a library is missing on this machine"
documents="$tree/share/doc/fieldcost/libraries"
mkdir -p "$documents"
while read -r soname path; do
  [[ "$soname" =~ $OF_THE_TARGET ]] && continue
  install -m 755 "$(realpath "$path")" "$tree/lib/fieldcost/lib/$soname"
  # shellcheck disable=SC2016  # the dynamic linker replaces $ORIGIN
  patchelf --set-rpath '$ORIGIN' "$tree/lib/fieldcost/lib/$soname"
  package="$(dpkg-query -S "$(realpath "$path")" 2> /dev/null || dpkg-query -S "${path}" 2> /dev/null ||
    dpkg-query -S "/usr$path" 2> /dev/null || true)"
  package="${package%%:*}"
  [[ -z "$package" ]] || install -m 644 "/usr/share/doc/$package/copyright" "$documents/$package"
  printf '%s %s\n' "$soname" "${package:+$(dpkg-query -W -f '${Package} ${Version}' "$package")}"
done < <(sed -n 's/^\s*\(\S*\) => \(\/\S*\) .*/\1 \2/p' <<< "$resolved" | sort -u) > "$documents/VERSIONS"
for program in "${programs[@]}"; do
  # shellcheck disable=SC2016
  patchelf --set-rpath '$ORIGIN/../lib' "$program"
done

# newest PREFIX: the newest version of a library's symbols that a file in the archive needs.
newest() {
  find "$tree/lib/fieldcost" -type f -exec readelf --version-info --wide {} + |
    sed -n "s/.*Name: $1_\([0-9.]*\) .*/\1/p" | sort -uV | tail -n 1
}
glibc="$(newest GLIBC)"
libstdcxx="$(newest GLIBCXX)"
[[ -n "$glibc" && -n "$libstdcxx" ]] || fail "readelf printed no versions"
printf 'glibc %s\nlibstdc++ GLIBCXX_%s\n' "$glibc" "$libstdcxx" > "$tree/share/fieldcost/requirements"

install -m 755 deploy/install.sh "$tree/install.sh"
install -m 644 LICENSE "$tree/LICENSE"
time="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2> /dev/null || echo 0)}"
tar --sort=name --mtime="@$time" --owner=0 --group=0 --numeric-owner --format=posix \
  --pax-option=delete=atime,delete=ctime -C "$work" -cf - "$name" | zstd -q -T0 -10 -f -o "$output/$name.tar.zst"
size="$(du -h "$output/$name.tar.zst" | cut -f1)"
echo "$output/$name.tar.zst ($size) needs glibc $glibc and libstdc++ with GLIBCXX_$libstdcxx"
