// Merges lab tables. Everything is sorted by key, and entries with equal keys are added by
// operations whose order does not matter.
#include <algorithm>
#include <map>
#include <utility>

#include "common/base/check.h"
#include "common/wire/lab_table.h"
#include "common/wire/wire_limits.h"

namespace fieldcost::wire {
namespace {

void Increase(std::uint64_t& number, std::uint64_t by) {
  bool saturated = false;
  number = stats::SaturatingAdd(number, by, saturated);
}

void Add(const LabStack& node, LabStack& sum) {
  Increase(sum.calls, node.calls);
  Increase(sum.bytes, node.bytes);
}

void Add(const stats::StatRow& row, stats::StatRow& sum) {
  sum.histogram.Merge(row.histogram);
  sum.scalars.Merge(row.scalars);
}

// A metric that is unknown in one is unknown in the sum.
void AddTotals(const std::vector<LabTotal>& totals, std::vector<LabTotal>& sum) {
  std::erase_if(sum, [&totals](const LabTotal& one) {
    return std::none_of(totals.begin(), totals.end(),
                        [&one](const LabTotal& other) { return other.metric == one.metric; });
  });
  for (const LabTotal& total : totals) {
    const auto place = std::find_if(sum.begin(), sum.end(), [&total](const LabTotal& one) {
      return one.metric == total.metric;
    });
    if (place == sum.end()) continue;
    Increase(place->least, total.least);
    Increase(place->most, total.most);
  }
}

void Add(const LabApi& api, LabApi& sum) {
  sum.is_own |= api.is_own;
  Increase(sum.calls, api.calls);
  Increase(sum.first_call_bytes, api.first_call_bytes);
  Increase(sum.other_bytes, api.other_bytes);
  AddTotals(api.totals, sum.totals);
  sum.log_cost.Merge(api.log_cost);
  for (const stats::ShapeArgument& argument : api.arguments) {
    const auto place = std::lower_bound(
        sum.arguments.begin(), sum.arguments.end(), argument.number,
        [](const stats::ShapeArgument& each, unsigned number) { return each.number < number; });
    if (place == sum.arguments.end() || place->number != argument.number) {
      sum.arguments.insert(place, argument);
    } else {
      place->sums.Merge(argument.sums);
    }
  }
}

const stats::RowKey& KeyOf(const stats::StatRow& row) { return row.key; }
const stats::ApiKey& KeyOf(const LabApi& api) { return api.api; }

// Returns the entries in `member` of all tables, ascending, with entries of equal keys added.
template <typename Item>
std::vector<Item> Sum(std::span<const LabTable> tables, std::vector<Item> LabTable::*member) {
  std::vector<const Item*> items;  // not copies: they are large
  for (const LabTable& table : tables) {
    for (const Item& item : table.*member) items.push_back(&item);
  }
  std::sort(items.begin(), items.end(),
            [](const Item* a, const Item* b) { return KeyOf(*a) < KeyOf(*b); });
  std::vector<Item> sums;
  for (const Item* item : items) {
    if (!sums.empty() && KeyOf(sums.back()) == KeyOf(*item)) {
      Add(*item, sums.back());
    } else {
      sums.push_back(*item);
    }
  }
  return sums;
}

// For each API of the table, its index in the sum, which contains all of them.
std::vector<std::uint32_t> IndicesIn(const std::vector<LabApi>& sum, const LabTable& table) {
  std::vector<std::uint32_t> indices;
  auto place = sum.begin();
  for (const LabApi& api : table.apis) {
    place =
        std::find_if(place, sum.end(), [&api](const auto& each) { return each.api == api.api; });
    FIELDCOST_CHECK(place != sum.end());
    indices.push_back(static_cast<std::uint32_t>(place - sum.begin()));
  }
  return indices;
}

void AppendStacks(const std::vector<LabStack>& stacks, const std::vector<std::uint32_t>& indices,
                  std::vector<LabStack>& all) {
  const auto first = static_cast<std::uint32_t>(all.size());
  for (LabStack node : stacks) {
    node.api = indices[node.api];
    if (node.parent != LabStack::kRoot) node.parent += first;
    all.push_back(node);
  }
}

Result<std::vector<LabPart>> UniteParts(std::span<const LabTable> tables) {
  std::vector<LabPart> parts;
  for (const LabTable& table : tables) {
    parts.insert(parts.end(), table.parts.begin(), table.parts.end());
  }
  std::sort(parts.begin(), parts.end(),
            [](const LabPart& a, const LabPart& b) { return a.content_hash < b.content_hash; });
  const auto twice = std::adjacent_find(
      parts.begin(), parts.end(),
      [](const LabPart& a, const LabPart& b) { return a.content_hash == b.content_hash; });
  if (twice != parts.end()) {
    constexpr std::size_t kShownDigits = 12;
    return Fail(ErrorCode::kInvalidArgument, "measurement {} ({}) is in two of the tables",
                twice->name, twice->content_hash.substr(0, kShownDigits));
  }
  return parts;
}

Result<LabTable> Merge(std::span<const LabTable> tables) {
  for (const LabTable& table : tables) {
    if (const Status status = Validate(table); !status) {
      return Fail(ErrorCode::kInvalidArgument, "{}", status.error().message);
    }
  }
  LabTable sum;
  FIELDCOST_ASSIGN(sum.parts, UniteParts(tables));
  sum.rows = Sum(tables, &LabTable::rows);
  sum.apis = Sum(tables, &LabTable::apis);
  std::vector<LabStack> stacks;
  for (const LabTable& table : tables) {
    const std::vector<std::uint32_t> indices = IndicesIn(sum.apis, table);
    AppendStacks(table.stacks, indices, stacks);
    if (stacks.size() > kMaxLabStacks) stacks = SortStacks(stacks);
    if (stacks.size() > kMaxLabStacks) {
      return Fail(ErrorCode::kTooLarge, "more than {} stacks", kMaxLabStacks);
    }
    for (const auto& [outer, inner] : table.pairs) {
      sum.pairs.emplace_back(indices[outer], indices[inner]);
    }
  }
  sum.stacks = SortStacks(stacks);
  std::sort(sum.pairs.begin(), sum.pairs.end());
  sum.pairs.erase(std::unique(sum.pairs.begin(), sum.pairs.end()), sum.pairs.end());
  // A sum of valid tables can be invalid only because it is too large.
  if (const Status status = Validate(sum); !status) {
    return Fail(ErrorCode::kTooLarge, "{}", status.error().message);
  }
  return sum;
}

}  // namespace

std::vector<LabStack> SortStacks(const std::vector<LabStack>& stacks) {
  // Indices into `sums` by place in the tree; nodes at the same place share one entry.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> places;  // parent, API
  std::vector<std::uint32_t> firsts(stacks.size());
  std::vector<LabStack> sums;
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    LabStack node = stacks[i];
    FIELDCOST_CHECK(node.parent == LabStack::kRoot || node.parent < i);
    if (node.parent != LabStack::kRoot) node.parent = firsts[node.parent];
    const auto [place, is_new] =
        places.try_emplace({node.parent, node.api}, static_cast<std::uint32_t>(sums.size()));
    firsts[i] = place->second;
    if (is_new) {
      sums.push_back(node);
    } else {
      Add(node, sums[place->second]);
    }
  }
  std::vector<LabStack> sorted;
  // Nodes that remain to be written: index into `sums`, and the parent's index in `sorted`.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> left;
  const auto push_children = [&](std::uint32_t of, std::uint32_t parent) {
    auto end = places.upper_bound({of, LabStack::kRoot});
    for (auto child = end; child != places.begin();) {
      --child;
      if (child->first.first != of) break;
      left.emplace_back(child->second, parent);
    }
  };
  push_children(LabStack::kRoot, LabStack::kRoot);
  while (!left.empty()) {
    const auto [node, parent] = left.back();
    left.pop_back();
    sorted.push_back(sums[node]);
    sorted.back().parent = parent;
    push_children(node, static_cast<std::uint32_t>(sorted.size() - 1));
  }
  return sorted;
}

Result<LabTable> MergeLabTables(std::span<const LabTable> tables) {
  Result<LabTable> sum = Merge(tables);
  if (!sum) return Within(std::move(sum).error(), "merging lab tables");
  return sum;
}

}  // namespace fieldcost::wire
