#!/usr/bin/env bash
# The proofs that nothing acknowledged is lost or counted twice, that nobody brings the server down, and that
# what is promised would be missed.
#
#   ./tests/faults/run.sh [NAME...] [--mutants] [--long] [--seed N] [--list] [--help]
#
#   power_loss   what was not synced is dropped, torn or reordered
#   damage       a bit, an end or a file of the store or of a backup is not what was written
#   nth_failure  the Nth operation on the store's files fails, with EIO or ENOSPC
#   disk_full    a real server on a small disk that its agents fill (needs root)
#   kill_loop    a real server killed at random moments, again and again
#   proxy        a network that cuts, stalls and repeats
#   slow         thousands of slow connections
#   smuggling    requests that other parsers read as two
#   bombs        bodies that grow when they are decoded
#   poison       hostile agents and services: what they move or cost is within its bound
#   fuzz         files, messages and requests of others, mutated: parsers neither crash nor take long nor much memory
#   mutants      programs with a fault of ours, store, privacy and trust: the tests have to notice each
#
# Without a name: all. --mutants is the name mutants. --long runs as many cases as find rare things,
# not as many as fit into continuous integration. Every test prints its seed; --seed repeats it (threads
# still take turns as they like). FIELDCOST_BUILD_DIR is the build tree (build/dev). Exit status: 0 if all
# passed.
set -euo pipefail
cd "$(dirname "$0")/../.."

names=(power_loss damage nth_failure disk_full kill_loop proxy slow smuggling bombs poison fuzz mutants)
declare -A tests=(
  [power_loss]='PowerLossTest|FaultFileSystemTest|ChildTest'
  [damage]='DamageTest'
  [nth_failure]='NthFailureTest|UndeletedFilesTest|NoLinksTest|FailedStoreTest'
  [disk_full]='DiskFullTest'
  [kill_loop]='KillLoopTest|StoreCrashTest'
  [proxy]='FaultProxyTest|ProxyFaults'
  [slow]='SlowFaults'
  [smuggling]='SmugglingFaults'
  [bombs]='BombFaults'
  [poison]='PoisonFaults|CrowdingFaults|RowBudgetFaults|TwoServicesFaults'
  [fuzz]='fuzz_corpus[.]'
  [mutants]='faults[.]mutants'
)
declare -A targets=(
  [power_loss]=faults_power_loss_test
  [damage]=faults_damage_test
  [nth_failure]=faults_nth_failure_test
  [disk_full]=faults_disk_full_test
  [kill_loop]='faults_kill_loop_test store_crash_test'
  [proxy]=fault_proxy_test
  [slow]=fault_slow_test
  [smuggling]=fault_smuggling_test
  [bombs]=fault_bombs_test
  [poison]=fault_poison_test
  [fuzz]=$(sed -n 's/^fieldcost_fuzzer(\([a-z_]*\).*/\1_replay/p' tests/fuzz/CMakeLists.txt | tr '\n' ' ')
  [mutants]=$(tests/faults/mutants/run.py . . --targets | tr '\n' ' ')
)

usage() { sed -n '2,25s/^# \{0,1\}//p' "$0"; }
bad() {
  echo "tests/faults/run.sh: $1 (--help says what there is)" >&2
  exit 2
}

chosen=()
while (($# > 0)); do
  case "$1" in
    -h | --help) usage; exit 0 ;;
    --list) printf '%s\n' "${names[@]}"; exit 0 ;;
    --mutants) chosen+=(mutants) ;;
    --long) export FIELDCOST_FAULT_LONG=1 ;;
    --seed)
      [[ "${2:-}" =~ ^[0-9]+$ ]] || bad "--seed needs a number"
      export FIELDCOST_FAULT_SEED=$2
      shift
      ;;
    -*) bad "unknown option '$1'" ;;
    *) [[ -n "${tests[$1]:-}" ]] || bad "unknown name '$1'"; chosen+=("$1") ;;
  esac
  shift
done
((${#chosen[@]} > 0)) || chosen=("${names[@]}")

build=${FIELDCOST_BUILD_DIR:-build/dev}
if [[ ! -f $build/CMakeCache.txt ]]; then
  [[ $build == build/dev ]] || bad "there is no build tree in $build"
  cmake --preset dev > /dev/null
fi
regex= wanted=()
for name in "${chosen[@]}"; do
  regex+="${regex:+|}${tests[$name]}"
  read -ra more <<< "${targets[$name]}"
  wanted+=("${more[@]}")
done
cmake --build "$build" --target "${wanted[@]}"
# Verbose, so that the seeds are seen.
ctest --test-dir "$build" --verbose --no-tests=error -R "$regex"
