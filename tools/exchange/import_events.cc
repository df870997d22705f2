// Reads one event per line, "1000 7 enter app!main": README.md has the grammar.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "common/base/text.h"
#include "tools/exchange/event_stacks.h"
#include "tools/exchange/importers.h"
#include "tools/exchange/text_lines.h"

namespace fieldcost::exchange {
namespace {

enum class What { kEnter, kExit, kLost };

struct EventLine {
  std::uint64_t ns;
  std::string_view untrusted_thread;
  What what;
  std::string_view untrusted_function;  // or the number of lost events
};

std::optional<EventLine> Parse(std::string_view untrusted_line) {
  EventLine event{};
  const auto ns = ParseUint64(TakeWord(untrusted_line));
  event.untrusted_thread = TakeWord(untrusted_line);
  const std::string_view what = TakeWord(untrusted_line);
  event.untrusted_function = Trim(untrusted_line);
  if (!ns) return std::nullopt;
  event.ns = *ns;
  if (what == "enter" && !event.untrusted_function.empty()) {
    event.what = What::kEnter;
  } else if (what == "exit") {
    event.what = What::kExit;
  } else if (what == "lost" && ParseUint64(event.untrusted_function)) {
    event.what = What::kLost;
  } else {
    return std::nullopt;
  }
  return event;
}

Status AddEvent(const EventLine& event, TreeBuilder& builder, EventStacks& stacks,
                Remarks& remarks) {
  if (event.what == What::kLost) {
    remarks.Count("events lost, according to the file", *ParseUint64(event.untrusted_function));
    return {};
  }
  // A word that is not a number is a name.
  recording::Thread named;
  const auto tid = ParseUint64(event.untrusted_thread);
  if (tid && *tid <= UINT32_MAX) {
    named.tid = static_cast<std::uint32_t>(*tid);
  } else {
    named.name = event.untrusted_thread;
  }
  FIELDCOST_ASSIGN(const std::uint32_t thread,
                   builder.timed().ThreadOf(std::string(event.untrusted_thread), std::move(named)));
  const bool is_any = event.untrusted_function.empty();
  tree::FrameId frame;
  if (!is_any) {
    FIELDCOST_ASSIGN(frame, builder.AddFrameText(event.untrusted_function));
  }
  if (event.what == What::kEnter) return stacks.Enter(thread, event.ns, frame);
  return stacks.Exit(thread, event.ns, frame, is_any);
}

}  // namespace

bool IsEventLine(std::string_view untrusted_line) { return Parse(untrusted_line).has_value(); }

Result<Built> ImportEvents(std::string_view untrusted_text, Remarks& remarks) {
  TreeBuilder builder;
  FIELDCOST_ASSIGN(const std::size_t wall, builder.AddMetric({.name = "wall"}));
  FIELDCOST_ASSIGN(const std::size_t calls,
                   builder.AddMetric({.name = "calls", .unit = tree::Unit::kCount}));
  EventStacks stacks(builder, remarks, wall, calls);
  TextLines lines(untrusted_text);
  while (!lines.at_end()) {
    FIELDCOST_ASSIGN(const std::string_view untrusted_line, lines.Take());
    if (Trim(untrusted_line).empty() || untrusted_line.starts_with('#')) continue;
    const std::optional<EventLine> event = Parse(untrusted_line);
    if (!event) {
      return Fail(ErrorCode::kCorrupt,
                  "line {} is not an event (\"NANOSECONDS THREAD enter|exit FUNCTION\")",
                  lines.number());
    }
    if (const Status added = AddEvent(*event, builder, stacks, remarks); !added) {
      return Within(added.error(), fmt::format("line {}", lines.number()));
    }
  }
  stacks.End();
  return builder.BuildTimed(remarks);
}

}  // namespace fieldcost::exchange
