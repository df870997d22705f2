#include "tests/support/run_files.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "common/base/check.h"

namespace fieldcost::testing {
namespace {

void AddCell(const shm::Cell& cell, CellTotals& totals) {
  totals.abandoned += cell.abandoned;
  totals.nested += cell.nested;
  for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
    // A dead writer may have left an update between commit and copy.
    const bool staged = cell.staged_slot == slot + 1;
    const shm::RunBucket& bucket = staged ? cell.staged : cell.buckets[slot];
    if (bucket.count == 0) continue;
    totals.count += bucket.count;
    totals.sum += bucket.sum;
    totals.sum_of_squares += bucket.sumsq_low;
    totals.slots[slot] += bucket.count;
  }
}

RunFileContent ReadOne(const std::filesystem::path& path) {
  RunFileContent content;
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(&content.header), sizeof content.header);
  content.picks.resize(content.header.pick_count);
  for (shm::Pick& pick : content.picks) file.read(reinterpret_cast<char*>(&pick), sizeof pick);
  for (std::uint32_t slot = 0; slot < content.header.thread_slots; ++slot) {
    for (std::uint32_t p = 0; p < content.header.pick_count; ++p) {
      std::uint32_t index = 0;
      for (unsigned number = 1; number <= shm::kMaxMetric; ++number) {
        const auto metric = static_cast<shm::Metric>(number);
        if ((content.picks[p].metrics & shm::BitOf(metric)) == 0) continue;
        shm::Cell cell{};
        file.seekg(static_cast<std::streamoff>(shm::CellOffset(
            content.header.pick_count, content.header.metrics_per_pick, slot, p, index++)));
        file.read(reinterpret_cast<char*>(&cell), sizeof cell);
        FIELDCOST_CHECK(file.good());
        AddCell(cell, content.totals[{content.picks[p].symbol, metric}]);
      }
    }
  }
  return content;
}

}  // namespace

const CellTotals& RunFileContent::Of(const std::string& symbol, shm::Metric metric) const {
  static const CellTotals none;
  const auto found = totals.find({symbol, metric});
  return found == totals.end() ? none : found->second;
}

std::vector<RunFileContent> ReadRunFiles(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() == shm::kRunFileSuffix) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<RunFileContent> contents;
  for (const auto& path : paths) contents.push_back(ReadOne(path));
  return contents;
}

void MakeStateDirectory(const std::filesystem::path& directory, const TestPolicy& policy) {
  std::filesystem::create_directories(directory / shm::kRunDirectoryName);
  std::vector<std::string> modules = policy.modules;
  std::sort(modules.begin(), modules.end());
  shm::PolicyHeader header{};
  std::memcpy(header.magic, shm::kPolicyMagic, sizeof header.magic);
  header.version = policy.version;
  header.size_bytes =
      static_cast<std::uint32_t>(sizeof header + modules.size() * sizeof(shm::AllowedModule));
  header.collection_enabled = policy.collection_enabled;
  header.selection_per_65536 = policy.selection_per_65536;
  header.picks_per_run = policy.picks_per_run;
  header.max_run_files = policy.max_run_files;
  header.alloc_per_65536 = policy.alloc_per_65536;
  header.allowed_module_count = static_cast<std::uint32_t>(modules.size());
  header.tsc_to_ns_multiplier = (std::uint64_t{1} << 32) / 2;  // any will do: tests count calls
  std::ofstream file(directory / shm::kPolicyFileName, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&header), sizeof header);
  for (const std::string& module : modules) {
    shm::AllowedModule allowed{};
    module.copy(allowed.soname, sizeof allowed.soname - 1);
    file.write(reinterpret_cast<const char*>(&allowed), sizeof allowed);
  }
}

}  // namespace fieldcost::testing
