# shellcheck shell=bash
# Sourced by run.sh and costs.sh: announces how long a form of run.sh takes, and prints how long its stages took, in
# minutes and in CPU seconds. The latter depend little on the number of cores and on other load, so they show what a
# change costs. Processes that no other one waits for are not included.
#
# The figures of this machine are those of its last complete runs, in build/run-times (form, seconds, cores, date).
# Before the first one, these are used: minutes on two cores with a warm compiler cache. quick: the limit for which
# quick.py selects; all_tests: the limit of continuous integration, which has two cores; sanitizers: the all_tests of
# each preset. An empty cache adds COLD_MINUTES: 1,560 CPU seconds for 818 sources were measured on two cores, and the
# tests have as many.
declare -A DEFAULT_MINUTES=([quick]=5 [selected_tests]=15 [all_tests]=45 [sanitizers]=240)
readonly COLD_MINUTES=25
readonly TIMES=build/run-times

STAGES=() STAGE="" STAGE_BEGAN=0 STAGE_CPU=0 FORM=""

# cpu_seconds: user and system time of all children of the script that have ended, in whole seconds.
cpu_seconds() {
  awk -v ticks="$(getconf CLK_TCK)" '{ sub(/^.*\) /, ""); printf "%d\n", ($14 + $15) / ticks }' "/proc/$$/stat"
}

# announce FORM
announce() {
  local cores seconds cores_then date
  FORM="$1"
  cores="$(nproc)"
  if [[ "$FORM" == quick ]]; then
    echo "== at most about ${DEFAULT_MINUTES[quick]} minutes with a warm compiler cache (quick.py selects for it)"
    return
  fi
  read -r seconds cores_then date < <(awk -v form="$1" '$1 == form { last = $2 " " $3 " " $4 } END { print last }' \
    "$TIMES" 2> /dev/null) || true
  if [[ -n "${seconds:-}" ]]; then
    printf '== about %d minutes (measured: the last such run here, on %s with %d cores, scaled to %d)\n' \
      $(((seconds * cores_then / cores + 59) / 60)) "$date" "$cores_then" "$cores"
  else
    printf '== about %d minutes with a warm compiler cache, %d more with an empty one\n' \
      $(((DEFAULT_MINUTES[$1] * 2 + cores - 1) / cores)) $(((COLD_MINUTES * 2 + cores - 1) / cores))
    echo "   (not measured here yet: the figures for two cores in tests/run_times.sh, scaled to $cores)"
  fi
}

end_stage() {
  [[ -z "$STAGE" ]] || STAGES+=("$((SECONDS - STAGE_BEGAN)) $(($(cpu_seconds) - STAGE_CPU)) $STAGE")
  STAGE=""
}

# begin_stage NAME
begin_stage() {
  end_stage
  STAGE="$1" STAGE_BEGAN=$SECONDS STAGE_CPU="$(cpu_seconds)"
}

# print_times STATUS: minutes and CPU seconds of each stage; keeps the total of a run that passed for the next
# announcement.
print_times() {
  local entry seconds cpu name
  end_stage
  for entry in "${STAGES[@]}"; do
    read -r seconds cpu name <<< "$entry"
    printf '   %5.1f min  %5d CPU s  %s\n' "$(awk "BEGIN { print $seconds / 60 }")" "$cpu" "$name"
  done
  printf '== %.1f minutes and %d CPU seconds in all\n' "$(awk "BEGIN { print $SECONDS / 60 }")" "$(cpu_seconds)"
  # How long a selection takes depends on what is selected.
  if (($1 == 0)) && [[ "$FORM" == all_tests || "$FORM" == sanitizers ]]; then
    printf '%s %d %d %s\n' "$FORM" "$SECONDS" "$(nproc)" "$(date +%F)" >> "$TIMES"
  fi
}
