#include "aggregator/store/accepted_rows.h"

#include <algorithm>
#include <array>

#include "aggregator/store/row_index.h"
#include "aggregator/store/store_row_codec.h"
#include "common/stats/agent_weights.h"

namespace fieldcost::store {
namespace {

void Weigh(std::span<CompactBucket> buckets) {
  std::array<std::uint64_t, shm::kBucketSlots> counts;
  std::array<std::uint64_t, shm::kBucketSlots> shares;
  for (std::size_t i = 0; i < buckets.size(); ++i) counts[i] = buckets[i].sums.count;
  stats::ApportionCounts(std::span(counts).first(buckets.size()), stats::kWeightOne,
                         std::span(shares).first(buckets.size()));
  for (std::size_t i = 0; i < buckets.size(); ++i) buckets[i].set_weight(shares[i]);
}

}  // namespace

void AcceptedRows::Clear() {
  keys_.clear();
  buckets_.clear();
  entries_.clear();
}

void AcceptedRows::Add(const stats::RowKey& key, const stats::CostHistogram& histogram,
                       Contribution contribution) {
  key_.clear();
  AppendRowKey(key, key_);
  Add(std::string_view(key_), histogram, contribution);
}

void AcceptedRows::Add(std::string_view key_bytes, const stats::CostHistogram& histogram,
                       Contribution contribution) {
  Entry& entry = entries_.emplace_back();
  entry.first_key_byte = static_cast<std::uint32_t>(keys_.size());
  entry.key_bytes = static_cast<std::uint32_t>(key_bytes.size());
  entry.key_hash = RowIndex::HashOf(key_bytes);
  entry.first_bucket = static_cast<std::uint32_t>(buckets_.size());
  entry.untimed = histogram.untimed();
  entry.saturated = histogram.saturated();
  keys_.append(key_bytes);
  histogram.ForEachUsed([this](unsigned slot, const stats::Bucket& bucket) {
    if (bucket.count != 0) buckets_.emplace_back(static_cast<std::uint8_t>(slot), bucket);
  });
  entry.bucket_count = static_cast<std::uint32_t>(buckets_.size()) - entry.first_bucket;
  if (contribution == Contribution::kNone) return;
  std::uint64_t calls = 0;
  stats::Uint128 sum = 0;
  for (std::size_t i = entry.first_bucket; i < buckets_.size(); ++i) {
    calls += buckets_[i].sums.count;
    sum += buckets_[i].sums.sum;
  }
  entry.sizes = stats::SizesOf(calls, sum);
  entry.has_sizes = true;
  entry.scalars = stats::ScalarsOf(histogram);
  Weigh(std::span(buckets_).subspan(entry.first_bucket));
}

AcceptedRows::Row AcceptedRows::row(std::size_t index) const {
  const Entry& entry = entries_[index];
  return {.key = std::string_view(keys_).substr(entry.first_key_byte, entry.key_bytes),
          .key_hash = entry.key_hash,
          .sums = {.scalars = &entry.scalars,
                   .buckets = std::span(buckets_).subspan(entry.first_bucket, entry.bucket_count),
                   .sizes = std::span(entry.sizes).first(entry.has_sizes ? 2 : 0),
                   .untimed = entry.untimed,
                   .saturated = entry.saturated}};
}

std::string AcceptedRows::bytes() const {
  std::string bytes(1, static_cast<char>(RecordKind::kAdded));
  std::string value;
  std::string_view previous_key;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Row added = row(i);
    const auto shared = static_cast<std::size_t>(
        std::mismatch(added.key.begin(), added.key.end(), previous_key.begin(), previous_key.end())
            .first -
        added.key.begin());
    AppendVarint(shared, bytes);
    AppendVarint(added.key.size() - shared, bytes);
    bytes.append(added.key.substr(shared));
    value.clear();
    AppendRowValue(added.sums, value);
    AppendVarint(value.size(), bytes);
    bytes.append(value);
    previous_key = added.key;
  }
  return bytes;
}

}  // namespace fieldcost::store
