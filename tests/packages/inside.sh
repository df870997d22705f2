#!/bin/bash
# Runs as root in a fresh minimal Debian 12 with its own systemd; called only by boot.sh. Does what an administrator
# and a user do with the packages, from installation to purge.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive

readonly SYSTEM=/etc/fieldcost/system.toml
readonly SUGGESTED=/etc/fieldcost/agent.d/50-debconf.toml
readonly HOME_DIR=/home/tester
readonly AGENT_TOML=$HOME_DIR/.config/fieldcost/agent.toml
readonly STATE=$HOME_DIR/.local/state/fieldcost
readonly LOG=/var/log/aggregator-of-the-test.log
readonly PACKAGES=(fieldcost fieldcost-agent fieldcost-aggregator fieldcost-probe-server)
# These have nothing to purge: after removal, dpkg does not know them any more.
readonly PROBE_DEV=fieldcost-probe-dev
readonly EDITORS=$(find /given/build/debian -name 'fieldcost-editors_*' -printf 'fieldcost-editors')

step() { printf '   %3d s  %s\n' "$SECONDS" "$*"; }
fail() {
  printf 'tests/packages/inside.sh: line %s: %s\n' "${BASH_LINENO[-2]}" "$*" >&2
  exit 1
}
trap 'echo "tests/packages/inside.sh: line $LINENO: $BASH_COMMAND" >&2' ERR

quietly() {
  "$@" > /tmp/log 2>&1 || {
    tail -n 15 /tmp/log >&2
    fail "failed: $*"
  }
}
# Runs a command that may fail: sets `status` and `output` (both streams).
try() {
  status=0
  output="$("$@" 2>&1)" || status=$?
}
expect() {
  [[ "$output" == *"$1"* ]] || fail "no \"$1\" in: $output"
}
# Files in memory left by the user's programs.
memory_files() { find /dev/shm /run/user -path "*fieldcost*$STATE/*" -name "${1:-*}" 2> /dev/null | sort || true; }
# Runs a command as the user $USER_NAME.
USER_NAME=tester
user() {
  runuser -u "$USER_NAME" -- env -i HOME="/home/$USER_NAME" USER="$USER_NAME" PATH=/usr/bin:/bin LC_ALL=C.UTF-8 "$@"
}
install_ours() { quietly apt-get install -y --no-install-recommends "$@" /given/build/debian/*.deb; }
# Runs commands in a directory exactly as documented: tests/examples compares both.
as_shown() { quietly bash -e -c "cd $1; $2"; }
answer() {
  quietly env -u DEBIAN_FRONTEND ANSWER="$1" EDITOR=/given/answer.sh VISUAL=/given/answer.sh DEBCONF_NOWARNINGS=yes \
    dpkg-reconfigure --frontend=editor fieldcost-agent
}
# Waits at most half a minute.
wait_until() {
  local i
  for ((i = 0; i < 300; ++i)); do
    ! "$@" || return 0
    sleep 0.1
  done
  fail "never came: $* (aggregator: $(tail -n 3 $LOG))"
}
# All files that packages could leave behind: excludes those that dpkg, apt and debconf keep for all
# packages, and those that a shutdown removes.
files() {
  find / -xdev \( -path /proc -o -path /sys -o -path /run -o -path /given -o -path /tmp -o -path /home \
    -o -path /var/cache -o -path /var/log -o -path /var/lib/dpkg -o -path /var/lib/apt \) -prune \
    -o -print | sort
}

# shellcheck source=user_units.sh
. /given/user_units.sh
# shellcheck source=joining.sh
. /given/joining.sh

step "dependencies of the packages"
chmod 755 /given/answer.sh
needed="$(apt-get install -s --no-install-recommends sudo /given/build/debian/*.deb |
  awk '/^Inst/ && $2 !~ /^fieldcost/ { print $2 }')"
# The tree's lists may be older than the mirror. Status 77: run.sh skips.
install_needed() {
  # shellcheck disable=SC2086
  apt-get install -y --no-install-recommends $needed > /tmp/log 2>&1
}
install_needed || { apt-get update > /tmp/log 2>&1 && install_needed; } || {
  tail -n 3 /tmp/log >&2
  exit 77
}
for name in tester volunteer; do useradd --create-home --shell /bin/bash $name; done
# Documented commands must ask no questions here.
printf 'APT::Get::Assume-Yes "true";\nAPT::Install-Recommends "false";\n' > /etc/apt/apt.conf.d/99-test
echo 'Defaults env_keep += "DEBIAN_FRONTEND"' > /etc/sudoers.d/test
files > /tmp/before

step "installed without asking: nothing is permitted, nothing is begun"
as_shown /given 'sudo apt install ./build/debian/fieldcost_*.deb ./build/debian/fieldcost-agent_*.deb'
as_shown /given 'sudo apt install ./build/debian/fieldcost-aggregator_*.deb'
[[ "$(systemctl is-active fieldcost-aggregator)" == inactive ]] || fail "it was started without being asked"
install_ours
grep -qx 'permit = false' $SYSTEM || fail "$(cat $SYSTEM)"
[[ "$(stat -c '%U:%G %a' $SYSTEM)" == "root:root 644" ]] || fail "$(stat $SYSTEM)"
! find /etc/systemd -name 'fieldcost*' | grep . || fail "a unit is enabled"
[[ ! -e $SUGGESTED ]] || fail "a service is suggested"
for mode in on local; do
  try user fieldcost agent $mode
  ((status == 77)) || fail "agent $mode: status $status: $output"
  expect "not permitted on this machine"
  expect "$SYSTEM"
done
[[ -z "$(memory_files)" && ! -e $STATE/policy && ! -e $STATE/agent.db ]] || fail "$(ls -R $STATE)"

for file in /usr/share/doc/fieldcost-agent/PRIVACY.md \
  /usr/share/man/man{1/fieldcost.1,8/fieldcostd.8,8/fieldcost-aggregator.8,8/fieldcost-probe-server.8}.gz \
  /usr/share/bash-completion/completions/fieldcost; do
  [[ -s $file || -s $file.gz ]] || fail "$file is not installed"
done
for file in /usr/include/fieldcost/probe.h /usr/lib/*/pkgconfig/fieldcost-probe.pc \
  /usr/lib/*/libfieldcost_probe_stub.a /usr/lib/python3/dist-packages/fieldcost_{probe,sphinx}.py \
  /usr/lib/*/fieldcost/libfieldcost_probe.so; do
  [[ -s $file ]] || fail "$file is not installed"
done
for file in README.md fieldcost.lua fieldcost.vsix; do
  [[ -z "$EDITORS" || -s /usr/share/fieldcost/editors/$file ]] ||
    fail "$file for editors is not installed"
done

step "the administrator's answers and edits"
sed -i -e 's/^permit = false/\tpermit=false  # by me/' -e '$a# kept to the end' $SYSTEM
cp $SYSTEM /tmp/edited
install_ours --reinstall
cmp $SYSTEM /tmp/edited || fail "an upgrade changed the administrator's file"
answer yes
diff <(sed 's/permit=false/permit=true/' /tmp/edited) $SYSTEM || fail "more was changed than the answer"
answer no
cmp $SYSTEM /tmp/edited || fail "not as it was before"
sed -i 's/permit=false/permit=true/' $SYSTEM
install_ours --reinstall
grep -q 'permit=true' $SYSTEM || fail "an old answer went before the administrator's edit"
rm $SYSTEM
install_ours --reinstall
grep -qx 'permit = true' $SYSTEM || fail "$(cat $SYSTEM)"
answer no

step "answered beforehand"
quietly apt-get purge -y fieldcost-agent
[[ ! -e $SYSTEM ]] || fail "purge left $SYSTEM"
printf 'fieldcost-agent fieldcost-agent/%s\n' 'permit boolean true' 'service string https://suggested.example' |
  debconf-set-selections
install_ours
grep -qx 'permit = true' $SYSTEM || fail "$(cat $SYSTEM)"
[[ "$(stat -c '%U:%G %a' $SUGGESTED)" == "root:root 644" ]] || fail "$(stat $SUGGESTED)"
try user fieldcost agent status
expect "none; suggested: https://suggested.example"

step "an aggregator with a certificate of its own"
dropin=/etc/systemd/system/fieldcost-aggregator.service.d
as_shown / 'sudo fieldcost-aggregator init --dir /srv/fieldcost --host fieldcost.example.org'
# This machine shares its network: use any free port.
sed -i 's|^port = .*|port = 0|' /srv/fieldcost/aggregator.toml
as_shown / 'sudo chown -R _fieldcost-aggregator: /srv/fieldcost'
as_shown / 'sudo install -D -m 644 -t /etc/systemd/system/fieldcost-aggregator.service.d \
  /srv/fieldcost/fieldcost-aggregator.conf'
as_shown / 'sudo -u _fieldcost-aggregator fieldcost-aggregator --check-config \
  --config /srv/fieldcost/aggregator.toml'
as_shown / 'sudo systemctl daemon-reload && sudo systemctl enable --now fieldcost-aggregator'
wait_until test -s /srv/fieldcost/address
[[ "$(systemctl is-enabled fieldcost-aggregator)" == enabled ]] || fail "it would not start with the machine"
process=$(systemctl show --property=MainPID --value fieldcost-aggregator)
[[ "$(stat -c %U /proc/$process)" == _fieldcost-aggregator ]] || fail "it runs as another user"
quietly systemctl disable --now fieldcost-aggregator
rm -r $dropin /srv/fieldcost

step "the same with one command, and its line for volunteers"
as_shown / "sudo fieldcost-aggregator init --dir /srv/fieldcost --host fieldcost.example.org --open --start \
  --port 0 --admin-port 0 --operator 'Example Project' --contact privacy@example.org \
  --privacy 'No proxy; backups are deleted after 30 days.'"
grep -qxF "  fieldcost agent join '$(cat /srv/fieldcost/address)' --ca-file ca.pem" /tmp/log || fail "$(cat /tmp/log)"
[[ "$(systemctl is-active fieldcost-aggregator)" == active ]] || fail "it does not run"
[[ "$(systemctl is-enabled fieldcost-aggregator)" == enabled ]] || fail "it would not start with the machine"
process=$(systemctl show --property=MainPID --value fieldcost-aggregator)
[[ "$(stat -c %U /proc/$process)" == _fieldcost-aggregator ]] || fail "it runs as another user"
try fieldcost-aggregator init --dir /srv/other --host fieldcost.example.org --start --operator x --contact x --privacy x
((status == 73)) && [[ ! -e /srv/other ]] || fail "a second directory: status $status: $output"
quietly systemctl disable --now fieldcost-aggregator
rm -r $dropin /srv/fieldcost

step "an aggregator on loopback, shut in by its unit"
address=/run/fieldcost-aggregator/address
as_shown /given/tls 'sudo install -m 644 certificate.pem /etc/fieldcost/aggregator/'
as_shown /given/tls 'sudo install -m 640 -g _fieldcost-aggregator private_key.pem /etc/fieldcost/aggregator/'
mkdir -p $dropin
printf '[Service]\nStandardError=append:%s\n' $LOG > $dropin/log.conf
sed -i -e 's|^# port = .*|port = 0|' -e 's|^# address_file = |address_file = |' \
  -e 's|^# interval_seconds = .*|interval_seconds = 0|' \
  -e 's|^# probation_batches = .*|probation_batches = 0|' \
  -e 's|^# contribution_threshold = .*|contribution_threshold = 1|' /etc/fieldcost/aggregator.toml
systemctl daemon-reload
as_shown / 'sudo systemctl enable --now fieldcost-aggregator'
wait_until test -s $address
process=$(systemctl show --property=MainPID --value fieldcost-aggregator)
[[ "$(stat -c %U /proc/$process)" == _fieldcost-aggregator ]] || fail "it runs as another user"
grep -q '^CapEff:\s*0*$' /proc/$process/status || fail "it has privileges"

step "opted in, and measured"
user mkdir -p "${AGENT_TOML%/*}"
cp /given/tls/ca.pem "${AGENT_TOML%/*}/ca.pem"
cat > $AGENT_TOML << END
[aggregator]
url = "$(cat $address)"
ca_file = "ca.pem"
[selection]
selection_probability = 1
picks_per_run = 16
max_programs = 0
max_load_per_core_percent = 10000
max_cpu_pressure_percent = 200
END
chmod 644 $AGENT_TOML "${AGENT_TOML%/*}/ca.pem"
# The user gets the pinned root from the operator, not over this connection.
user mkdir -p $HOME_DIR/.local/share/fieldcost
install -m 644 /var/lib/fieldcost-aggregator/publish/root/1 $HOME_DIR/.local/share/fieldcost/catalog_root
quietly user fieldcost agent on
quietly user fieldcost run --pick 'libapt-pkg.so.6.0!*' -- apt-cache stats
try user fieldcost top --local
((status == 0)) || fail "$output"
expect "libapt-pkg.so.6.0"
for _ in 1 2 3; do quietly user fieldcost run -- apt-cache dump; done
quietly user fieldcostd --once --flush
try user fieldcost agent preview --json
[[ "$output" != *tester* && "$output" != *apt-cache* ]] || fail "a name of a user or program: $output"

step "sent, published, and read from the catalogue"
systemctl kill --signal=USR1 fieldcost-aggregator
wait_until grep -q 'published snapshot version=[0-9]* rows=[1-9]' $LOG
quietly user fieldcost sync --full
api="$(user fieldcost top --limit 1 --csv | awk -F, 'NR == 2 { print $1 }')"
[[ "$api" == *!* ]] || fail "the catalogue is empty"
quietly user fieldcost show "$api"
quietly user fieldcost-lsp --version
# Only the server's user can access its data.
[[ "$(stat -c '%U %a' /var/lib/fieldcost-aggregator)" == "_fieldcost-aggregator 700" ]] ||
  fail "$(stat /var/lib/fieldcost-aggregator)"

step "taken back"
try user fieldcost agent log
expect "sent"
quietly user fieldcost agent forget --yes
try user fieldcost agent log
expect "taken back"

step "the agent under systemd, as the user's own service"
use_user_units

step "an installer's preset: a volunteer joins its service, logs in again, and leaves it"
use_joining

step "every program of a login, through an upgrade"
quietly user fieldcost agent session on
login() { su --login tester --command "$1" 2>&1; }
[[ "$(login 'echo $LD_PRELOAD')" == */libfieldcost_preload.so ]] || fail "$(login 'echo $LD_PRELOAD')"
install_ours --reinstall
[[ "$(login 'echo $LD_PRELOAD')" == */libfieldcost_preload.so ]] || fail "$(login 'echo $LD_PRELOAD')"

step "forbidden again: at once"
answer no
try user fieldcost agent status
((status == 0)) || fail "$output"
expect "NOT PERMITTED by the administrator"
expect "$SYSTEM"
runs="$(memory_files '*.run')"
quietly user fieldcost run -- apt-cache dump
[[ "$(memory_files '*.run')" == "$runs" ]] || fail "measured without permission"
answer yes

step "a team's probe server, shut in by its unit"
install -m 644 /given/tls/certificate.pem /etc/fieldcost/probe-server/
install -m 640 -g _fieldcost-probe-server /given/tls/private_key.pem /etc/fieldcost/probe-server/
sed -i -e 's|^# port = .*|port = 0|' -e 's|^# address_file = |address_file = |' /etc/fieldcost/probe-server.toml
[[ "$(systemctl is-active fieldcost-probe-server)" == inactive ]] || fail "it was started without being asked"
as_probe_server() {
  runuser -u _fieldcost-probe-server -- fieldcost-probe-server "$@" --config /etc/fieldcost/probe-server.toml
}
echo "correct horse battery" | quietly as_probe_server user add alice
quietly systemctl start fieldcost-probe-server
probe_process=$(systemctl show --property=MainPID --value fieldcost-probe-server)
[[ "$(stat -c %U /proc/$probe_process)" == _fieldcost-probe-server ]] || fail "it runs as another user"
[[ -s /run/fieldcost-probe-server/address ]] || fail "it does not report where it listens"
probe_admin=$(cat /run/fieldcost-probe-server/admin-address)
exec 3<> "/dev/tcp/127.0.0.1/${probe_admin##*:}"
printf 'GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n' >&3
read -r -t 10 probe_health <&3
exec 3>&-
[[ "$probe_health" == *" 200 "* ]] || fail "it is not healthy: $probe_health"
[[ "$(stat -c '%U %a' /var/lib/fieldcost-probe-server)" == "_fieldcost-probe-server 700" ]] ||
  fail "$(stat /var/lib/fieldcost-probe-server)"
quietly as_probe_server backup /var/lib/fieldcost-probe-server/backup
quietly as_probe_server verify

step "removed: a login is as it was"
process=$(systemctl show --property=MainPID --value fieldcost-aggregator)
((process > 0)) || fail "the upgrade did not start the aggregator again"
quietly apt-get remove -y "${PACKAGES[@]}" $PROBE_DEV $EDITORS
for shell in '/bin/true' 'bash -lc /bin/true' 'sh -lc /bin/true'; do
  [[ -z "$(login "$shell")" ]] || fail "a login prints: $(login "$shell")"
done
[[ -z "$(login 'echo $LD_PRELOAD')" ]] || fail "programs are still preloaded: $(login 'echo $LD_PRELOAD')"
# Open sessions and desktops still name the copy.
copy=$STATE/session/libfieldcost_preload.so
printed=$(user LD_PRELOAD=$copy FIELDCOST_STATE_DIR=$STATE /bin/true 2>&1)
[[ -z "$printed" ]] || fail "an old session's programs complain: $printed"
[[ ! -d /proc/$process ]] || fail "the aggregator outlives its package"
[[ ! -d /proc/$probe_process ]] || fail "the probe server outlives its package"
[[ -d /var/lib/fieldcost-probe-server ]] || fail "remove took what only purge may take"
[[ -f $SYSTEM && -d /var/lib/fieldcost-aggregator ]] || fail "remove took what only purge may take"
[[ -s $STATE/consent ]] || fail "remove took what is the user's"

step "purged: nothing of it is left"
quietly apt-get purge -y "${PACKAGES[@]}"
rm -r $dropin
files > /tmp/after
diff /tmp/before /tmp/after || fail "files are left behind, or others are gone"
! getent passwd _fieldcost-aggregator || fail "its user is left"
! getent passwd _fieldcost-probe-server || fail "its user is left"
! debconf-show fieldcost-agent | grep . || fail "debconf remembers an answer"
