#!/usr/bin/env bash
# From a clean checkout to a cost table of real programs.     ./deploy/quickstart.sh [--stop|--help]
#
# Installs the build packages, builds what it runs, starts an aggregator on this machine (loopback,
# HTTPS, its own certificate authority), makes a throw-away profile that has opted in, runs real
# programs under `fieldcost run`, uploads, publishes, fetches the catalogue, prints it, and writes a
# page for the browser.
#
#   ./deploy/quickstart.sh           the whole way; a second time it takes seconds
#   ./deploy/quickstart.sh --stop    stop the aggregator
#
# Everything it writes is below build/ (FIELDCOST_QUICKSTART_DIR names another place for the data).
# With FIELDCOST_QUICKSTART_PROGRAMS, a directory of built programs, it neither installs nor builds.
# Needs root or sudo once, for packages. The aggregator ends by itself after two hours.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly DIR="$(realpath -m "${FIELDCOST_QUICKSTART_DIR:-build/quickstart}")"
readonly BIN="$(realpath -m "${FIELDCOST_QUICKSTART_PROGRAMS:-build/quickstart/programs/bin}")"
readonly DATA="$DIR/server"
readonly LOG="$DIR/aggregator.log"
readonly PID_FILE="$DIR/aggregator.pid"
readonly WORK="$DIR/work"
readonly WANTED_APIS=20
readonly WANTED_LIBRARIES=5
readonly MAX_ROUNDS=6

export FIELDCOST_HOME="$DIR/profile"

step() { printf '== %s\n' "$*"; }
fail() {
  printf 'quickstart.sh: %s\n' "$*" >&2
  exit 1
}
have() { command -v "$1" > /dev/null; }

# Prints the aggregator's process id if it is running and really ours.
running_pid() {
  local pid
  pid="$(cat "$PID_FILE" 2> /dev/null)" || return 1
  [[ "$pid" =~ ^[0-9]+$ ]] || return 1
  [[ "$(readlink "/proc/$pid/exe" 2> /dev/null)" == "$BIN/fieldcost-aggregator"* ]] || return 1
  printf '%s' "$pid"
}

stop_aggregator() {
  local pid
  pid="$(running_pid)" || return 0
  kill -TERM "$pid" 2> /dev/null || true
  for _ in {1..150}; do
    [[ -e "/proc/$pid" ]] || break
    sleep 0.1
  done
  [[ ! -e "/proc/$pid" ]] || fail "the aggregator (process $pid) does not stop; its log: $LOG"
  rm -f "$PID_FILE"
}

build() {
  local log=build/quickstart-build.log
  mkdir -p build
  step "build the programs (minutes the first time, log: $log)"
  { cmake --preset quickstart && cmake --build --preset quickstart; } 2>&1 | tee "$log" | awk -F'[][/]' '
    /^\[[0-9]+\/[0-9]+\]/ {
      tenth = int($2 * 10 / $3)
      if (tenth != last) { printf "   %d of %d\n", $2, $3; fflush(); last = tenth }
    }' || fail "building failed: $(grep -m 1 -E 'error:|CMake Error|FAILED:' "$log" || tail -n 1 "$log")"
}

make_aggregator() {
  [[ ! -s "$DATA/aggregator.toml" ]] || return 0
  step "make the aggregator's directory: configuration, certificate, token ($DATA)"
  "$BIN/fieldcost-aggregator" init --dir "$DATA" --host 127.0.0.1 --host localhost --port 0 \
    --admin-port 0 --open > "$DIR/init.log" 2>&1 ||
    fail "cannot make the aggregator's directory: $(tail -n 1 "$DIR/init.log")"
  cat >> "$DATA/aggregator.toml" << EOF
# Added by quickstart.sh.
[ingest]
# This machine's batches count at once. A real server keeps the default of 3.
probation_batches = 0
[publish]
interval_seconds = 0
# Lets a single machine see its own numbers. A real server keeps the default of 5.
contribution_threshold = 1
EOF
}

start_aggregator() {
  local pid
  if pid="$(running_pid)" && [[ "$(readlink "/proc/$pid/exe")" != *" (deleted)" ]] &&
    [[ -s "$DATA/address" ]]; then
    step "the aggregator is already running (process $pid)"
    return 0
  fi
  stop_aggregator
  step "start the aggregator ($DATA)"
  echo "   contribution_threshold = 1: publishes what a single contributor sent; only for trying out"
  rm -f "$DATA/address"
  # The inner shell becomes the aggregator, so that the pid file names it and not `timeout`.
  setsid timeout 2h sh -c 'echo $$ > "$1"; exec "$2" --config "$3"' sh \
    "$PID_FILE" "$BIN/fieldcost-aggregator" "$DATA/aggregator.toml" \
    < /dev/null >> "$LOG" 2>&1 &
  for _ in {1..200}; do
    [[ ! -s "$DATA/address" ]] || return 0
    sleep 0.1
    [[ -s "$PID_FILE" ]] && ! running_pid > /dev/null && [[ ! -s "$DATA/address" ]] && break
  done
  [[ -s "$DATA/address" ]] || fail "the aggregator did not start: $(tail -n 1 "$LOG")"
}

make_profile() {
  step "make a throw-away profile that has opted in: $FIELDCOST_HOME"
  mkdir -p "$FIELDCOST_HOME"
  cat > "$FIELDCOST_HOME/agent.toml.new" << EOF
# Written by quickstart.sh. Every run is drawn for the field, with far more APIs than usual: requested
# runs are always measured, but only runs drawn by chance are sent, and quickstart.sh shows what is sent.
[aggregator]
url = "$(cat "$DATA/address")"
ca_file = "$DATA/ca.pem"
[selection]
selection_probability = 1
picks_per_run = 8
alloc_probability = 0.5
io_probability = 0.1
max_programs = 0
max_load_per_core_percent = 0
max_cpu_pressure_percent = 0
max_run_files = 256
EOF
  mv "$FIELDCOST_HOME/agent.toml.new" "$FIELDCOST_HOME/agent.toml"
  cp "$DATA/data/publish/root/1" "$FIELDCOST_HOME/catalog_root" ||
    fail "the aggregator left no root metadata in $DATA/data/publish"
  "$BIN/fieldcost" agent on > /dev/null || fail "cannot opt in, see above"
}

# Runs a program with measuring, and discards its output. Ignores failures of the program.
RUNS=0
measured() {
  RUNS=$((RUNS + 1))
  FIELDCOST_QUIET=1 timeout 20 "$BIN/fieldcost" run -- "$@" > /dev/null 2>> "$DIR/programs.log" ||
    true
}

make_work() {
  mkdir -p "$WORK"
  [[ ! -s "$WORK/script.sql" ]] || return 0
  cat README.md common/*/*.h agent/*/*.cc > "$WORK/text"
  cat > "$WORK/script.sql" << 'EOF'
create table account(id integer primary key, name text, town text, balance real);
create table payment(id integer primary key, account integer, cents integer, day text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000)
  insert into account select i, printf('name %d', i), printf('town %d', i % 37), i * 1.5 from n;
with recursive n(i) as (select 1 union all select i + 1 from n where i < 6000)
  insert into payment select i, i % 2000 + 1, i * 7919 % 10000, date('2020-01-01', i || ' days') from n;
create index payment_account on payment(account);
analyze;
select town, count(*), round(avg(cents), 2) from account join payment on account = account.id
  group by town order by 3 desc limit 5;
select count(*) from account where name like '%99%';
update payment set cents = cents + 1 where account in (select id from account where town = 'town 3');
delete from payment where cents < 100;
select json_group_array(name) from (select name from account limit 50);
EOF
  cat > "$WORK/report.py" << 'EOF'
import bz2, collections, hashlib, json, lzma, re, sqlite3, sys, zlib
text = open(sys.argv[1], "rb").read()
words = collections.Counter(re.findall(rb"[a-z]+", text))
for pack in (zlib, bz2, lzma):
    assert pack.decompress(pack.compress(text)) == text
db = sqlite3.connect(":memory:")
db.execute("create table word(word, n)")
db.executemany("insert into word values (?, ?)", [(w.decode(), n) for w, n in words.items()])
print(json.dumps(db.execute("select * from word order by n desc limit 9").fetchall()))
print(hashlib.sha256(text).hexdigest())
EOF
}

# Runs a small, different workload of each program that is installed.
one_round() {
  local repository="$WORK/repository" i
  if have sqlite3; then
    for i in 1 2 3 4 5 6; do measured sqlite3 :memory: ".read $WORK/script.sql"; done
    for i in 1 2; do
      rm -f "$WORK/file.db"
      measured sqlite3 "$WORK/file.db" ".read $WORK/script.sql"
    done
    measured sqlite3 "$WORK/file.db" .dump
    measured sqlite3 -json "$WORK/file.db" 'select * from account where id < 300'
  fi
  if have openssl; then
    for i in sha256 sha512 blake2b512; do measured openssl dgst "-$i" "$WORK/text"; done
    for i in aes-256-cbc chacha20; do
      measured openssl enc "-$i" -pbkdf2 -pass pass:quickstart -in "$WORK/text" -out "$WORK/sealed"
    done
    measured openssl genpkey -algorithm ed25519
    measured openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256
    measured openssl genrsa 2048
    measured openssl x509 -in "$DATA/certificate.pem" -noout -text
    measured openssl verify -CAfile "$DATA/ca.pem" "$DATA/certificate.pem"
  fi
  for i in gzip bzip2 xz zstd; do
    if have "$i"; then
      measured "$i" -kfc "$WORK/text"
      "$i" -kfc "$WORK/text" > "$WORK/packed.$i"
      measured "$i" -dc "$WORK/packed.$i"
    fi
  done
  if have git; then
    rm -rf "$repository"
    measured git init -q "$repository"
    cp "$WORK/text" "$WORK/script.sql" "$WORK/report.py" "$repository"
    measured git -C "$repository" add .
    measured git -C "$repository" -c user.name=quickstart -c user.email=quickstart@localhost \
      commit -q -m first
    for i in 1 2; do
      measured git -C "$repository" log --stat
      measured git -C "$repository" status
      measured git -C "$repository" grep -c include
      measured git -C "$repository" fsck
    done
  fi
  if have python3; then for i in 1 2 3 4; do measured python3 "$WORK/report.py" "$WORK/text"; done; fi
  if have curl; then for i in 1 2 3; do measured curl -s "file://$WORK/text"; done; fi
  if have perl; then
    for i in 1 2; do measured perl -ne '$n{$_}++ for /\w+/g; END { print scalar keys %n }' "$WORK/text"; done
  fi
  for i in "sort -u" "grep -cE [a-z]+_t" "sed s/include/exclude/" "wc" "sha256sum" "od -c"; do
    # shellcheck disable=SC2086  # the words are the point
    have "${i%% *}" && measured $i "$WORK/text"
  done
  if have find; then measured find common -name '*.h' -newer README.md; fi
  if have ls; then measured ls -lR common; fi
  if have tar; then measured tar -cf "$WORK/tree.tar" common; fi
}

publish() {
  local before count pid
  "$BIN/fieldcostd" --once --flush > "$DIR/upload.log" 2>&1 ||
    fail "uploading failed: $(tail -n 1 "$DIR/upload.log")"
  before="$(grep -cE 'published snapshot|publication failed' "$LOG" || true)"
  pid="$(running_pid)" || fail "the aggregator has ended: $(tail -n 1 "$LOG")"
  kill -USR1 "$pid"
  for _ in {1..200}; do
    count="$(grep -cE 'published snapshot|publication failed' "$LOG" || true)"
    ((count == before)) || break
    sleep 0.1
  done
  ((count > before)) || fail "the aggregator did not publish within 20 seconds; its log: $LOG"
  "$BIN/fieldcost" sync --full > "$DIR/sync.log" 2>&1 ||
    fail "fetching the catalogue failed: $(tail -n 1 "$DIR/sync.log")"
}

# Sets APIS and LIBRARIES to their numbers in the catalogue.
count_catalogue() {
  read -r APIS LIBRARIES < <("$BIN/fieldcost" top --limit 0 --csv | awk -F, '
    NR > 1 { api[$1]; library[$2] }
    END { print length(api), length(library) }')
}

main() {
  if [[ -z "${FIELDCOST_QUICKSTART_PROGRAMS:-}" ]]; then
    . deploy/packages.sh
    # shellcheck disable=SC2086  # a list of names
    install_packages $BUILD_PACKAGES openssl sqlite3 python3 git
    build
  fi
  [[ -x "$BIN/fieldcost-aggregator" ]] || fail "there is no program fieldcost-aggregator in $BIN"
  mkdir -p "$DIR"
  make_aggregator
  start_aggregator
  make_profile
  make_work
  local round
  : > "$DIR/programs.log"
  for ((round = 1; round <= MAX_ROUNDS; round++)); do
    step "run real programs under \`fieldcost run\` (round $round)"
    one_round
    echo "   $RUNS runs so far; upload, publish, fetch the catalogue"
    publish
    count_catalogue
    if ((APIS >= WANTED_APIS && LIBRARIES >= WANTED_LIBRARIES)); then break; fi
    echo "   $APIS APIs of $LIBRARIES libraries; $WANTED_APIS of $WANTED_LIBRARIES are required"
  done
  step "the catalogue: $APIS APIs of $LIBRARIES libraries"
  "$BIN/fieldcost" top --limit 40
  ((APIS >= WANTED_APIS && LIBRARIES >= WANTED_LIBRARIES)) ||
    fail "only $APIS APIs of $LIBRARIES libraries after $RUNS runs; run it again"
  "$BIN/fieldcost" report vendor --library '*' --html "$DIR/costs.html" \
    > "$DIR/report.log" 2>&1 || fail "cannot write the page: $(tail -n 1 "$DIR/report.log")"
  local example
  example="$("$BIN/fieldcost" top --limit 1 --csv | awk -F, 'NR == 2 { print $1 }')"
  cat << EOF

Open in a browser:   file://$DIR/costs.html
One API in detail:   FIELDCOST_HOME=$FIELDCOST_HOME $BIN/fieldcost show '$example'
What would be sent:  FIELDCOST_HOME=$FIELDCOST_HOME $BIN/fieldcost agent preview
Stop:                ./deploy/quickstart.sh --stop
EOF
}

case "${1:-}" in
  "") main ;;
  --stop)
    stop_aggregator
    echo "stopped"
    ;;
  -h | --help) sed -n '2,14s/^# \{0,1\}//p' "$0" ;;
  *) fail "unknown argument '$1' (--stop, --help)" ;;
esac
