#include "tools/cli/probe/sides.h"

#include <algorithm>
#include <set>

#include "common/base/text.h"

namespace fieldcost::cli {
namespace {

struct Chosen {
  LocalEvents local;
  std::vector<JudgedEvent> events;
};

Result<Chosen> Choose(const std::string& text, const std::string& label, const std::string& db) {
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
  return Chosen{.local = std::move(local), .events = std::move(judged.events)};
}

Status AddTo(ProbeGroup& group, const Chosen& chosen, const JudgedEvent& event) {
  if (event.verdict.IsSetAside()) {
    ++group.set_aside;
    return {};
  }
  if (group.events.size() == kMostEventsOfSide) {
    ++group.older;
    return {};
  }
  FIELDCOST_ASSIGN(probe::Event whole, chosen.local.store.Get(event.row.id));
  group.events.push_back(std::move(whole));
  return {};
}

Status CheckApart(const Chosen& base, const Chosen& changed) {
  std::set<probe::EventId> ids;
  for (const JudgedEvent& event : base.events) ids.insert(event.row.id);
  const auto both = std::ranges::count_if(
      changed.events, [&](const JudgedEvent& event) { return ids.contains(event.row.id); });
  if (both == 0) return {};
  return Fail(ErrorCode::kInvalidArgument,
              "{} on both sides; narrow the selection, for example by build:BUILD",
              Counted(static_cast<std::uint64_t>(both), "event is", "events are"));
}

}  // namespace

Result<ProbeSides> LoadProbeSides(const std::string& base, const std::string& changed,
                                  const std::string& label, const std::string& db) {
  FIELDCOST_ASSIGN(const Chosen of_base, Choose(base, label, db));
  FIELDCOST_ASSIGN(const Chosen of_new, Choose(changed, label, db));
  FIELDCOST_TRY(CheckApart(of_base, of_new));
  ProbeSides sides;
  for (const JudgedEvent& event : of_base.events) {
    FIELDCOST_TRY(AddTo(sides.labels[event.row.label].base, of_base, event));
  }
  for (const JudgedEvent& event : of_new.events) {
    FIELDCOST_TRY(AddTo(sides.labels[event.row.label].changed, of_new, event));
  }
  return sides;
}

Result<std::vector<probe::Event>> LoadEvents(const std::string& selection, const std::string& db) {
  FIELDCOST_ASSIGN(const Chosen chosen, Choose(selection, "", db));
  std::vector<probe::Event> events;
  for (const JudgedEvent& event : chosen.events) {
    FIELDCOST_ASSIGN(probe::Event whole, chosen.local.store.Get(event.row.id));
    events.push_back(std::move(whole));
  }
  std::ranges::reverse(events);
  return events;
}

std::vector<ProbeComparison> CompareSides(const ProbeSides& sides, double least) {
  std::vector<ProbeComparison> comparisons;
  for (const auto& [label, both] : sides.labels) {
    comparisons.push_back(
        {.label = label,
         .base_set_aside = both.base.set_aside,
         .new_set_aside = both.changed.set_aside,
         .older = both.base.older + both.changed.older,
         .comparison = probe::Compare(both.base.events, both.changed.events, least)});
  }
  return comparisons;
}

probe::Change WorstOf(const std::vector<ProbeComparison>& comparisons) {
  for (const probe::Change change :
       {probe::Change::kSlower, probe::Change::kFaster, probe::Change::kNone}) {
    if (std::ranges::any_of(comparisons, [&](const ProbeComparison& each) {
          return each.comparison.total.change == change;
        })) {
      return change;
    }
  }
  return probe::Change::kTooLittle;
}

}  // namespace fieldcost::cli
