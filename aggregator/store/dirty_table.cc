#include "aggregator/store/dirty_table.h"

#include <limits>

#include "aggregator/store/row_codec.h"

namespace fieldcost::store {
namespace {

constexpr char kTotalsVersion = 1;

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

void DirtyTable::Merge(RowIndex& rows, std::string_view key, const CompactRow& row) {
  RowIndex::Row* found = rows.Find(key);
  if (found == nullptr) {
    found = &rows.Insert(key);
    memory_bytes_ += key.size() + RowIndex::kRowOverheadBytes;
  }
  const std::size_t before = found->sums.buckets.capacity();
  found->sums.Add(row);
  memory_bytes_ += (found->sums.buckets.capacity() - before) * sizeof(CompactBucket);
}

Status DirtyTable::AddRecord(std::string_view record) {
  FIELDCOST_ASSIGN(const InboxKind kind, InboxKindOf(record));
  RowIndex& rows = kind == InboxKind::kAdded ? added_ : removed_;
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
  if (const RowIndex::Row* added = added_.Find(key)) {
    sums.Add(added->sums);
    found = true;
  }
  if (const RowIndex::Row* removed = removed_.Find(key)) {
    FIELDCOST_TRY(sums.Subtract(removed->sums));
    found = true;
  }
  return {};
}

Status DirtyTable::ForEach(const Visitor& visit) const {
  for (const RowIndex::Row* added : added_.Sorted()) {
    const RowIndex::Row* removed = removed_.Find(added->key);
    FIELDCOST_TRY(visit(added->key, &added->sums, removed == nullptr ? nullptr : &removed->sums));
  }
  for (const RowIndex::Row* removed : removed_.Sorted()) {
    if (added_.Find(removed->key) == nullptr) {
      FIELDCOST_TRY(visit(removed->key, nullptr, &removed->sums));
    }
  }
  return {};
}

}  // namespace fieldcost::store
