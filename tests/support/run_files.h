#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/shm/run_file.h"
#include "common/shm/skip_file.h"

namespace fieldcost::testing {

// One API's sums in one metric, over all threads of a run file. Read by a minimal reader, so that
// tests of the writer do not depend on the product's reader.
struct CellTotals {
  std::uint64_t count = 0;    // timed or represented
  std::uint64_t untimed = 0;  // the represented part
  std::uint64_t sum = 0;
  std::uint64_t sum_of_squares = 0;
  std::uint64_t abandoned = 0;
  std::uint64_t nested = 0;
  std::uint64_t sampled = 0;
  std::uint64_t timed() const { return count - untimed; }
  std::map<unsigned, std::uint64_t> slots;  // bucket slot -> count
};

struct RunFileContent {
  shm::RunHeader header{};
  std::vector<shm::Pick> picks;
  std::map<std::pair<std::string, shm::Metric>, CellTotals> totals;  // by symbol
  std::map<std::string, std::uint64_t> calls;  // by symbol, timed or not: the exact number

  const CellTotals& Of(const std::string& symbol, shm::Metric metric) const;
};

// The run files in `directory`, ordered by name. The processes must have ended.
std::vector<RunFileContent> ReadRunFiles(const std::filesystem::path& directory);

// The directory in which programs store their run files for an agent with this state directory.
std::filesystem::path RunDirectoryOf(const std::filesystem::path& state_dir);

// The number of runs with that reason in this state directory's skip file.
std::uint64_t SkippedRuns(const std::filesystem::path& directory, shm::Skip reason);

// Creates a state directory that is also the memory directory, with runs/, a skip file (if there is
// none) and a policy file that permits measuring these modules: no limits, every run measures one
// API permanently, every call is timed, and all APIs are equally likely.
struct TestPolicy {
  std::vector<std::string> modules;
  std::vector<shm::WeightEntry> weights;  // in any order
  std::vector<std::string> documented;    // names; empty: documentation unknown
  std::uint32_t documented_bytes = 64;    // if there are any
  std::uint32_t collection_enabled = 1;
  std::uint32_t selection_per_65536 = 65536;
  std::uint32_t picks_per_run = 1;
  std::uint32_t max_run_files = 0;
  std::uint32_t alloc_per_65536 = 65536;
  std::uint32_t io_per_65536 = 0;
  std::uint32_t cycles_per_65536 = 0;
  std::uint32_t default_weight = shm::kFullWeight;
  std::uint32_t max_leases = 0;
  std::uint32_t max_load_per_core_percent = 0;
  std::uint32_t max_cpu_pressure_percent = 0;
  std::uint32_t overhead_per_65536 = 0;
  std::uint32_t sampling_log2 = 0;
  std::uint32_t phase_seconds = 0;
  std::uint32_t max_phases = 1;
  std::uint64_t draw_seed = 0;
  std::uint32_t data_slots = 0;
  // Nanoseconds per tick of the time stamp counter, times 2^32. Any value will do if only calls are
  // counted; a large one speeds up time.
  std::uint64_t tsc_to_ns_multiplier = (std::uint64_t{1} << 32) / 2;
  std::uint32_t version = shm::kPolicyVersion;
  std::filesystem::path memory_root;  // of a separate memory directory; empty: as above
  std::filesystem::path memory_dir;   // below it
};
void MakeStateDirectory(const std::filesystem::path& directory, const TestPolicy& policy);

}  // namespace fieldcost::testing
