#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "aggregator/bench/synthetic_batches.h"
#include "common/base/result.h"

// Synthetic batches in a file, in the benchmarks' own format.
namespace fieldcost::bench {

Status WriteTraffic(const std::filesystem::path& path, std::span<const SentBatch> batches);
// Reads at most `limit` batches.
Result<std::vector<SentBatch>> ReadTraffic(const std::filesystem::path& path, std::size_t limit);

}  // namespace fieldcost::bench
