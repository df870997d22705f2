#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include "agent/runs/policy_writer.h"
#include "agent/volunteer/agent.h"
#include "common/base/file.h"
#include "common/shm/policy_file.h"
#include "tests/agent/volunteer/aggregator_stand_in.h"
#include "tests/support/fake_clock.h"
#include "tests/support/run_file_writer.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::volunteer {

inline constexpr WallTime kStart{std::chrono::microseconds(1'750'000'000'000'000)};

// Provides an agent with a fresh directory, and run files in it.
class AgentFixture : public ::testing::Test {
 protected:
  AgentFixture() {
    paths_ = {.config_file = directory_.path() / "agent.toml",
              .state_dir = directory_.path() / "state",
              .catalog_file = directory_.path() / "catalog.db",
              .catalog_root_file = directory_.path() / "catalog_root",
              .system_file = directory_.path() / "system.toml",
              .power_supply_dir = directory_.path() / "power_supply",
              .bus_address = "unix:path=" + (directory_.path() / "bus").string()};
  }

  // By default allows uploads on battery, since the machine may have one.
  void WriteConfig(const std::string& more = {}) {
    std::string text = "[modules]\nextra_modules = [\"libvictim.so.1\"]\n" + more;
    if (more.find("[upload]") == std::string::npos) {
      text += "[upload]\non_battery = true\non_metered = true\n";
    }
    if (server_) {
      text += "[aggregator]\nurl = \"" + server_->url() + "\"\nca_file = \"" +
              server_->certificates().ca.string() + "\"\n";
    }
    ASSERT_TRUE(WriteFileAtomically(paths_.config_file, text, 0600));
  }

  bool PolicySaysMeasure() const {
    const auto bytes = ReadFile(paths_.policy_file(), runs::kMaxPolicyBytes);
    shm::PolicyHeader header{};
    EXPECT_TRUE(bytes && bytes->size() >= sizeof header);
    if (bytes) std::memcpy(&header, bytes->data(), sizeof header);
    return header.collection_enabled != 0;
  }

  void StartServer() { server_.emplace(directory_.path()); }

  Agent OpenAgent() {
    auto agent = Agent::Open(paths_, clock_);
    EXPECT_TRUE(agent) << agent.error().message;
    return std::move(*agent);
  }

  Agent OpenAgent(settings::Mode mode) {
    Agent agent = OpenAgent();
    const Status status = agent.SetMode(mode);
    EXPECT_TRUE(status) << status.error().message;
    return agent;
  }

  // Options of a run that starts now and whose process has ended.
  testing::RunFileOptions Ended() const {
    testing::RunFileOptions options;
    options.start_unix_ns =
        static_cast<std::uint64_t>(clock_.Now().time_since_epoch().count()) * 1000;
    return options;
  }

  // The same for a process that runs until RunFileWriter::End().
  testing::RunFileOptions Living() const {
    testing::RunFileOptions options = Ended();
    options.living = true;
    return options;
  }

  std::filesystem::path RunPath(const std::string& name) const {
    return paths_.run_dir() / (name + shm::kRunFileSuffix);
  }

  // Writes a finished run with calls of these costs.
  void WriteRun(const std::string& name, const std::vector<std::uint64_t>& values,
                const testing::RunFileOptions& options) {
    testing::RunFileOptions own = options;
    // Every run starts in a different nanosecond, which distinguishes files of the same name.
    own.start_unix_ns += runs_++ % 1000;
    testing::RunFileWriter file(RunPath(name), own);
    for (const std::uint64_t value : values) file.Add(value);
  }
  void WriteRun(const std::string& name, const std::vector<std::uint64_t>& values) {
    WriteRun(name, values, Ended());
  }

  // Writes and harvests another run with one call.
  void Measure(Agent& agent, std::uint64_t value = 3) {
    WriteRun("run" + std::to_string(runs_), {value});
    ASSERT_TRUE(agent.Harvest());
  }

  // The rows of one metric, in the same order.
  static std::vector<stats::StatRow> RowsOf(const std::vector<stats::StatRow>& rows,
                                            stats::Metric metric = stats::Metric::kWallTime) {
    std::vector<stats::StatRow> found;
    for (const stats::StatRow& row : rows) {
      if (row.key.metric == metric) found.push_back(row);
    }
    return found;
  }

  static stats::CostHistogram Sum(const std::vector<stats::StatRow>& rows,
                                  stats::Metric metric = stats::Metric::kWallTime) {
    stats::CostHistogram sum;
    for (const stats::StatRow& row : RowsOf(rows, metric)) sum.Merge(row.histogram);
    return sum;
  }

  static stats::CostHistogram HistogramOf(const std::vector<std::uint64_t>& values) {
    stats::CostHistogram histogram;
    for (const std::uint64_t value : values) histogram.Add(value);
    return histogram;
  }

  std::set<std::string> Listing() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_.path())) {
      names.insert(entry.path().lexically_relative(directory_.path()).string());
    }
    return names;
  }

  std::uint64_t runs_ = 0;
  testing::TempDir directory_;
  testing::FakeClock clock_{kStart};
  settings::AgentPaths paths_;
  std::optional<testing::AggregatorStandIn> server_;
};

}  // namespace fieldcost::volunteer
