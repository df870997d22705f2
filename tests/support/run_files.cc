#include "tests/support/run_files.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "common/base/check.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::testing {
namespace {

void AddCell(const shm::Cell& cell, CellTotals& totals) {
  totals.abandoned += cell.abandoned;
  totals.nested += cell.nested;
  totals.sampled += cell.sampled;
  totals.untimed += cell.staged_slot != 0 ? cell.staged_untimed : cell.untimed;
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

template <typename T>
T ReadAt(std::ifstream& file, std::uint64_t offset) {
  T value{};
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(&value), sizeof value);
  FIELDCOST_CHECK(file.good());
  return value;
}

RunFileContent ReadOne(const std::filesystem::path& path) {
  RunFileContent content;
  std::ifstream file(path, std::ios::binary);
  content.header = ReadAt<shm::RunHeader>(file, 0);
  const std::uint32_t capacity = content.header.pick_capacity;
  for (std::uint32_t p = 0; p < content.header.pick_count; ++p) {
    content.picks.push_back(
        ReadAt<shm::Pick>(file, sizeof(shm::RunHeader) + p * sizeof(shm::Pick)));
  }
  for (std::uint32_t slot = 0; slot < content.header.thread_slots; ++slot) {
    for (std::uint32_t p = 0; p < content.header.pick_count; ++p) {
      const shm::Pick& pick = content.picks[p];
      std::uint64_t& calls = content.calls[pick.symbol];
      calls += shm::CallsOf(ReadAt<shm::CallCounter>(file, shm::CounterOffset(capacity, slot, p)));
      std::uint32_t index = 0;
      for (unsigned number = 1; number <= shm::kMaxMetric; ++number) {
        const auto metric = static_cast<shm::Metric>(number);
        if ((pick.metrics & shm::BitOf(metric)) == 0) continue;
        const auto cell = ReadAt<shm::Cell>(
            file, shm::CellOffset(capacity, content.header.metrics_per_pick, slot, p, index));
        CellTotals& totals = content.totals[{pick.symbol, metric}];
        if (index == 0) calls -= totals.timed();
        AddCell(cell, totals);
        if (index == 0) calls += totals.timed() + cell.nested + cell.abandoned - cell.sampled;
        ++index;
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

std::filesystem::path RunDirectoryOf(const std::filesystem::path& state_dir) {
  std::filesystem::path found;
  for (const std::filesystem::path& root : MemoryRoots()) {
    found = root / state_dir.relative_path() / shm::kRunDirectoryName;
    if (std::filesystem::exists(found)) break;
  }
  return found;
}

std::uint64_t SkippedRuns(const std::filesystem::path& directory, shm::Skip reason) {
  std::ifstream file(directory / shm::kSkipFileName, std::ios::binary);
  return ReadAt<shm::SkipFile>(file, 0).counts[static_cast<std::uint32_t>(reason)];
}

void MakeStateDirectory(const std::filesystem::path& directory, const TestPolicy& policy) {
  std::filesystem::create_directories(directory / shm::kRunDirectoryName);
  std::vector<std::string> modules = policy.modules;
  std::sort(modules.begin(), modules.end());
  std::vector<shm::WeightEntry> weights = policy.weights;
  std::sort(weights.begin(), weights.end(),
            [](const auto& a, const auto& b) { return a.api_hash < b.api_hash; });
  std::string documented(policy.documented.empty() ? 0 : policy.documented_bytes, '\0');
  for (const std::string& name : policy.documented) {
    const std::uint64_t bit =
        shm::DocumentedBit(shm::DocumentedNumber(name.c_str()), policy.documented_bytes);
    documented[bit / 8] = static_cast<char>(documented[bit / 8] | 1 << (bit % 8));
  }
  shm::PolicyHeader header{};
  std::memcpy(header.magic, shm::kPolicyMagic, sizeof header.magic);
  header.version = policy.version;
  header.size_bytes =
      static_cast<std::uint32_t>(sizeof header + modules.size() * sizeof(shm::AllowedModule) +
                                 weights.size() * sizeof(shm::WeightEntry) + documented.size());
  header.documented_bytes = static_cast<std::uint32_t>(documented.size());
  header.collection_enabled = policy.collection_enabled;
  header.selection_per_65536 = policy.selection_per_65536;
  header.picks_per_run = policy.picks_per_run;
  header.max_load_per_core_percent = policy.max_load_per_core_percent;
  header.max_run_files = policy.max_run_files;
  header.alloc_per_65536 = policy.alloc_per_65536;
  header.allowed_module_count = static_cast<std::uint32_t>(modules.size());
  header.tsc_to_ns_multiplier = policy.tsc_to_ns_multiplier;
  header.weight_count = static_cast<std::uint32_t>(weights.size());
  header.default_weight = policy.default_weight;
  header.max_leases = policy.max_leases;
  header.max_cpu_pressure_percent = policy.max_cpu_pressure_percent;
  header.overhead_per_65536 = policy.overhead_per_65536;
  header.io_per_65536 = policy.io_per_65536;
  header.cycles_per_65536 = policy.cycles_per_65536;
  header.sampling_log2 = policy.sampling_log2;
  header.phase_seconds = policy.phase_seconds;
  header.max_phases = policy.max_phases;
  header.draw_seed = policy.draw_seed;
  header.data_slots = policy.data_slots;
  const bool is_elsewhere = !policy.memory_root.empty();
  const std::string memory = (is_elsewhere ? policy.memory_dir : directory).string();
  memory.copy(header.memory_dir, sizeof header.memory_dir - 1);
  header.memory_root_bytes =
      static_cast<std::uint32_t>(is_elsewhere ? policy.memory_root.string().size() : memory.size());
  if (!std::filesystem::exists(directory / shm::kSkipFileName)) {
    shm::SkipFile skips{};
    std::memcpy(skips.magic, shm::kSkipMagic, sizeof skips.magic);
    std::ofstream(directory / shm::kSkipFileName, std::ios::binary)
        .write(reinterpret_cast<const char*>(&skips), sizeof skips);
  }
  std::ofstream file(directory / shm::kPolicyFileName, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&header), sizeof header);
  for (const std::string& module : modules) {
    shm::AllowedModule allowed{};
    module.copy(allowed.soname, sizeof allowed.soname - 1);
    file.write(reinterpret_cast<const char*>(&allowed), sizeof allowed);
  }
  file.write(reinterpret_cast<const char*>(weights.data()),
             static_cast<std::streamsize>(weights.size() * sizeof(shm::WeightEntry)));
  file << documented;
}

}  // namespace fieldcost::testing
