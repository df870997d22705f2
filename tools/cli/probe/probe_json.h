#pragma once

#include <string>
#include <vector>

#include "common/probe/compare_events.h"
#include "tools/cli/probe/event_text.h"
#include "tools/cli/probe/local_events.h"
#include "tools/cli/probe/sides.h"

namespace fieldcost::cli {

// The output of `probe ... --json`: one JSON object and a newline. Names are stable. Times are in
// ns, as decimal texts; ids are hexadecimal texts.

// {"events": [{"id", "label", "program", "build", "tags", "session", "begin_ns", "end_ns" (null if
// not over), "total_ns" (likewise), "points", "lost_points" (of its run), "mark", "set_aside"
// (null, or {"why", "reason"}), "two_kinds"}], "older", "set_aside", "lost_points" (of all selected
// runs)}.
std::string EventsJson(const std::vector<JudgedEvent>& events, const EventListText& rest);

// {"events": [{..., "steps": [{"name", "ns", "between_threads", "point"}], "points": [{"label",
// "function", "file", "line", "kind", "ns", "thread", "run", "program", "value", "stack":
// [{"function", "module", "file", "line"}] (null if none), "stack_is_cut"}],
// "points_left_out"}]}.
struct ShownEvent {
  JudgedEvent judged;
  probe::Event event;
};
std::string ShownEventsJson(const std::vector<ShownEvent>& events);

// {"change", "allowed", "labels": [{"label", "program", "tags", "base_set_aside", "new_set_aside",
// "older", "by_run", "at_equal_wait", "total", "steps"}], "left_out": [{"label", "program", "tags",
// "side", "events"}], "base", "new": {"runs", "lost_points", "runs_with_lost_points",
// "cpu_wait_share" (null: not measured)}, "loads_differ"}. A step has "name", "base_events",
// "new_events", "base_ns", "new_ns" (geometric means), "ratio", "ratio_low", "ratio_high", "p",
// "q", "change": "too_little_data", "none", "more", "less". "by_run": the tests use one value
// per run, its mean. "at_equal_wait": ratios are adjusted to the same wait for a CPU.
std::string ComparisonsJson(const probe::ComparedSides& sides, double least);

// {"label", "lines": [{"program", "tags", "builds": [{"build", "first_ns", "events", "median_ns",
// "low_ns", "high_ns", "change": a step}]}], "lost_points" (of all selected runs)}.
std::string HistoryJson(const std::string& label, const std::vector<probe::HistoryLine>& history,
                        const probe::SideFacts& facts);

std::string MarkedJson(const probe::EventRow& row);  // {"event": {...}}
std::string PurgedJson(std::uint64_t events);        // {"purged"}

}  // namespace fieldcost::cli
