#include "tests/aggregator/publish/span_attack.h"

#include <algorithm>
#include <map>
#include <utility>

namespace fieldcost::publish {
namespace {

using Row = std::vector<std::uint64_t>;
using Agents = std::set<std::size_t>;

constexpr std::uint64_t kPrime = (std::uint64_t{1} << 31) - 1;

std::uint64_t Inverse(std::uint64_t value) {
  std::uint64_t result = 1;
  for (std::uint64_t exponent = kPrime - 2; exponent != 0; exponent >>= 1) {
    if ((exponent & 1U) != 0) result = result * value % kPrime;
    value = value * value % kPrime;
  }
  return result;
}

// Eliminates these columns. Returns the number of independent rows among them; these are moved to
// the front, and all others become zero there.
std::size_t Eliminate(const std::vector<std::size_t>& columns, std::vector<Row>& rows) {
  std::size_t rank = 0;
  for (const std::size_t column : columns) {
    if (rank == rows.size()) break;
    const auto pivot = std::find_if(rows.begin() + static_cast<std::ptrdiff_t>(rank), rows.end(),
                                    [&](const Row& row) { return row[column] != 0; });
    if (pivot == rows.end()) continue;
    std::swap(rows[rank], *pivot);
    const std::uint64_t inverse = Inverse(rows[rank][column]);
    for (std::size_t i = rank + 1; i < rows.size(); ++i) {
      if (rows[i][column] == 0) continue;
      const std::uint64_t factor = kPrime - rows[i][column] * inverse % kPrime;
      for (std::size_t j = 0; j < rows[i].size(); ++j) {
        if (rows[rank][j] != 0) rows[i][j] = (rows[i][j] + factor * rows[rank][j]) % kPrime;
      }
    }
    ++rank;
  }
  return rank;
}

// Batches that are in the same sums have the same factor in every combination.
struct Column {
  std::vector<bool> is_in;  // per sum
  Agents agents;
};

std::vector<Column> ColumnsOf(const std::set<std::set<std::size_t>>& sums,
                              const std::vector<std::size_t>& agent_of_batch) {
  std::map<std::vector<bool>, Agents> agents_of;
  for (std::size_t batch = 0; batch < agent_of_batch.size(); ++batch) {
    std::vector<bool> is_in;
    bool is_anywhere = false;
    for (const auto& sum : sums) {
      is_in.push_back(sum.contains(batch));
      is_anywhere = is_anywhere || is_in.back();
    }
    if (is_anywhere) agents_of[std::move(is_in)].insert(agent_of_batch[batch]);
  }
  std::vector<Column> columns;
  for (auto& [is_in, agents] : agents_of) columns.push_back({is_in, std::move(agents)});
  return columns;
}

// The combinations of the rows that are zero in all columns that contain the agent.
std::vector<Row> Without(std::size_t agent, const std::vector<Column>& columns,
                         std::vector<Row> rows) {
  std::vector<std::size_t> of_agent;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].agents.contains(agent)) of_agent.push_back(i);
  }
  rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(Eliminate(of_agent, rows)));
  return rows;
}

// Whether some combination of the rows, not zero, contains none of the agents from `first` on,
// except at most `room` of them, which are added to `chosen`. The rows are independent.
bool Isolates(const std::vector<std::size_t>& agents, std::size_t first, std::uint64_t room,
              const std::vector<Column>& columns, const std::vector<Row>& rows, Agents& chosen) {
  if (rows.empty()) return false;
  if (first == agents.size()) return true;
  const std::vector<Row> left = Without(agents[first], columns, rows);
  if (Isolates(agents, first + 1, room, columns, left, chosen)) return true;
  if (room == 0 || left.size() == rows.size()) return false;
  chosen.insert(agents[first]);
  if (Isolates(agents, first + 1, room - 1, columns, rows, chosen)) return true;
  chosen.erase(agents[first]);
  return false;
}

}  // namespace

std::optional<Agents> SpanAttack(const std::set<std::set<std::size_t>>& sums,
                                 const std::vector<std::size_t>& agent_of_batch,
                                 std::uint64_t threshold) {
  const std::vector<Column> columns = ColumnsOf(sums, agent_of_batch);
  std::vector<Row> rows(sums.size(), Row(columns.size(), 0));
  std::vector<std::size_t> all;
  std::vector<std::size_t> large;  // columns that no combination for too few agents contains
  for (std::size_t j = 0; j < columns.size(); ++j) {
    all.push_back(j);
    if (columns[j].agents.size() >= threshold) large.push_back(j);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i][j] = columns[j].is_in[i] ? 1 : 0;
  }
  // The combinations that are zero in all large columns.
  rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(Eliminate(large, rows)));
  rows.resize(Eliminate(all, rows));
  if (rows.empty()) return std::nullopt;

  Agents involved;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const bool is_used =
        std::any_of(rows.begin(), rows.end(), [&](const Row& row) { return row[j] != 0; });
    if (is_used) involved.insert(columns[j].agents.begin(), columns[j].agents.end());
  }
  const std::vector<std::size_t> agents(involved.begin(), involved.end());
  Agents chosen;
  if (!Isolates(agents, 0, threshold - 1, columns, rows, chosen)) return std::nullopt;
  return chosen;
}

}  // namespace fieldcost::publish
