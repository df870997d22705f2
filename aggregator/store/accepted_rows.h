#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/store/compact_row.h"
#include "common/stats/api_key.h"
#include "common/stats/cost_histogram.h"

namespace fieldcost::store {

// Whether a row of a batch is its agent's first contribution to the row key.
enum class Contribution : std::uint8_t {
  kNone,  // its agent has sent this row key before
  kFirst,
};

// The accepted rows of one batch, ready to be added. Meant to be reused: it stops allocating once
// it has held a large batch. Not thread-safe; concurrent reads are allowed.
class AcceptedRows {
 public:
  // Valid until the next Add() or Clear().
  struct Row {
    std::string_view key;
    std::uint32_t key_hash = 0;  // RowIndex::HashOf()
    RowSums sums;
  };

  void Clear();
  // A first contribution gets scalars, weights and sizes in addition to its histogram. `key_bytes`
  // is a key made by AppendRowKey(). REQUIRES: `histogram` is valid and not empty.
  void Add(std::string_view key_bytes, const stats::CostHistogram& histogram,
           Contribution contribution);
  void Add(const stats::RowKey& key, const stats::CostHistogram& histogram,
           Contribution contribution);

  std::uint32_t row_count() const { return static_cast<std::uint32_t>(entries_.size()); }
  // REQUIRES: index < row_count()
  Row row(std::size_t index) const;
  std::uint32_t key_hash(std::size_t index) const { return entries_[index].key_hash; }

  // The rows as an inbox record of kind kAdded.
  std::string bytes() const;

 private:
  struct Entry {
    std::uint32_t first_key_byte = 0;
    std::uint32_t key_bytes = 0;
    std::uint32_t key_hash = 0;
    std::uint32_t first_bucket = 0;
    std::uint32_t bucket_count = 0;
    std::uint64_t untimed = 0;
    bool saturated = false;
    bool has_sizes = false;
    stats::ContributionScalars scalars;
    std::array<stats::SizeBucket, 2> sizes;
  };

  std::string keys_;
  std::vector<CompactBucket> buckets_;
  std::vector<Entry> entries_;
  std::string key_;
};

}  // namespace fieldcost::store
