# shellcheck shell=bash
# Sourced by inside.sh: a user's service manager starts the agent once something is measured, stops
# it when the user decides so, and never restarts it in a loop.

# Of the user $USER_NAME, as in inside.sh.
runtime_dir() { echo "/run/user/$(id -u "$USER_NAME")"; }
in_session() { user XDG_RUNTIME_DIR="$(runtime_dir)" "$@"; }
property() { in_session systemctl --user show --value --property="$1" "${2:-fieldcostd.service}"; }

# Waits at most a minute until property $1 of unit $2 is $3 or, with "not" as $4, is different.
wait_for() {
  local i
  for ((i = 0; i < 600; ++i)); do
    if [[ "$(property "$1" "$2")" == "$3" ]]; then
      [[ "${4:-}" == not ]] || return 0
    elif [[ "${4:-}" == not ]]; then
      return 0
    fi
    sleep 0.1
  done
  fail "$1 of $2 is ${4:+still }$(property "$1" "$2"): $(tail -n 5 /tmp/session.log)"
}

start_session() {
  # A control group below that of the test's unit, like that of user@.service.
  local group runtime
  group=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)/session-$USER_NAME
  runtime=$(runtime_dir)
  install -d -m 700 -o "$USER_NAME" -g "$USER_NAME" "$runtime"
  mkdir -p "$group"
  chown -R "$USER_NAME": "$group"
  (
    echo $BASHPID > "$group/cgroup.procs"
    exec setpriv --reuid="$USER_NAME" --regid="$USER_NAME" --clear-groups env -i HOME="/home/$USER_NAME" \
      USER="$USER_NAME" PATH=/usr/bin:/bin XDG_RUNTIME_DIR="$runtime" /lib/systemd/systemd --user --log-target=console
  ) > /tmp/session.log 2>&1 &
  session=$!
  for _ in {1..300}; do
    [[ ! -S $runtime/systemd/private ]] || return 0
    kill -0 $session 2> /dev/null || break
    sleep 0.1
  done
  fail "systemd --user does not start: $(tail -n 3 /tmp/session.log)"
}

end_session() {
  kill -TERM $session
  wait $session || true
  rm -f "$(runtime_dir)/systemd/private"
}

use_user_units() {
  start_session
  [[ "$(property UnitFileState fieldcostd.path)" == disabled ]] || fail "enabled without being asked"
  quietly in_session systemctl --user enable --now fieldcostd.path
  quietly user fieldcost agent on
  quietly user fieldcost run -- apt-cache dump
  wait_for ActiveState fieldcostd.service active
  quietly in_session systemctl --user reload fieldcostd.service
  quietly user fieldcost agent off
  wait_for ActiveState fieldcostd.service inactive
  [[ "$(property Result)" == success ]] || fail "$(tail -n 5 /tmp/session.log)"
  # A manual pick may leave a run file that is not collected in mode off: the agent looks once. If
  # it were started again and again, the path unit would never wait.
  local before
  before="$(property InvocationID)"
  quietly user fieldcost run --pick 'libapt-pkg.so.6.0!*' -- apt-cache stats
  wait_for InvocationID fieldcostd.service "$before" not
  wait_for ActiveState fieldcostd.service inactive
  wait_for SubState fieldcostd.path waiting
  [[ "$(property NRestarts) $(property Result)" == "0 success" ]] || fail "$(tail -n 5 /tmp/session.log)"
  quietly user fieldcost agent on
  quietly user fieldcost run -- apt-cache dump
  wait_for ActiveState fieldcostd.service active
  # A change by the administrator reaches all participants, in both directions.
  answer no
  wait_for ActiveState fieldcostd.service inactive
  answer yes
  wait_for ActiveState fieldcostd.service active
  use_refresh_timer
  end_session
}

# Off until requested, and off again afterwards. Without a catalogue, a refresh is due at once.
use_refresh_timer() {
  local unit=fieldcost-sync.timer catalogue=$HOME_DIR/.local/share/fieldcost/catalog.db
  [[ "$(property UnitFileState $unit)" == disabled ]] || fail "the catalogue is refreshed without being asked"
  [[ -f $catalogue ]] || fail "no $catalogue"
  rm "$catalogue"*
  quietly in_session fieldcost sync --auto on
  wait_for ActiveState $unit active
  [[ "$(property UnitFileState $unit)" == enabled ]] || fail "the timer would end with the session"
  quietly in_session systemctl --user start fieldcost-sync.service
  try in_session fieldcost sync --status
  expect "up to date; next check in "
  quietly in_session fieldcost sync --auto off
  wait_for ActiveState $unit inactive
  [[ "$(property UnitFileState $unit)" == disabled ]] || fail "the timer is still enabled"
}
