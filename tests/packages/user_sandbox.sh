#!/bin/bash
# Checks that the user units work in their sandbox, under a real service manager of an unprivileged user.
#   user_sandbox.sh UNIT_DIR PROGRAM_DIR VICTIM_DIR
set -euo pipefail
units=$1
programs=$2
victims=$3
readonly USER_ID=65534

skip() {
  echo "skipped: $*"
  exit 77
}
fail() {
  echo "$*"
  tail -n 20 "$work/manager.log" || true
  exit 1
}

# Inside: runs as the user, with a separate control group and runtime directory.
if [[ "${4:-}" == inside ]]; then
  work=$HOME
  mkdir -p "$HOME/.config/systemd/user"
  for unit in fieldcostd.service fieldcost-probe.service; do
    sed -E "s,^(ExecStart|ExecStopPost)=[^ ]*/,\\1=$programs/," "$units/$unit" > "$HOME/.config/systemd/user/$unit"
  done
  /lib/systemd/systemd --user --log-target=console > "$work/manager.log" 2>&1 &
  manager=$!
  trap 'kill -TERM $manager; wait $manager || true' EXIT
  for _ in {1..300}; do
    [[ ! -S $XDG_RUNTIME_DIR/systemd/private ]] || break
    sleep 0.1
  done
  property() { systemctl --user show --value --property="$2" "$1"; }
  wait_for() {  # UNIT PROPERTY VALUE
    for _ in {1..600}; do
      [[ "$(property "$1" "$2")" != "$3" ]] || return 0
      sleep 0.1
    done
    fail "$2 of $1 is $(property "$1" "$2"), status $(property "$1" ExecMainStatus)"
  }

  # The agent collects a run from memory into its database in the home directory.
  "$programs/fieldcost" agent local > /dev/null
  "$programs/fieldcost" run -- ls -R /etc > /dev/null 2>&1 || true
  rm -f "$HOME/.local/state/fieldcost/agent.db"*
  systemctl --user start fieldcostd.service ||
    fail "fieldcostd.service: status $(property fieldcostd.service ExecMainStatus)"
  wait_for fieldcostd.service ActiveState active
  systemctl --user reload fieldcostd.service || fail "it cannot be reloaded"
  [[ -s $HOME/.local/state/fieldcost/agent.db ]] || fail "the agent made no database"
  systemctl --user stop fieldcostd.service
  [[ "$(property fieldcostd.service Result)" == success ]] || fail "fieldcostd: $(property fieldcostd.service Result)"

  # Data left by a killed recorder is collected.
  mkfifo "$HOME/pipe"
  "$programs/fieldcost" probe run --local --stacks -- \
    "$victims/probed" canary_killed 1 "$HOME/pipe" > "$HOME/printed" 2>&1 &
  recorder=$!
  for _ in {1..300}; do
    ! grep -q recorded "$HOME/printed" || break
    sleep 0.1
  done
  kill -KILL $recorder
  wait $recorder 2> /dev/null || true
  echo end > "$HOME/pipe"
  systemctl --user start fieldcost-probe.service
  wait_for fieldcost-probe.service ActiveState inactive
  [[ "$(property fieldcost-probe.service Result)" == success ]] ||
    fail "fieldcost-probe: $(property fieldcost-probe.service Result)"
  "$programs/fieldcost" probe list --all > "$HOME/list" 2>&1 || true
  grep -q 'with a secret' "$HOME/list" || fail "no event was collected: $(cat "$HOME/list")"
  ! grep -rlqs canary_in_a_local "$XDG_RUNTIME_DIR" "$HOME/.local" || fail "memory of the program was left"
  exit 0
fi

# Outside, in separate namespaces: a directory that marks systemd as running, and one control group hierarchy.
if [[ "${4:-}" == outside ]]; then
  mkdir -p /run/systemd
  mount -t tmpfs none /run/systemd && mkdir /run/systemd/system || skip "nothing can be mounted"
  mount -t cgroup2 none /sys/fs/cgroup 2> /dev/null || skip "no control groups"
  group=/sys/fs/cgroup/fieldcost-test-$$
  mkdir "$group" && chown -R $USER_ID:$USER_ID "$group"
  status=0
  (
    echo $BASHPID > "$group/cgroup.procs" || skip "no control group can be used"
    exec setpriv --reuid=$USER_ID --regid=$USER_ID --clear-groups env -i PATH=/usr/bin:/bin HOME="$5" \
      XDG_RUNTIME_DIR="$6" bash "$0" "$units" "$programs" "$victims" inside
  ) || status=$?
  # The user's manager has ended, but the control groups of its units remain.
  find "$group" -depth -type d -exec rmdir {} \; 2> /dev/null || true
  exit $status
fi

[[ $EUID == 0 ]] || skip "needs root"
[[ -x /lib/systemd/systemd ]] || skip "systemd is missing"
command -v setpriv unshare > /dev/null || skip "util-linux is missing"
setpriv --reuid=$USER_ID --regid=$USER_ID --clear-groups unshare -Urm true 2> /dev/null ||
  skip "user namespaces are forbidden"
setpriv --reuid=$USER_ID --regid=$USER_ID --clear-groups test -x "$programs/fieldcost" ||
  skip "an unprivileged user cannot run $programs/fieldcost"
home=$(mktemp -d)
runtime=$(mktemp -d -p /dev/shm)
chown $USER_ID:$USER_ID "$home" "$runtime"
trap 'rm -rf "$home" "$runtime"' EXIT
status=0
unshare --mount bash "$0" "$units" "$programs" "$victims" outside "$home" "$runtime" || status=$?
exit $status
