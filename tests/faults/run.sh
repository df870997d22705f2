#!/usr/bin/env bash
# Tests that nothing acknowledged is lost or counted twice, that no client can bring the server down, and that
# a broken promise would be detected.
#
#   ./tests/faults/run.sh [NAME...] [--mutants] [--long] [--seed N] [--list] [--help]
#
#   power_loss   unsynced data is dropped, torn or reordered
#   damage       bits flip, and files are cut, swapped or missing, in the store or in a backup
#   nth_failure  the Nth operation on the store's files fails, with EIO or ENOSPC
#   disk_full    a real server on a small disk that its agents fill (needs root)
#   kill_loop    a real server that is killed at random moments, many times
#   proxy        a network that cuts, stalls and repeats connections
#   slow         thousands of slow connections
#   smuggling    requests that other parsers would read as two
#   bombs        bodies that expand when decoded
#   poison       hostile agents and services: their effect and cost stay within bounds
#   fuzz         mutated files, messages and requests: parsers do not crash, and use bounded time and memory
#   mutants      programs with a deliberate mistake in store, privacy or trust: the tests must detect each
#
# Without names, runs all. --mutants is short for the name mutants. --long runs as many cases as are needed to
# find rare failures; the default fits into continuous integration. Every test prints its seed; --seed repeats
# it (but not how threads interleave). FIELDCOST_BUILD_DIR is the build tree (default: build/dev). Exit status:
# 0 if all passed.
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
  echo "tests/faults/run.sh: $1 (--help lists the choices)" >&2
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
# Verbose, to print the seeds.
ctest --test-dir "$build" --verbose --no-tests=error -R "$regex"
