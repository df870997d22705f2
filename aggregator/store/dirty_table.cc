#include "aggregator/store/dirty_table.h"

#include <limits>

#include "aggregator/store/row_codec.h"

namespace fieldcost::store {
namespace {

constexpr char kTotalsVersion = 1;
// What a node of the map costs beside key bytes and row: links, hash, string object, allocator.
constexpr std::size_t kNodeOverheadBytes = 96;

}  // namespace

void Totals::AddRow(const CompactRow& row) {
  contributions += row.scalars.contributions;
  for (const CompactBucket& bucket : row.buckets) {
    calls += bucket.sums.count;
    sum += bucket.sums.sum;
    sum_of_squares += bucket.sums.sum_of_squares;
  }
}

void Totals::Add(const Totals& other) {
  batches += other.batches;
  contributions += other.contributions;
  calls += other.calls;
  sum += other.sum;
  sum_of_squares += other.sum_of_squares;
}

void Totals::Subtract(const Totals& other) {
  batches -= other.batches;
  contributions -= other.contributions;
  calls -= other.calls;
  sum -= other.sum;
  sum_of_squares -= other.sum_of_squares;
}

std::string Totals::Encode() const {
  std::string bytes(1, kTotalsVersion);
  for (const stats::Uint128 number :
       {stats::Uint128{batches}, stats::Uint128{contributions}, calls, sum, sum_of_squares}) {
    AppendVarint(number, bytes);
  }
  return bytes;
}

Result<Totals> Totals::Decode(std::string_view untrusted_bytes) {
  constexpr stats::Uint128 kMax64 = std::numeric_limits<std::uint64_t>::max();
  const Error malformed = Fail(ErrorCode::kCorrupt, "stored totals are malformed");
  if (untrusted_bytes.empty() || untrusted_bytes[0] != kTotalsVersion) return malformed;
  std::string_view rest = untrusted_bytes.substr(1);
  Totals totals;
  stats::Uint128 batches = 0;
  stats::Uint128 contributions = 0;
  if (!TakeVarint(rest, batches) || batches > kMax64 || !TakeVarint(rest, contributions) ||
      contributions > kMax64 || !TakeVarint(rest, totals.calls) || !TakeVarint(rest, totals.sum) ||
      !TakeVarint(rest, totals.sum_of_squares) || !rest.empty()) {
    return malformed;
  }
  totals.batches = static_cast<std::uint64_t>(batches);
  totals.contributions = static_cast<std::uint64_t>(contributions);
  return totals;
}

void DirtyTable::Merge(Rows& rows, std::string_view key, const CompactRow& row) {
  key_.assign(key);
  const auto [place, inserted] = rows.try_emplace(key_);
  CompactRow& sums = place->second;
  memory_bytes_ += inserted ? key.size() + kNodeOverheadBytes + sizeof(CompactRow) : 0;
  const std::size_t before = sums.buckets.capacity();
  sums.Add(row);
  memory_bytes_ += (sums.buckets.capacity() - before) * sizeof(CompactBucket);
}

Status DirtyTable::AddRecord(std::string_view record) {
  FIELDCOST_ASSIGN(const InboxKind kind, InboxKindOf(record));
  Rows& rows = kind == InboxKind::kAdded ? added_ : removed_;
  Totals part{.batches = 1};
  FIELDCOST_TRY(ForEachAcceptedRow(record, [&](std::string_view key, const CompactRow& row) {
    Merge(rows, key, row);
    part.AddRow(row);
  }));
  if (kind == InboxKind::kAdded) {
    totals_.Add(part);
  } else {
    totals_.Subtract(part);
  }
  ++records_;
  return {};
}

Status DirtyTable::Apply(std::string_view key, CompactRow& sums, bool& found) const {
  const std::string name(key);
  if (const auto place = added_.find(name); place != added_.end()) {
    sums.Add(place->second);
    found = true;
  }
  if (removed_.empty()) return {};
  if (const auto place = removed_.find(name); place != removed_.end()) {
    FIELDCOST_TRY(sums.Subtract(place->second));
    found = true;
  }
  return {};
}

Status DirtyTable::ForEach(const Visitor& visit) const {
  for (const auto& [key, row] : added_) {
    const auto removed = removed_.empty() ? removed_.end() : removed_.find(key);
    FIELDCOST_TRY(visit(key, &row, removed == removed_.end() ? nullptr : &removed->second));
  }
  for (const auto& [key, row] : removed_) {
    if (!added_.contains(key)) FIELDCOST_TRY(visit(key, nullptr, &row));
  }
  return {};
}

}  // namespace fieldcost::store
