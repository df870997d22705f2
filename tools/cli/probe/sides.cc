#include "tools/cli/probe/sides.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "common/base/text.h"

namespace fieldcost::cli {
namespace {

struct ChosenSide {
  EventSelection selection;
  LocalEvents local;
  std::vector<JudgedEvent> events;
};

Result<ChosenSide> Choose(const std::string& text, const std::string& label,
                          const std::string& db) {
  FIELDCOST_ASSIGN(EventSelection selection, ParseEventSelection(text));
  if (!label.empty()) selection.label = label;
  FIELDCOST_ASSIGN(LocalEvents local,
                   OpenLocalEvents(selection.file.empty() ? db : selection.file));
  FIELDCOST_ASSIGN(JudgedEvents judged, LoadJudged(local, selection));
  if (judged.events.empty()) {
    return Fail(ErrorCode::kNotFound,
                "no event matches {}{}{}; fieldcost probe list --all lists them",
                EscapeControl(text), label.empty() ? "" : " with label ", EscapeControl(label));
  }
  return ChosenSide{.selection = std::move(selection),
                    .local = std::move(local),
                    .events = std::move(judged.events)};
}

// REQUIRES: the store outlives it.
probe::GroupSide GroupSideOf(const probe::EventStore& store,
                             const std::vector<JudgedEvent>& events) {
  probe::GroupSide side;
  for (const JudgedEvent& event : events) {
    side.rows.push_back({event.row, event.verdict.IsSetAside()});
  }
  side.load = [&store](const probe::EventKey& key) { return store.Get(key); };
  return side;
}

Status CheckApart(const ChosenSide& base, const ChosenSide& changed) {
  std::set<probe::EventKey> keys;
  for (const JudgedEvent& event : base.events) keys.insert(event.row.key());
  const auto both = std::ranges::count_if(
      changed.events, [&](const JudgedEvent& event) { return keys.contains(event.row.key()); });
  if (both == 0) return {};
  return Fail(ErrorCode::kInvalidArgument,
              "{} on both sides; narrow the selection, for example by build:BUILD",
              Counted(static_cast<std::uint64_t>(both), "event is", "events are"));
}

// The events of these sessions, newest first within each, judged only among each other.
Result<std::vector<JudgedEvent>> EventsOfSessions(const LocalEvents& local,
                                                  const std::vector<std::uint64_t>& sessions,
                                                  const std::string& label) {
  std::vector<probe::EventRow> rows;
  for (const std::uint64_t session : sessions) {
    FIELDCOST_ASSIGN(probe::EventPage page, local.store.List({.label = label, .session = session},
                                                             std::nullopt, kMostEventsRead));
    std::ranges::move(page.events, std::back_inserter(rows));
  }
  if (rows.empty()) {
    return Fail(ErrorCode::kNotFound, "the programs passed no point{}{}",
                label.empty() ? "" : " of an event with label ", EscapeControl(label));
  }
  std::vector<probe::Judgement> verdicts = probe::Judge(rows);
  std::vector<JudgedEvent> events;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    events.push_back({std::move(rows[i]), std::move(verdicts[i])});
  }
  return events;
}

}  // namespace

Result<probe::ComparedSides> CompareSelections(const SelectedSides& sides) {
  FIELDCOST_ASSIGN(const ChosenSide base, Choose(sides.base, sides.label, sides.db));
  FIELDCOST_ASSIGN(const ChosenSide changed, Choose(sides.changed, sides.label, sides.db));
  FIELDCOST_TRY(CheckApart(base, changed));
  probe::GroupSide of_base = GroupSideOf(base.local.store, base.events);
  of_base.tags = base.selection.tags;
  of_base.program = base.selection.program;
  probe::GroupSide of_new = GroupSideOf(changed.local.store, changed.events);
  of_new.tags = changed.selection.tags;
  of_new.program = changed.selection.program;
  return probe::CompareGroups(of_base, of_new, sides.least);
}

Result<probe::ComparedSides> CompareRecorded(const RecordedSides& sides) {
  FIELDCOST_ASSIGN(const LocalEvents local, OpenLocalEvents(""));
  FIELDCOST_ASSIGN(const std::vector<JudgedEvent> base,
                   EventsOfSessions(local, sides.base, sides.label));
  FIELDCOST_ASSIGN(const std::vector<JudgedEvent> changed,
                   EventsOfSessions(local, sides.changed, sides.label));
  const probe::GroupSide of_base = GroupSideOf(local.store, base);
  probe::GroupSide of_new = GroupSideOf(local.store, changed);
  of_new.replaced_program = sides.new_program;
  of_new.as_program = sides.base_program;
  return probe::CompareGroups(of_base, of_new, sides.least);
}

Result<std::vector<probe::Event>> LoadEvents(const std::string& selection, const std::string& db) {
  FIELDCOST_ASSIGN(const ChosenSide chosen, Choose(selection, "", db));
  std::vector<probe::Event> events;
  for (const JudgedEvent& event : chosen.events) {
    FIELDCOST_ASSIGN(probe::Event whole, chosen.local.store.Get(event.row.key()));
    events.push_back(std::move(whole));
  }
  std::ranges::reverse(events);
  return events;
}

}  // namespace fieldcost::cli
