# Sourced by the stages that run in Node, for their messages and installations. NAME is the stage's name, SCRIPT its
# path, and WORK its output directory.

readonly MIN_NODE=18
readonly INSTALL_TIMEOUT_S=180

step() { printf '== %s: %s\n' "$NAME" "$*"; }
fail() {
  printf '%s: %s\n' "$SCRIPT" "$*" >&2
  exit 1
}
skip() {
  printf '%s: skipped: %s\n' "$SCRIPT" "$*"
  exit 77
}

# logged LOG COMMAND...: runs the command with its output in a log; prints the log's last lines if it fails.
logged() {
  local log="$WORK/$1.log"
  shift
  "$@" > "$log" 2>&1 && return 0
  tail -n 40 "$log" >&2
  fail "$1 ${2:-} failed (the whole log: $log)"
}

check_node() {
  command -v node > /dev/null || skip "node is missing"
  command -v npm > /dev/null || skip "npm is missing"
  local version
  version="$(node -p 'process.versions.node.split(".")[0]')"
  ((version >= MIN_NODE)) || skip "node $version is older than $MIN_NODE"
}

# npm_failed STATUS LOG: skips if npm's registry cannot be reached, fails otherwise.
npm_failed() {
  if (($1 == 124)) || grep -qE 'ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH' "$2"; then
    skip "npm's registry cannot be reached (log: $2)"
  fi
  tail -n 20 "$2" >&2
  fail "npm failed (log: $2)"
}

# install_folder FOLDER NAME: installs the packages in its lock file, unless installed already.
install_folder() {
  local folder="$1" log="$WORK/npm-${2}.log"
  if cmp -s "$folder/package-lock.json" "$folder/installed"; then return 0; fi
  step "install the dependencies of $2"
  rm -f "$folder/installed"
  local status=0
  (cd "$folder" && timeout "$INSTALL_TIMEOUT_S" npm ci --ignore-scripts --no-audit --no-fund) \
    > "$log" 2>&1 || status=$?
  ((status == 0)) || npm_failed "$status" "$log"
  cp "$folder/package-lock.json" "$folder/installed"
}

# Runs a command with only the loopback interface, if that is possible.
without_network() {
  if unshare --net true 2> /dev/null && command -v ip > /dev/null; then
    unshare --net sh -c 'ip link set lo up && exec "$@"' sh "$@"
  else
    printf '%s: no network namespace here: the network stays reachable\n' "$SCRIPT"
    "$@"
  fi
}
