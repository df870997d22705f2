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
// the tests of the writer do not depend on the product's reader.
struct CellTotals {
  std::uint64_t count = 0;    // timed or stood for
  std::uint64_t untimed = 0;  // of these, stood for
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

// The run files in `directory`, in order of name. The processes must have ended.
std::vector<RunFileContent> ReadRunFiles(const std::filesystem::path& directory);

// Where programs store their run files under an agent with this state directory.
std::filesystem::path RunDirectoryOf(const std::filesystem::path& state_dir);

// The number of runs with that reason in this state directory's skip file.
std::uint64_t SkippedRuns(const std::filesystem::path& directory, shm::Skip reason);

// Makes a state directory that is the memory directory, too, with runs/, a skip file (if there is
// none) and a policy file that lets these modules be measured: no limits, every run measures one
// API permanently, every call is timed, each API as likely as the next.
struct TestPolicy {
  std::vector<std::string> modules;
  std::vector<shm::WeightEntry> weights;  // in any order
  std::vector<std::string> documented;    // names; empty: nothing is known of documentation
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
  // Nanoseconds a tick of the time stamp counter is taken for, times 2^32: any will do where only
  // calls are counted, a big one makes time fly.
  std::uint64_t tsc_to_ns_multiplier = (std::uint64_t{1} << 32) / 2;
  std::uint32_t version = shm::kPolicyVersion;
  std::filesystem::path memory_root;  // of a memory directory elsewhere; empty: as above
  std::filesystem::path memory_dir;   // in it
};
void MakeStateDirectory(const std::filesystem::path& directory, const TestPolicy& policy);

}  // namespace fieldcost::testing
