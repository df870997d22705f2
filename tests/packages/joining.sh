# shellcheck shell=bash
# Sourced by inside.sh: an installer presets a service; a new user joins it, logs in again, and
# leaves it. Nothing of that remains in the home directory.

readonly PRESET=/etc/fieldcost/agent.d/50-test.toml

# Name, type, mode and link of everything in the volunteer's home, and the hash of each file.
home_listing() (
  cd /home/volunteer
  find . -printf '%p %y %m %l\n' | sort
  find . -type f -exec sha256sum {} + | sort
)
expect_home_as_before() {
  home_listing | diff /tmp/home-before - || fail "the home is not as it was: $1"
}

# While the user's manager could still pass the library on, `leave` keeps it, and asks for a second
# `leave` after logging out.
leave_and_log_out() {
  try in_session fieldcost agent leave
  [[ "$(property UnitFileState fieldcostd.path)" == disabled ]] || fail "still enabled"
  end_session
  ((status == 0)) || {
    expect "log out, and run fieldcost agent leave again"
    quietly user fieldcost agent leave
  }
}

use_joining() {
  local USER_NAME=volunteer url
  url=$(cat "$address")
  start_session
  home_listing > /tmp/home-before

  # The preset alone decides nothing.
  install -m 644 /given/tls/ca.pem /etc/fieldcost/agent.d/test-ca.pem
  printf '[aggregator]\nurl = "%s"\nca_file = "test-ca.pem"\nroot_sha256 = "%s"\n' "$url" \
    "$(sha256sum /var/lib/fieldcost-aggregator/publish/root/1 | cut -d ' ' -f 1)" > $PRESET
  try in_session fieldcost agent status
  expect "mode                off"
  expect "none; suggested: $url"
  expect_home_as_before "a preset has changed it"

  # Joining completes everything: nothing is missing in the status, and the units survive a new login.
  quietly in_session fieldcost agent join "$url" --ca-file /given/tls/ca.pem --yes
  in_session fieldcost agent status > /tmp/status
  grep -q '^mode  *on since ' /tmp/status && grep -qxF "server              $url" /tmp/status &&
    ! grep -q '^missing ' /tmp/status || fail "$(cat /tmp/status)"
  end_session
  start_session
  wait_for ActiveState fieldcostd.path active
  quietly in_session fieldcost run -- apt-cache dump
  wait_for ActiveState fieldcostd.service active
  ! in_session fieldcost agent status | grep '^missing ' || fail "something is missing after a new login"
  leave_and_log_out
  expect_home_as_before "leave"

  # The preset makes `agent on` sufficient.
  start_session
  quietly in_session fieldcost agent on
  try in_session fieldcost agent status
  expect "server              $url"
  leave_and_log_out
  expect_home_as_before "leave after agent on"
  rm $PRESET /etc/fieldcost/agent.d/test-ca.pem
}
