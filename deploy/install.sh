#!/usr/bin/env bash
# Installs a release build below a prefix, for one user or for all.     deploy/install.sh [OPTION...]
#
#   --prefix DIR      where to install (default: ~/.local)
#   --build-dir DIR   the build to install (default: build/release; cmake --workflow --preset release makes one);
#                     in an unpacked release archive, the files next to this script are installed
#   --uninstall       removes exactly what was installed below the prefix; changed files stay and are named
#
#   ./deploy/install.sh                       installs programs, manual pages, completions and user units in ~/.local
#   ./deploy/install.sh --prefix /opt/fieldcost
#   ./deploy/install.sh --uninstall
#
# Nothing is measured or started by installing. Existing files of others are never overwritten. The list of the
# installed files is PREFIX/share/fieldcost/install-manifest. Exit status: 0 done; 64 wrong usage; 66 no build;
# 73 cannot write there, or a file is in the way.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"

prefix="$HOME/.local" build="$here/../build/release" uninstall=""
fail() {
  printf 'install.sh: %s\n' "$2" >&2
  exit "$1"
}
while (($#)); do
  case "$1" in
    --prefix | --build-dir)
      [[ -n "${2:-}" ]] || fail 64 "$1 needs a directory"
      if [[ "$1" == --prefix ]]; then prefix="$2"; else build="$2"; fi
      shift
      ;;
    --uninstall) uninstall=1 ;;
    -h | --help)
      sed -n '2,15s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    *) fail 64 "unknown argument '$1'; see --help" ;;
  esac
  shift
done
prefix="$(realpath -m "$prefix")"
# systemd's units and LD_PRELOAD cannot express these characters.
[[ "$prefix" != *[[:space:]:%\"\\,\&]* ]] ||
  fail 64 "cannot install below '$prefix': the path contains a space or one of the characters : % \" \\ , &"
manifest="$prefix/share/fieldcost/install-manifest"

# The user's own units of this prefix, if they are enabled. Other users' units are theirs to disable.
disable_units() {
  local unit path
  command -v systemctl > /dev/null || return 0
  for unit in fieldcostd.path fieldcostd.service fieldcost-probe.path fieldcost-probe.service; do
    path="$(systemctl --user show --property=FragmentPath --value "$unit" 2> /dev/null)" || return 0
    if [[ "$path" == "$prefix/share/systemd/user/$unit" ]]; then
      systemctl --user disable --now "$unit" > /dev/null 2>&1 || true
    fi
  done
}
reload_units() {
  command -v systemctl > /dev/null || return 0
  systemctl --user daemon-reload 2> /dev/null || true
}

# Prints "file SHA256" or "link TARGET".
describe() {
  if [[ -L "$1" ]]; then
    printf 'link %s\n' "$(readlink "$1")"
  else
    sha256sum < "$1" | sed 's/^/file /; s/ *-$//'
  fi
}

# Removes what the manifest lists: files with the same content as installed, then directories that this script has
# created, if they are empty.
remove_installed() {
  local kind value path kept=0
  while read -r kind value path; do
    [[ "$kind" != directory && (-e "$prefix/$path" || -L "$prefix/$path") ]] || continue
    if [[ "$(describe "$prefix/$path")" != "$kind $value" ]]; then
      printf 'install.sh: kept, because it was changed since: %s\n' "$prefix/$path"
      kept=1
      continue
    fi
    rm -f "$prefix/$path" || fail 73 "cannot remove $prefix/$path"
  done < "$manifest"
  local directories
  # A directory comes after its parent in the manifest.
  directories="$(sed -n 's/^directory - //p' "$manifest" | tac)"
  rm -f "$manifest"
  while IFS= read -r path; do
    [[ -z "$path" ]] || rmdir "$(realpath -m "$prefix/$path")" 2> /dev/null || true
  done <<< "$directories"
  return $kept
}

if [[ -n "$uninstall" ]]; then
  [[ -f "$manifest" ]] || fail 66 "nothing that this script installed is below $prefix (no $manifest)"
  [[ -w "$prefix" ]] || fail 73 "cannot remove files below $prefix: no permission; repeat as its owner"
  disable_units
  remove_installed || true
  reload_units
  echo "fieldcost is removed from $prefix; settings and data of users stay (fieldcost(1), FILES)"
  exit 0
fi

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
if [[ -x "$here/bin/fieldcost" && -d "$here/lib/fieldcost/lib" ]]; then
  mkdir "$work/tree"
  for folder in bin include lib share; do cp -a "$here/$folder" "$work/tree"; done
else
  # shellcheck source=layout.sh
  . "$here/layout.sh"
  lay_out_build "$build" "$work/tree" || exit $?
fi
grep -rlI '@PREFIX@' "$work/tree" | xargs -r -d '\n' sed -i "s,@PREFIX@,$prefix,g"
"$work/tree/bin/fieldcost" --version > "$work/version" 2>&1 ||
  fail 70 "the programs do not run on this machine: $(tail -n 1 "$work/version")$(
    [[ ! -f "$here/share/fieldcost/requirements" ]] ||
      printf ' (they need %s)' "$(paste -sd, "$here/share/fieldcost/requirements")"
  )"

# Before anything is written: no file of others is in the way, and the prefix is writable.
while IFS= read -r path; do
  if [[ -e "$prefix/$path" || -L "$prefix/$path" ]] &&
    ! grep -qxE "(file|link) [^ ]+ $path" "$manifest" 2> /dev/null; then
    fail 73 "$prefix/$path exists and was not installed by this script; nothing was changed"
  fi
done < <(cd "$work/tree" && find . ! -type d -printf '%P\n')
writable="$prefix"
while [[ ! -e "$writable" ]]; do writable="$(dirname "$writable")"; done
[[ -d "$writable" && -w "$writable" ]] ||
  fail 73 "cannot write to $writable; choose another --prefix, or repeat as its owner"
if [[ -f "$manifest" ]]; then
  remove_installed > "$work/kept" || fail 73 "$(head -n 1 "$work/kept"); move it away, then install again"
fi

# The manifest is written first, so that an interrupted installation can be removed.
directories=()
cd "$work/tree"
while IFS= read -r directory; do
  [[ -d "$prefix/$directory" ]] || directories+=("$directory")
done < <({ find . -mindepth 1 -type d -printf '%P\n'; echo share/fieldcost; } | LC_ALL=C sort -u)
path=.
while [[ ! -d "$(realpath -m "$prefix/$path")" ]]; do
  directories=("$path" "${directories[@]}")
  path="$path/.."
done
mkdir -p "$prefix"
for directory in "${directories[@]}"; do mkdir -p "$prefix/$directory"; done
{
  for directory in "${directories[@]}"; do echo "directory - $directory"; done
  find . ! -type d -printf '%P\n' | LC_ALL=C sort | while IFS= read -r path; do
    printf '%s %s\n' "$(describe "$path")" "$path"
  done
} > "$manifest"
find . ! -type d -printf '%P\n' | while IFS= read -r path; do
  { cp -dp --no-preserve=ownership "$path" "$prefix/$path.new" && mv -f "$prefix/$path.new" "$prefix/$path"; } ||
    fail 73 "cannot write $prefix/$path; remove the rest with --uninstall --prefix $prefix"
done
reload_units

echo "$(head -n 1 "$work/version") is installed in $prefix; remove it with: install.sh --uninstall --prefix $prefix"
[[ ":$PATH:" == *":$prefix/bin:"* ]] ||
  printf '%s is not in PATH; add this line to ~/.profile and log in again:\n  export PATH="%s:$%s"\n' \
    "$prefix/bin" "$prefix/bin" PATH
case "$prefix" in
  "$HOME/.local" | /usr | /usr/local) ;;
  *) echo "systemd does not search $prefix for user units: systemctl --user link $prefix/share/systemd/user/*" ;;
esac
