# shellcheck shell=bash
# Sourced by run.sh: announces how long a form of it takes, and prints how long its stages took.
#
# The figures of this machine are those of its last complete runs, in build/run-times (form, seconds, cores, date).
# Before the first one, these are used: minutes on two cores with a warm compiler cache. quick: the limit for which
# quick.py selects; all_tests: the limit of continuous integration, which has two cores; sanitizers: the all_tests of
# each preset. An empty cache adds COLD_MINUTES: 1,560 CPU seconds for 818 sources were measured on two cores, and the
# tests have as many.
declare -A DEFAULT_MINUTES=([quick]=5 [selected_tests]=15 [all_tests]=45 [sanitizers]=240)
readonly COLD_MINUTES=25
readonly TIMES=build/run-times

STAGES=() STAGE="" STAGE_BEGAN=0 FORM=""

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
  [[ -z "$STAGE" ]] || STAGES+=("$((SECONDS - STAGE_BEGAN)) $STAGE")
  STAGE=""
}

# begin_stage NAME
begin_stage() {
  end_stage
  STAGE="$1" STAGE_BEGAN=$SECONDS
}

# print_times STATUS: the minutes of each stage; keeps the total of a run that passed for the next announcement.
print_times() {
  local entry
  end_stage
  for entry in "${STAGES[@]}"; do
    printf '   %5.1f min  %s\n' "$(awk "BEGIN { print ${entry%% *} / 60 }")" "${entry#* }"
  done
  printf '== %.1f minutes in all\n' "$(awk "BEGIN { print $SECONDS / 60 }")"
  # How long a selection takes depends on what is selected.
  if (($1 == 0)) && [[ "$FORM" == all_tests || "$FORM" == sanitizers ]]; then
    printf '%s %d %d %s\n' "$FORM" "$SECONDS" "$(nproc)" "$(date +%F)" >> "$TIMES"
  fi
}
