#!/bin/sh
# Checks that the systemd units are well-formed and the servers sandboxed.     units.sh UNIT_DIR PROGRAM_DIR
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

# `verify` requires the programs to exist: uses those of this build instead of the installed ones.
for unit in fieldcostd.service fieldcostd.path fieldcost-probe.service fieldcost-probe.path \
  fieldcost-sync.service fieldcost-sync.timer \
  fieldcost-aggregator.service fieldcost-probe-server.service; do
  sed -E "s,^(ExecStart|ExecStopPost)=[^ ]*/,\\1=$programs/," "$units/$unit" > "$work/$unit"
done

# For unknown settings it prints a message but exits with 0.
check() {
  printed=$(systemd-analyze verify --man=no "$@" 2>&1) && [ -z "$printed" ] || {
    echo "systemd-analyze verify $*: $printed"
    exit 1
  }
}
check "$work/fieldcost-aggregator.service"
check "$work/fieldcost-probe-server.service"
check --user "$work/fieldcostd.service" "$work/fieldcostd.path"
check --user "$work/fieldcost-probe.service" "$work/fieldcost-probe.path"
check --user "$work/fieldcost-sync.service" "$work/fieldcost-sync.timer"
echo 'Nonsense=yes' >> "$work/fieldcostd.path"
! (check --user "$work/fieldcostd.path") > /dev/null || {
  echo "nonsense in a unit is not found"
  exit 1
}

# exposure UNIT AT_MOST: checks ten times the unit's exposure, of 100.
exposure() {
  systemd-analyze security --offline=yes --threshold="$2" --no-pager "$work/$1" > "$work/exposure" || {
    echo "more exposed than $2 of 100: $(tail -n 1 "$work/exposure")"
    exit 1
  }
  tail -n 1 "$work/exposure"
}
exposure fieldcost-aggregator.service 20
exposure fieldcost-probe-server.service 20
exposure fieldcostd.service 30
exposure fieldcost-probe.service 30
exposure fieldcost-sync.service 30
sed '/^PrivateUsers=/d' "$work/fieldcostd.service" > "$work/exposed.service"
! (exposure exposed.service 20) > /dev/null || {
  echo "an exposed unit is not found"
  exit 1
}
