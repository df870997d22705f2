// `fieldcost probe show`: an event step by step, or all events of a run.
#include <algorithm>

#include "common/base/text.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/probe/event_text.h"
#include "tools/cli/probe/local_events.h"
#include "tools/cli/probe/probe_json.h"
#include "tools/cli/probe/probe_options.h"
#include "tools/cli/terminal/pager.h"
#include "tools/cli/terminal/terminal_io.h"

namespace fieldcost::cli {
namespace {

constexpr std::size_t kMostShown = 200;  // events of one run

bool AreOfOneRun(const std::vector<JudgedEvent>& events) {
  return std::ranges::all_of(events, [&](const JudgedEvent& event) {
    return event.row.id.run == events.front().row.id.run;
  });
}

// One event, or all events of a run in the order in which they began.
Result<std::vector<JudgedEvent>> Find(const LocalEvents& local, const std::string& text) {
  FIELDCOST_ASSIGN(EventSelection selection, ParseEventSelection(text));
  FIELDCOST_ASSIGN(JudgedEvents judged, LoadJudged(local, selection));
  if (judged.events.size() <= 1 || selection.names.size() != 1 || !AreOfOneRun(judged.events)) {
    FIELDCOST_ASSIGN(JudgedEvent one, FindEvent(local, text));
    return std::vector<JudgedEvent>{std::move(one)};
  }
  std::ranges::reverse(judged.events);
  if (judged.events.size() > kMostShown) {
    Remark(fmt::format("showing the first {} of {} events", kMostShown, judged.events.size()));
    judged.events.resize(kMostShown);
  }
  return std::move(judged.events);
}

Result<int> RunProbeShow(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const LocalEvents local, OpenLocalEvents(arguments.Text("--db")));
  FIELDCOST_ASSIGN(const std::vector<JudgedEvent> found, Find(local, arguments.Text("event")));
  std::vector<ShownEvent> shown;
  for (const JudgedEvent& judged : found) {
    FIELDCOST_ASSIGN(probe::Event event, local.store.Get(judged.row.key()));
    shown.push_back({judged, std::move(event)});
  }
  const Output output = OutputOf(arguments);
  if (output.json) {
    FIELDCOST_TRY(WriteStdout(ShownEventsJson(shown)));
    return 0;
  }
  std::string text;
  for (const auto& [judged, event] : shown) {
    if (!text.empty()) text += '\n';
    text += EventText(judged, event, arguments.Has("--stacks"), output.style);
  }
  FIELDCOST_TRY(WritePaged(text, output));
  return 0;
}

}  // namespace

command::Command ProbeShowCommand() {
  return {
      .name = "show",
      .summary = "Show an event step by step, or all events of a run",
      .help =
          R"(A step goes from one point to the next and is named after the point that ends it. Steps add up to the
time from the first point to the last. Steps that end on another thread are marked. Examples:
  fieldcost probe show last
  fieldcost probe show 5be2c60e.3 --stacks
  fieldcost probe show 5be2c60e
  fieldcost probe show last --json | jq '.events[0].steps[] | {name, ns}')",
      .options = {ProbeSelectionOperand("event", "EVENT",
                                        "Name, as in the list, or last; a prefix of a "
                                        "run's ID shows all of its events"),
                  {.names = "--stacks", .help = "Show the stack of each point below its step"},
                  ProbeDbOption()},
      .handler = RunProbeShow,
      .without = {"--csv"}};
}

}  // namespace fieldcost::cli
