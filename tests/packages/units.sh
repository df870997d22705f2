#!/bin/sh
# The systemd units are well-formed, and the server's is shut in.     units.sh UNIT_DIR PROGRAM_DIR
set -eu
units=$1
programs=$2

command -v systemd-analyze > /dev/null || {
  echo "skipped: systemd-analyze is missing"
  exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_RUNTIME_DIR="$work"

# `verify` wants the programs to be there: those of this build, instead of the installed ones.
for unit in fieldcostd.service fieldcostd.path fieldcost-aggregator.service; do
  sed "s,^ExecStart=[^ ]*/,ExecStart=$programs/," "$units/$unit" > "$work/$unit"
done

# It complains, but ends well, about settings that it does not know.
check() {
  said=$(systemd-analyze verify --man=no "$@" 2>&1) && [ -z "$said" ] || {
    echo "systemd-analyze verify $*: $said"
    exit 1
  }
}
check "$work/fieldcost-aggregator.service"
check --user "$work/fieldcostd.service" "$work/fieldcostd.path"
echo 'Nonsense=yes' >> "$work/fieldcostd.path"
! (check --user "$work/fieldcostd.path") > /dev/null || {
  echo "nonsense in a unit is not found"
  exit 1
}

# Exposure 2.0 of 10 at most.
systemd-analyze security --offline=yes --threshold=20 --no-pager "$work/fieldcost-aggregator.service" \
  > "$work/exposure" || {
  tail -n 1 "$work/exposure"
  exit 1
}
tail -n 1 "$work/exposure"
