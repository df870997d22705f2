#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/shm/run_file.h"

namespace fieldcost::testing {

// One API's sums in one metric, over all threads of a run file: as simple as a reader can be, so
// that the tests of the writer do not lean on the product's reader.
struct CellTotals {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
  std::uint64_t sum_of_squares = 0;
  std::uint64_t abandoned = 0;
  std::uint64_t nested = 0;
  std::map<unsigned, std::uint64_t> slots;  // bucket slot -> count
};

struct RunFileContent {
  shm::RunHeader header{};
  std::vector<shm::Pick> picks;
  std::map<std::pair<std::string, shm::Metric>, CellTotals> totals;  // by symbol

  const CellTotals& Of(const std::string& symbol, shm::Metric metric) const;
};

// The run files in `directory`, in order of name. The processes must have ended.
std::vector<RunFileContent> ReadRunFiles(const std::filesystem::path& directory);

// Makes a state directory with runs/ and a policy file that lets these modules be measured.
struct TestPolicy {
  std::vector<std::string> modules;
  std::uint32_t collection_enabled = 1;
  std::uint32_t selection_per_65536 = 65536;
  std::uint32_t picks_per_run = 1;
  std::uint32_t max_run_files = 0;
  std::uint32_t alloc_per_65536 = 65536;
  std::uint32_t version = shm::kPolicyVersion;
};
void MakeStateDirectory(const std::filesystem::path& directory, const TestPolicy& policy);

}  // namespace fieldcost::testing
