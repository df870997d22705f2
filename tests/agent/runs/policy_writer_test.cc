#include "agent/runs/policy_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

#include "agent/settings/public_modules.h"
#include "common/base/file.h"
#include "common/shm/policy_file.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::runs {
namespace {

settings::AgentPaths PathsIn(const std::filesystem::path& directory) {
  return {.config_file = directory / "agent.toml",
          .state_dir = directory / "state",
          .catalog_file = {},
          .catalog_root_file = {}};
}

shm::PolicyHeader HeaderOf(const std::string& bytes) {
  shm::PolicyHeader header;
  EXPECT_GE(bytes.size(), sizeof header);
  std::memcpy(&header, bytes.data(), sizeof header);
  return header;
}

mode_t PermissionsOf(const std::filesystem::path& path) {
  struct stat info {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0);
  return info.st_mode & 0777;
}

TEST(PolicyWriterTest, BytesAreThoseOfTheFormat) {
  settings::AgentConfig config;
  config.selection_probability = 1;
  config.alloc_probability = 0.25;
  config.picks_per_run = 7;
  config.io_probability = 0.5;
  config.cycles_probability = 1;
  config.max_programs = 9;
  config.max_load_per_core_percent = 70;
  config.max_cpu_pressure_percent = 12;
  config.overhead_percent = 25;
  config.max_run_files = 33;
  config.phase_minutes = 2;
  config.max_phases = 11;
  config.sampling = 1024;
  config.data_slots = true;
  config.extra_modules = {"libvictim.so.1", "libc.so.6"};
  const std::vector<shm::WeightEntry> weights = {{.api_hash = 4, .weight = 40, .reserved = 0},
                                                 {.api_hash = 7, .weight = 70, .reserved = 0}};
  const std::string bytes = BuildPolicy(
      config,
      {.collection_enabled = true, .tsc_to_ns_multiplier = 99, .serial = 5, .weights = weights});
  const shm::PolicyHeader header = HeaderOf(bytes);
  EXPECT_EQ(std::memcmp(header.magic, shm::kPolicyMagic, sizeof header.magic), 0);
  EXPECT_EQ(header.version, shm::kPolicyVersion);
  EXPECT_EQ(header.size_bytes, bytes.size());
  EXPECT_EQ(header.policy_serial, 5U);
  EXPECT_EQ(header.collection_enabled, 1U);
  EXPECT_EQ(header.selection_per_65536, 65536U);
  EXPECT_EQ(header.alloc_per_65536, 16384U);
  EXPECT_EQ(header.picks_per_run, 7U);
  EXPECT_EQ(header.tsc_to_ns_multiplier, 99U);
  EXPECT_EQ(header.io_per_65536, 32768U);
  EXPECT_EQ(header.cycles_per_65536, 65536U);
  EXPECT_EQ(header.max_leases, 9U);
  EXPECT_EQ(header.max_load_per_core_percent, 70U);
  EXPECT_EQ(header.max_cpu_pressure_percent, 12U);
  EXPECT_EQ(header.overhead_per_65536, 16384U);
  EXPECT_EQ(header.max_run_files, 33U);
  EXPECT_EQ(header.phase_seconds, 120U);
  EXPECT_EQ(header.max_phases, 11U);
  EXPECT_EQ(header.sampling_log2, 10U);
  EXPECT_EQ(header.data_slots, 1U);
  EXPECT_EQ(header.default_weight, shm::kFullWeight);
  EXPECT_EQ(header.draw_seed, 0U);
  ASSERT_EQ(header.weight_count, 2U);
  const std::size_t weights_at =
      sizeof header + header.allowed_module_count * sizeof(shm::AllowedModule);
  ASSERT_EQ(bytes.size(), weights_at + 2 * sizeof(shm::WeightEntry));
  EXPECT_EQ(std::memcmp(bytes.data() + weights_at, weights.data(), 2 * sizeof(shm::WeightEntry)),
            0);
  std::vector<std::string> modules;
  for (std::size_t i = 0; i < header.allowed_module_count; ++i) {
    modules.emplace_back(bytes.data() + sizeof header + i * sizeof(shm::AllowedModule));
  }
  EXPECT_TRUE(std::is_sorted(modules.begin(), modules.end()));
  EXPECT_EQ(std::count(modules.begin(), modules.end(), "libc.so.6"), 1);
  EXPECT_EQ(std::count(modules.begin(), modules.end(), "libvictim.so.1"), 1);
  EXPECT_EQ(modules.size(), settings::PublicModules().size() + 1);
}

TEST(PolicyWriterTest, DocumentedNamesAreTheLastPartAndStayUntilOthersAreGiven) {
  const testing::TempDir directory;
  const settings::AgentPaths paths = PathsIn(directory.path());
  const PolicyWeights weights{.entries = {{.api_hash = 4, .weight = 40, .reserved = 0}}};
  const DocumentedNames names{.bits = std::string(64, '\x5a'), .source = 7};
  ASSERT_TRUE(WritePolicyFile(paths, settings::AgentConfig{}, true, weights, names));
  const auto written = ReadFile(paths.policy_file(), kMaxPolicyBytes);
  ASSERT_TRUE(written);
  const shm::PolicyHeader header = HeaderOf(*written);
  EXPECT_EQ(header.documented_bytes, 64U);
  EXPECT_EQ(header.documented_source, 7U);
  EXPECT_EQ(header.size_bytes, written->size());
  EXPECT_EQ(written->substr(written->size() - 64), names.bits);

  ASSERT_TRUE(WritePolicyFile(paths, settings::AgentConfig{}, true, weights));
  EXPECT_EQ(*ReadFile(paths.policy_file(), kMaxPolicyBytes), *written);
  ASSERT_TRUE(StopMeasuring(paths, settings::AgentConfig{}));
  const PresentPolicy present = LoadPresentPolicy(paths);
  EXPECT_EQ(present.documented_source, 7U);
  ASSERT_TRUE(present.weights);
  EXPECT_EQ(present.weights->size(), 1U);
  EXPECT_TRUE(ReadFile(paths.policy_file(), kMaxPolicyBytes)->ends_with(names.bits));

  ASSERT_TRUE(WritePolicyFile(paths, settings::AgentConfig{}, true, weights, DocumentedNames{}));
  EXPECT_EQ(ReadFile(paths.policy_file(), kMaxPolicyBytes)->size(), written->size() - 64);
}

TEST(PolicyWriterTest, DefaultsAreThoseOfTheShippedFile) {
  const shm::PolicyHeader header = HeaderOf(BuildPolicy(settings::AgentConfig{}, {}));
  EXPECT_EQ(header.selection_per_65536, 4096U);
  EXPECT_EQ(header.io_per_65536, 6554U);
  EXPECT_EQ(header.cycles_per_65536, 6554U);
  EXPECT_EQ(header.max_leases, 6U);
  EXPECT_EQ(header.max_cpu_pressure_percent, 20U);
  EXPECT_EQ(header.overhead_per_65536, 655U);
  EXPECT_EQ(header.phase_seconds, 3600U);
  EXPECT_EQ(header.max_phases, 24U);
  EXPECT_EQ(header.sampling_log2, 0U);
  EXPECT_EQ(header.data_slots, 0U);
  EXPECT_EQ(header.weight_count, 0U);
}

TEST(PolicyWriterTest, SmallBudgetIsNotRoundedToNone) {
  struct Row {
    double percent;
    std::uint32_t per_65536;
  };
  constexpr Row kTable[] = {{0, 0}, {0.0001, 1}, {0.5, 328}, {100, 65536}};
  for (const Row& row : kTable) {
    settings::AgentConfig config;
    config.overhead_percent = row.percent;
    EXPECT_EQ(HeaderOf(BuildPolicy(config, {})).overhead_per_65536, row.per_65536) << row.percent;
  }
}

TEST(PolicyWriterTest, SerialGrowsOnlyWhenThePolicyChanges) {
  const testing::TempDir directory;
  const settings::AgentPaths paths = PathsIn(directory.path());
  settings::AgentConfig config;
  ASSERT_TRUE(WritePolicyFile(paths, config, true, {}));
  EXPECT_EQ(PolicySerial(paths.policy_file()), 1U);
  ASSERT_TRUE(WritePolicyFile(paths, config, true, {}));
  EXPECT_EQ(PolicySerial(paths.policy_file()), 1U);
  ASSERT_TRUE(WritePolicyFile(paths, config, false, {}));
  EXPECT_EQ(PolicySerial(paths.policy_file()), 2U);
}

TEST(PolicyWriterTest, WritersAtOnceGiveEachContentASerialOfItsOwn) {
  constexpr int kWriters = 4;
  constexpr int kPolicies = 25;
  const testing::TempDir directory;
  const settings::AgentPaths paths = PathsIn(directory.path());
  ASSERT_TRUE(WritePolicyFile(paths, settings::AgentConfig{}, true, {}));
  std::mutex mutex;
  std::map<std::uint32_t, std::string> seen;  // by serial
  bool ambiguous = false;
  std::vector<std::thread> threads;
  for (int writer = 0; writer < kWriters; ++writer) {
    threads.emplace_back([&, writer] {
      for (int i = 0; i < kPolicies; ++i) {
        settings::AgentConfig config;
        config.max_run_files = static_cast<std::uint64_t>(writer * kPolicies + i + 1);
        if (!WritePolicyFile(paths, config, true, {})) return;
        const auto bytes = ReadFile(paths.policy_file(), kMaxPolicyBytes);
        const std::lock_guard lock(mutex);
        const auto [entry, is_new] = seen.emplace(HeaderOf(*bytes).policy_serial, *bytes);
        ambiguous |= !is_new && entry->second != *bytes;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(ambiguous);
  EXPECT_EQ(PolicySerial(paths.policy_file()), 1U + kWriters * kPolicies)
      << "each writer's change counted";
}

TEST(PolicyWriterTest, OnlyTheUserMayLookIn) {
  const testing::TempDir directory;
  const settings::AgentPaths paths = PathsIn(directory.path());
  ASSERT_TRUE(WritePolicyFile(paths, settings::AgentConfig{}, true, {}));
  EXPECT_EQ(PermissionsOf(paths.state_dir), 0700U);
  EXPECT_EQ(PermissionsOf(paths.run_dir()), 0700U);
  EXPECT_EQ(PermissionsOf(paths.policy_file()), 0600U);
  EXPECT_EQ(PermissionsOf(paths.skip_file()), 0600U);
}

TEST(PolicyWriterTest, PolicyOfAnotherVersionIsReplaced) {
  const testing::TempDir directory;
  const settings::AgentPaths paths = PathsIn(directory.path());
  ASSERT_TRUE(WritePolicyFile(paths, settings::AgentConfig{}, true, {}));
  auto bytes = ReadFile(paths.policy_file(), kMaxPolicyBytes);
  ASSERT_TRUE(bytes);
  const std::string good = *bytes;
  (*bytes)[8] = 2;  // version
  ASSERT_TRUE(WriteFileAtomically(paths.policy_file(), *bytes, 0600));
  EXPECT_EQ(PolicySerial(paths.policy_file()), 0U);
  ASSERT_TRUE(WritePolicyFile(paths, settings::AgentConfig{}, true, {}));
  EXPECT_EQ(*ReadFile(paths.policy_file(), kMaxPolicyBytes), good);
}

TEST(PolicyWriterTest, UnwritableStateDirectoryIsNamed) {
  settings::AgentPaths paths = PathsIn("/proc/nowhere");
  const Status status = WritePolicyFile(paths, settings::AgentConfig{}, true, {});
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, ::testing::HasSubstr("/proc/nowhere"));
}

}  // namespace
}  // namespace fieldcost::runs
