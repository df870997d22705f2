#!/usr/bin/env bash
# Builds the Debian packages of what is committed.     deploy/debian/build.sh [--output DIR] [--dbgsym]
#
#   --output DIR   where the .deb files go (default: build/debian)
#   --dbgsym       also packages of debugging symbols
#
# fieldcost-editors holds the packed extension of VS Code, which only npm can pack and this build fetches nothing:
# it is built if tests/tools/vscode/run.sh has packed what is committed (build/vscode/fieldcost.vsix).
#
# Environment: CCACHE_DIR  a compiler cache to use (default: none)
# Needs dpkg-dev, debhelper and the build dependencies of debian/control; no network, no root.
set -euo pipefail
cd "$(dirname "$0")/../.."

output=build/debian
options="noautodbgsym"
while (($#)); do
  case "$1" in
    --output)
      output="${2:?--output needs a directory}"
      shift
      ;;
    --dbgsym) options="" ;;
    -h | --help)
      sed -n '2,11s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    *)
      echo "build.sh: unknown argument '$1' (--output DIR, --dbgsym, --help)" >&2
      exit 64
      ;;
  esac
  shift
done

version="$(sed -n 's/^project(fieldcost VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)"
packaged="$(dpkg-parsechangelog -l deploy/debian/changelog -S Version)"
if [[ "$version" != "$packaged" ]]; then
  echo "build.sh: CMakeLists.txt has version $version, deploy/debian/changelog $packaged" >&2
  exit 65
fi

mkdir -p "$output"
output="$(realpath "$output")"
# Always the same directory, so that a compiler cache finds its entries.
tree="$PWD/build/debian-tree"
source="$tree/fieldcost-$version"
rm -rf "$tree"
mkdir -p "$source"
git archive HEAD | tar -x -C "$source"
cp -r "$source/deploy/debian" "$source/debian"
rm "$source/debian/build.sh"

profiles="${DEB_BUILD_PROFILES:-}"
packed=build/vscode/fieldcost.vsix
sources="$(git ls-tree -r -z --name-only HEAD tools/vscode LICENSE tools/lsp/SETTINGS.md | LC_ALL=C sort -z |
  (cd "$source" && xargs -0 sha256sum) | sha256sum)"
if [[ -s "$packed" && "$(cat "$packed.sources" 2> /dev/null)" == "$sources" ]]; then
  cp "$packed" "$source/debian/editors/fieldcost.vsix"
  profiles="$profiles pkg.fieldcost.editors"
else
  echo "build.sh: no fieldcost-editors: $packed is not packed from what is committed;" \
    "see tests/tools/vscode/run.sh --unit"
fi

(
  cd "$source"
  DEB_BUILD_PROFILES="$profiles" DEB_BUILD_OPTIONS="$options parallel=$(nproc) ${DEB_BUILD_OPTIONS:-}" \
    dpkg-buildpackage --build=binary --no-sign
)
rm -f "$output"/fieldcost*_*
mv "$tree"/*.deb "$tree"/*.changes "$tree"/*.buildinfo "$output"
rm -rf "$tree"
ls -1 "$output"
