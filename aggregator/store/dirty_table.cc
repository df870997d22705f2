// The totals of all rows, as a checkpoint stores them (store_row_codec.cc defines varints).
//
//   totals := version:u8 = 1 varint batches, varint contributions, varint calls, varint sum,
//             varint sum_of_squares
#include "aggregator/store/dirty_table.h"

#include <limits>

#include "aggregator/store/store_row_codec.h"

namespace fieldcost::store {
namespace {

constexpr char kTotalsVersion = 1;

// How many rows ahead the memory of a row is prefetched.
constexpr std::size_t kSlotsAhead = 12;
constexpr std::size_t kRowsAhead = 8;
constexpr std::size_t kSumsAhead = 4;

}  // namespace

void Totals::AddRow(const RowSums& row) {
  contributions += row.scalars->contributions;
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

void DirtyTable::Merge(RowIndex& rows, std::string_view key, std::uint32_t key_hash,
                       const RowSums& sums) {
  RowIndex::Row* found = rows.Find(key, key_hash);
  if (found == nullptr) {
    found = &rows.Insert(key, key_hash);
    memory_bytes_ += key.size() + RowIndex::kRowOverheadBytes;
  }
  const std::size_t before = found->sums.MemoryBytes();
  found->sums.Add(sums);
  memory_bytes_ += found->sums.MemoryBytes() - before;
}

void DirtyTable::Add(const AcceptedRows& rows) {
  const std::size_t count = rows.row_count();
  Totals part{.batches = 1};
  for (std::size_t i = 0; i < count; ++i) {
    if (i + kSlotsAhead < count) added_.FetchSlot(rows.key_hash(i + kSlotsAhead));
    if (i + kRowsAhead < count) added_.FetchRow(rows.key_hash(i + kRowsAhead));
    if (i + kSumsAhead < count) added_.FetchSums(rows.key_hash(i + kSumsAhead));
    const AcceptedRows::Row row = rows.row(i);
    Merge(added_, row.key, row.key_hash, row.sums);
    part.AddRow(row.sums);
  }
  totals_.Add(part);
  ++records_;
}

Status DirtyTable::AddRecord(std::string_view record) {
  FIELDCOST_ASSIGN(const RecordKind kind, RecordKindOf(record));
  RowIndex& rows = kind == RecordKind::kAdded ? added_ : removed_;
  Totals part{.batches = 1};
  FIELDCOST_TRY(ForEachAcceptedRow(record, [&](std::string_view key, const CompactRow& row) {
    Merge(rows, key, RowIndex::HashOf(key), row.view());
    part.AddRow(row);
  }));
  if (kind == RecordKind::kAdded) {
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
  const std::vector<const RowIndex::Row*> removed = removed_.Sorted();
  auto next = removed.begin();
  for (const RowIndex::Row* added : added_.Sorted()) {
    for (; next != removed.end() && (*next)->key < added->key; ++next) {
      FIELDCOST_TRY(visit((*next)->key, nullptr, &(*next)->sums));
    }
    const bool both = next != removed.end() && (*next)->key == added->key;
    FIELDCOST_TRY(visit(added->key, &added->sums, both ? &(*next)->sums : nullptr));
    if (both) ++next;
  }
  for (; next != removed.end(); ++next) {
    FIELDCOST_TRY(visit((*next)->key, nullptr, &(*next)->sums));
  }
  return {};
}

}  // namespace fieldcost::store
