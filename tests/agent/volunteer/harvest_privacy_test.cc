#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "agent/harvest/harvester.h"
#include "agent/spool/state_db.h"
#include "common/base/text.h"
#include "tests/agent/volunteer/agent_fixture.h"
#include "tests/common/base/build_id_of_file.h"

// Which counted calls keep their name locally, and which may be sent.

namespace fieldcost::volunteer {
namespace {

using testing::RunFileOptions;
using testing::RunFileWriter;
using testing::WrittenPick;

constexpr char kLibcPath[] = "/lib/x86_64-linux-gnu/libc.so.6";

// This machine's libc, as reported by a program that has loaded it.
WrittenPick LibcPick() {
  const auto id = HexDecode(testing::BuildIdOfFile(kLibcPath));
  EXPECT_TRUE(id && id->size() >= 8);
  return {.soname = "libc.so.6",
          .symbol = "qsort",
          .build_id = std::string(id->begin(), id->end()),
          .module_path = kLibcPath};
}

class HarvestPrivacyTest : public AgentFixture {
 protected:
  void SetUp() override { WriteConfig(); }
};

TEST_F(HarvestPrivacyTest, OneRowAMetricHoldsAllThatIsNotPublicAndNamesNothing) {
  for (const settings::Mode mode : {settings::Mode::kLocal, settings::Mode::kOn}) {
    Agent agent = OpenAgent(mode);
    RunFileOptions options = Ended();
    options.picks = {WrittenPick{.soname = "libsecret.so.1",
                                 .symbol = "secret_call",
                                 .symbol_version = "SECRET_1",
                                 .module_path = "/opt/secret/libsecret.so.1"},
                     WrittenPick{.soname = "libother-secret.so.1", .symbol = "secret_too"}};
    {
      RunFileWriter file(RunPath(std::string(settings::Name(mode))), options);
      file.Add(7, 0, 0);
      file.Add(8, 0, 1);
    }
    ASSERT_TRUE(agent.Harvest());
    EXPECT_GT(agent.GetStatus()->measuring.private_rows_kept, 0U) << settings::Name(mode);
  }
  Agent agent = OpenAgent();
  const auto rows = agent.LocalRows();
  ASSERT_TRUE(rows);
  for (const stats::StatRow& row : *rows) {
    EXPECT_EQ(row.key.api, (stats::ApiKey{.soname = "(private)",
                                          .package_version = {},
                                          .build_id = {},
                                          .symbol = "(private)",
                                          .symbol_version = {}}));
    EXPECT_TRUE(wire::ValidateApiKey(row.key.api));
  }
  EXPECT_EQ(Sum(*rows), HistogramOf({7, 8, 7, 8}));
  EXPECT_FALSE(agent.Preview()->has_value());
  for (const auto& entry : std::filesystem::recursive_directory_iterator(paths_.state_dir)) {
    if (!entry.is_regular_file()) continue;
    const auto bytes = ReadFile(entry.path(), 64 << 20);
    ASSERT_TRUE(bytes);
    EXPECT_EQ(bytes->find("secret_call"), std::string::npos) << entry.path();
    EXPECT_EQ(bytes->find("SECRET_1"), std::string::npos) << entry.path();
  }
}

TEST_F(HarvestPrivacyTest, PickByHandKeepsItsNameAndIsNeverSent) {
  Agent agent = OpenAgent(settings::Mode::kOn);
  RunFileOptions options = Ended();
  options.forced = true;
  options.picks = {WrittenPick{.soname = "libsecret.so.1", .symbol = "secret_call"}};
  WriteRun("a", {7}, options);
  ASSERT_TRUE(agent.Harvest());
  const auto rows = RowsOf(*agent.LocalRows());
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(stats::DisplayName(rows[0].key.api), "libsecret.so.1!secret_call");
  EXPECT_TRUE(agent.LocalOnlyApis()->contains(rows[0].key.api));
  // Nor is a manual pick of a public library sent.
  options.picks = {LibcPick()};
  WriteRun("b", {7}, options);
  ASSERT_TRUE(agent.Harvest());
  EXPECT_FALSE(agent.Preview()->has_value());
  EXPECT_EQ(agent.GetStatus()->measuring.private_rows_kept, 2U);  // times, and calls of the run
}

TEST_F(HarvestPrivacyTest, OnlyWhatHoldsNothingThatMayBeSentIsLocalOnly) {
  Agent agent = OpenAgent(settings::Mode::kOn);
  RunFileOptions options = Ended();
  options.forced = true;
  options.picks = {LibcPick()};
  WriteRun("a", {7}, options);
  options.picks = {WrittenPick{.soname = "mine.so", .symbol = "own_call"}};
  WriteRun("b", {7}, options);
  ASSERT_TRUE(agent.Harvest());
  const auto is_local_only = [&agent](const std::string& soname) {
    const auto apis = *agent.LocalOnlyApis();
    return std::any_of(apis.begin(), apis.end(),
                       [&](const stats::ApiKey& api) { return api.soname == soname; });
  };
  EXPECT_FALSE(is_local_only("libc.so.6"));
  EXPECT_TRUE(is_local_only("mine.so"));
  // From now on the user permits sending it.
  ASSERT_TRUE(
      WriteFileAtomically(paths_.config_file, "[modules]\nextra_modules = [\"mine.so\"]\n", 0600));
  Agent permitted = OpenAgent();
  options.forced = false;
  WriteRun("c", {7}, options);
  ASSERT_TRUE(permitted.Harvest());
  EXPECT_FALSE(is_local_only("mine.so"));
}

TEST_F(HarvestPrivacyTest, RequestedRunsThatTheCoinDidNotChooseStayLocal) {
  Agent agent = OpenAgent(settings::Mode::kOn);
  RunFileOptions options = Ended();
  options.picks = {LibcPick(), WrittenPick{.soname = "libsecret.so.1", .symbol = "secret_call"}};
  options.asked = true;
  WriteRun("a", {7}, options);
  ASSERT_TRUE(agent.Harvest());
  const auto rows = RowsOf(*agent.LocalRows());
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].histogram, HistogramOf({7}));
  EXPECT_FALSE(agent.Preview()->has_value());
  // The same run if it had been selected at random.
  options.asked = false;
  WriteRun("b", {7}, options);
  ASSERT_TRUE(agent.Harvest());
  EXPECT_TRUE(agent.Preview()->has_value());
}

TEST_F(HarvestPrivacyTest, UpgradeUnderARunningProgramIsNotMistakenForTheNewVersion) {
  Agent agent = OpenAgent(settings::Mode::kOn);
  RunFileOptions options = Ended();
  options.picks = {LibcPick()};
  // The program had loaded another build than the package's current file.
  options.picks[0].build_id[0] = static_cast<char>(options.picks[0].build_id[0] ^ 1);
  WriteRun("a", {7}, options);
  options.picks = {LibcPick()};
  options.picks[0].build_id.clear();
  WriteRun("b", {8}, options);
  ASSERT_TRUE(agent.Harvest());
  const auto rows = RowsOf(*agent.LocalRows());
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].key.api.soname, "(private)") << "it cannot be shown that it was the package's";
  EXPECT_EQ(rows[0].histogram, HistogramOf({7, 8}));
  EXPECT_FALSE(agent.Preview()->has_value());
}

TEST_F(HarvestPrivacyTest, OnlyPackagedPublicOrNamedModulesBecomePending) {
  Agent agent = OpenAgent(settings::Mode::kOn);
  RunFileOptions options = Ended();
  options.picks = {
      WrittenPick{.soname = "libvictim.so.1"},
      WrittenPick{.soname = "libcompany-secret.so.1", .symbol = "secret"},
      // Public by name, but not the package's file.
      WrittenPick{.soname = "libz.so.1", .symbol = "inflate", .module_path = "/nowhere/libz.so.1"},
      LibcPick(),
  };
  {
    RunFileWriter file(RunPath("a"), options);
    for (std::uint32_t pick = 0; pick < 4; ++pick) file.Add(9 + pick, 0, pick);
  }
  ASSERT_TRUE(agent.Harvest());
  const auto rows = RowsOf(*agent.LocalRows());
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(stats::DisplayName(rows[0].key.api), "(private)!(private)");
  EXPECT_EQ(rows[0].histogram, HistogramOf({10, 11})) << "of two libraries";
  EXPECT_EQ(agent.GetStatus()->measuring.private_rows_kept, 2U) << "of two metrics";
  const auto preview = agent.Preview();
  ASSERT_TRUE(preview) << preview.error().message;
  ASSERT_TRUE(preview->has_value());
  std::vector<std::string> sonames;
  for (const wire::BatchRow& row : (*preview)->content.rows) {
    if (row.metric == stats::Metric::kWallTime) sonames.push_back(row.api.soname);
  }
  EXPECT_THAT(sonames, ::testing::ElementsAre("libc.so.6", "libvictim.so.1"));
  EXPECT_THAT((*preview)->content.rows[0].api.package_version, ::testing::StartsWith("2."));
  EXPECT_EQ((*preview)->content.rows.back().api.package_version, "");
  EXPECT_EQ((*preview)->content.rows.back().api.build_id, "01020304");
}

TEST_F(HarvestPrivacyTest, PolicysListReplacesTheBuiltInOneAndItsPackageMustOwnTheFile) {
  struct Row {
    std::vector<wire::PolicyModule> modules;
    bool is_public;
  };
  const std::vector<Row> table = {
      {{}, true},
      {{{.soname = "libc.so.6", .package = ""}}, true},
      {{{.soname = "libc.so.6", .package = "libc6"}}, true},
      {{{.soname = "libc.so.6", .package = "libc6-of-somebody"}}, false},
      {{{.soname = "libz.so.1", .package = ""}}, false},
  };
  OpenAgent(settings::Mode::kLocal);
  int run = 0;
  for (const Row& row : table) {
    RunFileOptions options = Ended();
    options.picks = {LibcPick()};
    WriteRun("r" + std::to_string(run++), {7}, options);
    auto database = spool::StateDb::Open(directory_.path() / ("db" + std::to_string(run)));
    ASSERT_TRUE(database) << database.error().message;
    settings::AgentConfig config;
    config.policy_modules = row.modules;
    ASSERT_TRUE(harvest::Harvester(paths_, config, clock_, *database).HarvestAll());
    const auto rows = database->LocalRows();
    ASSERT_TRUE(rows && !rows->empty());
    EXPECT_EQ((*rows)[0].first.api.soname == "libc.so.6", row.is_public) << run;
  }
}

}  // namespace
}  // namespace fieldcost::volunteer
