#include "aggregator/probe_server/data/judged.h"

#include <map>
#include <tuple>

namespace fieldcost::probe_server {
namespace {

using Kind = std::tuple<std::string, std::string, std::string>;

Kind KindOf(const probe::EventRow& row) { return {row.label, row.program, row.build}; }

// Lists the events of a kind, starting at the newest of `rows`.
Result<std::vector<probe::EventRow>> Like(const probe::EventStore& events,
                                          const std::vector<const probe::EventRow*>& rows) {
  const probe::EventFilter filter{
      .label = rows.front()->label, .build = rows.front()->build, .program = rows.front()->program};
  FIELDCOST_ASSIGN(probe::EventPage newest, events.List(filter, std::nullopt, kJudgedWith));
  std::uint64_t last = rows.front()->begin_ns;
  for (const probe::EventRow* row : rows) last = std::min(last, row->begin_ns);
  if (!newest.next || newest.events.back().begin_ns <= last) return newest.events;
  FIELDCOST_ASSIGN(
      probe::EventPage older,
      events.List(filter, probe::EventCursor{.begin_ns = rows.front()->begin_ns + 1}, kJudgedWith));
  return older.events;
}

}  // namespace

Result<std::vector<probe::Judgement>> JudgeRows(const probe::EventStore& events,
                                                std::span<const probe::EventRow> rows) {
  std::map<Kind, std::vector<const probe::EventRow*>> kinds;
  for (const probe::EventRow& row : rows) kinds[KindOf(row)].push_back(&row);
  std::map<probe::EventKey, probe::Judgement> found;
  for (const auto& [kind, of_kind] : kinds) {
    FIELDCOST_ASSIGN(std::vector<probe::EventRow> all, Like(events, of_kind));
    const std::vector<probe::Judgement> verdicts = probe::Judge(all);
    for (std::size_t i = 0; i < all.size(); ++i) found[all[i].key()] = verdicts[i];
  }
  std::vector<probe::Judgement> verdicts;
  for (const probe::EventRow& row : rows) {
    const auto verdict = found.find(row.key());
    // Too far from the others: judging it alone still detects marks and incomplete events.
    verdicts.push_back(verdict != found.end() ? verdict->second
                                              : probe::Judge(std::span(&row, 1)).front());
  }
  return verdicts;
}

}  // namespace fieldcost::probe_server
