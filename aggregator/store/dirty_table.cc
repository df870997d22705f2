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

Status DirtyTable::AddBatch(std::string_view accepted_rows) {
  FIELDCOST_TRY(
      ForEachAcceptedRow(accepted_rows, [this](std::string_view key, const CompactRow& row) {
        key_.assign(key);
        const auto [place, inserted] = rows_.try_emplace(key_);
        CompactRow& sums = place->second;
        memory_bytes_ += inserted ? key.size() + kNodeOverheadBytes + sizeof(CompactRow) : 0;
        const std::size_t before = sums.buckets.capacity();
        sums.Add(row);
        memory_bytes_ += (sums.buckets.capacity() - before) * sizeof(CompactBucket);
        totals_.AddRow(row);
      }));
  ++totals_.batches;
  return {};
}

const CompactRow* DirtyTable::Find(std::string_view key) const {
  const auto place = rows_.find(std::string(key));
  return place == rows_.end() ? nullptr : &place->second;
}

}  // namespace fieldcost::store
