#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/runs/run_file_reader.h"
#include "common/base/result.h"
#include "common/shm/lab_file.h"
#include "common/stats/api_key.h"
#include "common/stats/cost_histogram.h"
#include "common/stats/log_sums.h"

namespace fieldcost::lab {

// The bytes that calls have left allocated (shm::LabLive), over parts of a
// thread's calls.
struct LiveBytes {
  std::uint64_t calls = 0;  // of the last part
  std::int64_t middle = 0;  // in about the second quarter of the calls
  std::int64_t last = 0;    // in about the second half
  void Merge(const LiveBytes& other);
  bool operator==(const LiveBytes&) const = default;
};

// One program's calls of one API, over all its threads.
struct LabFileApi {
  stats::ApiKey api;  // without the package version
  std::string path;   // of its library
  std::uint64_t hash = 0;
  bool sighted = false;            // called, but not in the plan
  std::uint32_t not_measured = 0;  // shm::NotMeasured: which values below are missing
  std::uint64_t calls = 0;
  std::uint64_t nested = 0;  // of these, inner calls, which were not recorded
  std::uint64_t abandoned = 0;
  std::optional<std::uint64_t> first_call_ns;
  std::optional<std::uint64_t> first_call_bytes;
  // From a map run.
  stats::CostHistogram inclusive;
  stats::CostHistogram exclusive;
  stats::CostHistogram sizes;
  // Bytes transferred by calls, in the order of shm::LabIoBlock. Empty if not measured.
  std::array<stats::CostHistogram, shm::kLabIoMetrics> moved;
  std::array<std::array<std::uint64_t, shm::kBucketSlots>, shm::kLabArguments> arguments{};
  std::optional<LiveBytes> live;  // nullopt: not measured
  // From a timing run.
  stats::CostHistogram time;
  stats::CostHistogram cycles;
  stats::LogSums log_time;
  stats::InputSums by_argument;
};

// A node of the tree of APIs that called each other; parents come before their children.
struct LabFileNode {
  static constexpr std::uint32_t kRoot = ~std::uint32_t{0};
  std::uint32_t parent = kRoot;  // index of another node
  std::uint32_t api = 0;         // index into `apis`
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
};

// The content of one program's lab file.
struct LabFile {
  std::string program;
  std::uint32_t mode = 0;
  bool attached = false;  // until the program ended
  std::uint64_t lost_calls = 0;
  std::uint64_t lost_records = 0;
  std::uint64_t lost_nodes = 0;
  std::uint64_t moved_calls = 0;
  std::uint32_t candidates = 0;
  std::uint32_t left_out = 0;
  std::vector<std::string> left_out_names;  // the first few, "library!symbol"; may be truncated
  std::uint32_t bias_ps = 0;
  std::uint32_t refused = 0;     // blocks with impossible values, which were skipped
  std::vector<LabFileApi> apis;  // the APIs that were called
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;  // (outer, inner), indices of apis
  std::vector<LabFileNode> nodes;
};

// Parses a program's lab file, which is untrusted and may be incomplete if the program is still
// running. Errors: kUnavailable if the program has not finished creating it; kCorrupt;
// kUnsupported.
Result<LabFile> ReadLabFile(const runs::RunBytes& untrusted_bytes);

}  // namespace fieldcost::lab
