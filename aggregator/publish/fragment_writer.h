#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "aggregator/publish/collapse.h"
#include "aggregator/publish/fragment_bits.h"
#include "aggregator/store/store.h"
#include "common/base/result.h"
#include "common/wire/metadata.h"

namespace fieldcost::publish {

struct FragmentWriterOptions {
  std::filesystem::path directory;  // contains fragments/; also for temporary files
  std::uint32_t contribution_threshold = 0;
  std::uint64_t rows_per_pass = 0;            // in memory at a time
  std::optional<PreviousFragments> previous;  // of the last publication
};

struct WrittenFragments {
  unsigned bits = 0;
  std::vector<wire::FragmentReference> fragments;  // 2^bits
  CollapseCounts counts;
  std::uint64_t crowded_out = 0;  // rows left out because their fragment is full
  // Some rows of the libraries that claim most of the room in full fragments; at most
  // kMaxCrowdingSample.
  std::vector<stats::RowKey> crowding;
  std::uint64_t new_fragments = 0;  // written; the others existed before
};

// Writes the publishable rows of a snapshot as fragments, files named by the hash of their
// contents. Reads the store once. All files are durable on return. Uses its own threads with the
// lowest priority for processor and disk, so that batches go first.
Result<WrittenFragments> WriteFragments(const store::Store::Snapshot& snapshot,
                                        const FragmentWriterOptions& options);

}  // namespace fieldcost::publish
