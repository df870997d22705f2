// `fieldcost probe list`: the events on this machine.
#include <chrono>

#include "common/base/clock.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/common_options.h"
#include "tools/cli/probe/event_text.h"
#include "tools/cli/probe/local_events.h"
#include "tools/cli/probe/probe_json.h"
#include "tools/cli/probe/probe_options.h"
#include "tools/cli/terminal/pager.h"
#include "tools/cli/terminal/terminal_io.h"
#include "tools/cli/time_argument.h"

namespace fieldcost::cli {
namespace {

constexpr std::size_t kLimit = 40;

// 0 if the option is not given.
Result<std::uint64_t> NsOf(const command::Arguments& arguments, std::string_view option) {
  if (!arguments.Has(option)) return std::uint64_t{0};
  FIELDCOST_ASSIGN(const WallTime time, ParsePastTime(arguments.Text(option), SystemClock().Now()));
  const auto since = time.time_since_epoch();
  return since.count() <= 0 ? std::uint64_t{1}
                            : static_cast<std::uint64_t>(std::chrono::nanoseconds(since).count());
}

Result<int> RunProbeList(const command::Arguments& arguments) {
  EventSelection selection = ProbeFilterOf(arguments);
  FIELDCOST_ASSIGN(selection.from_ns, NsOf(arguments, "--since"));
  FIELDCOST_ASSIGN(selection.to_ns, NsOf(arguments, "--until"));
  FIELDCOST_ASSIGN(const LocalEvents local, OpenLocalEvents(arguments.Text("--db")));
  FIELDCOST_ASSIGN(JudgedEvents judged, LoadJudged(local, selection));
  if (!judged.are_all) Remark("only the newest 200,000 events were read");
  EventListText rest;
  std::vector<JudgedEvent>& events = judged.events;
  std::vector<probe::SideRow> rows;
  for (const JudgedEvent& event : events) rows.push_back({event.row, false});
  rest.facts = probe::FactsOf(rows);
  if (!arguments.Has("--all")) {
    rest.set_aside =
        std::erase_if(events, [](const JudgedEvent& event) { return event.verdict.IsSetAside(); });
  }
  const auto limit = static_cast<std::size_t>(*arguments.Number("--limit"));
  if (limit != 0 && events.size() > limit) {
    rest.older = events.size() - limit;
    events.resize(limit);
  }
  const Output output = OutputOf(arguments);
  if (output.json) {
    FIELDCOST_TRY(WriteStdout(EventsJson(events, rest)));
  } else {
    FIELDCOST_TRY(WritePaged(EventTable(events, rest, output.style), output));
  }
  return 0;
}

command::Option TimeOption(std::string_view names, std::string_view help) {
  return {.names = names, .value = "TIME", .help = help, .check = CheckTime};
}

}  // namespace

command::Command ProbeListCommand() {
  static_assert(kLimit == 40);
  command::Command list{
      .name = "list",
      .summary = "The events on this machine, newest first",
      .help =
          R"(An event is named by a prefix of its run's ID and its number, as in the table. Events that say
nothing about the program are set aside and not listed; --all shows them with the reason: points
were lost, the event is not over, the machine slept meanwhile; among 8 or more, it took far longer or
shorter than others with its label, program, build, tags and points (|log2 - median| > 5
deviations); or it was set aside by hand (fieldcost probe mark). Examples:
  fieldcost probe list --label index_open --since 2d
  fieldcost probe list --tag cold --build 1.3 --all
  fieldcost probe list --json | jq -r '.events[] | [.label, .total_ns] | @tsv')",
      .options = {ProbeLabelOption()},
      .handler = RunProbeList,
      .without = {"--csv"}};
  AddProbeFilters(list);
  list.options.push_back(TimeOption("--since", "Begun then or later: 2026-11-20, 2h, 3d (ago)"));
  list.options.push_back(TimeOption("--until", "Begun before then"));
  list.options.push_back({.names = "--all", .help = "Include events set aside, with the reason"});
  list.options.push_back({.names = "--limit",
                          .value = "N",
                          .help = "At most N events; 0 = all",
                          .default_text = "40",
                          .check = command::CheckNumber});
  list.options.push_back(ProbeDbOption());
  return list;
}

}  // namespace fieldcost::cli
