#include "aggregator/probe_server/pages/folded_steps.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace fieldcost::probe_server {
namespace {

std::uint64_t Sum(const std::vector<std::uint64_t>& values) {
  std::uint64_t sum = 0;
  for (const std::uint64_t ns : values) sum += ns == probe::kNoStep ? 0 : ns;
  return sum;
}

void AddTo(std::uint64_t& sum, std::uint64_t ns) {
  if (ns != probe::kNoStep) sum = (sum == probe::kNoStep ? 0 : sum) + ns;
}

// Whether a row is drawn separately, which applies to those with the greatest sums.
std::vector<bool> ChooseDrawn(const std::vector<std::uint64_t>& sums) {
  std::vector<bool> drawn(sums.size(), sums.size() <= kMaxDrawnSteps + 1);
  if (sums.size() <= kMaxDrawnSteps + 1) return drawn;
  std::vector<std::size_t> order(sums.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return sums[a] > sums[b]; });
  for (std::size_t i = 0; i < kMaxDrawnSteps; ++i) drawn[order[i]] = true;
  return drawn;
}

// One row per step that occurs in any of the events.
std::vector<FoldedSteps::Row> RowsOf(const std::vector<probe::Event>& events) {
  const probe::StepTable table = probe::Align(events);
  std::vector<FoldedSteps::Row> rows(table.names.size());
  std::unordered_map<std::string, std::size_t> row_of;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i] = {.name = table.names[i], .hits = std::vector<std::size_t>(events.size(), kNoHit)};
    for (std::size_t event = 0; event < events.size(); ++event) {
      rows[i].ns.push_back(table.ns[event][i]);
    }
    row_of[table.names[i]] = i;
  }
  for (std::size_t event = 0; event < events.size(); ++event) {
    for (const probe::Step& step : probe::StepsOf(events[event])) {
      const auto row = row_of.find(step.name);
      if (row != row_of.end()) rows[row->second].hits[event] = step.hit;
    }
  }
  return rows;
}

}  // namespace

std::uint64_t FoldedSteps::Total(std::size_t event) const {
  std::uint64_t total = 0;
  for (const Row& row : rows) total += row.ns[event] == probe::kNoStep ? 0 : row.ns[event];
  return total;
}

FoldedSteps FoldSteps(const std::vector<probe::Event>& events) {
  std::vector<FoldedSteps::Row> rows = RowsOf(events);
  std::vector<std::uint64_t> sums;
  for (const FoldedSteps::Row& row : rows) sums.push_back(Sum(row.ns));
  const std::vector<bool> drawn = ChooseDrawn(sums);

  FoldedSteps folded{.events = events.size()};
  FoldedSteps::Row others{.ns = std::vector<std::uint64_t>(events.size(), probe::kNoStep),
                          .hits = std::vector<std::size_t>(events.size(), kNoHit),
                          .is_sum = true};
  std::size_t summed = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (drawn[i]) {
      folded.rows.push_back(std::move(rows[i]));
      continue;
    }
    ++summed;
    for (std::size_t event = 0; event < events.size(); ++event) {
      AddTo(others.ns[event], rows[i].ns[event]);
    }
  }
  if (summed != 0) {
    others.name = "and " + std::to_string(summed) + " others";
    folded.rows.push_back(std::move(others));
  }
  return folded;
}

}  // namespace fieldcost::probe_server
