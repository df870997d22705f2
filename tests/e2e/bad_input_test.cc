#include <fstream>

#include "tests/e2e/house.h"
#include "tests/support/run_files.h"

// Any invalid external input gives one clear line; nothing is lost and nothing crashes.

namespace fieldcost::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class BadInputTest : public HouseTest {
 protected:
  static std::size_t Lines(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }

  // Starts an aggregator that must refuse to run.
  ProcessResult RefusedAggregator() const {
    ProcessResult result =
        RunProcess({.arguments = {kAggregator, "--config", aggregator_config().string()}});
    EXPECT_GT(result.exit_status, 1) << result.errors;
    EXPECT_EQ(Lines(result.errors), 1U) << result.errors;
    return result;
  }

  void AppendToAggregatorConfig(const std::string& text) const {
    std::ofstream(aggregator_config(), std::ios::app) << text;
  }
};

TEST_F(BadInputTest, AnUnknownKeyIsNamedWithItsPlace) {
  AppendToAggregatorConfig("interval_second = 5\n");
  EXPECT_THAT(RefusedAggregator().errors,
              AllOf(HasSubstr("aggregator.toml:12:1"), HasSubstr("interval_second")));
}

TEST_F(BadInputTest, BadTomlIsNamedWithItsPlace) {
  AppendToAggregatorConfig("= what\n");
  EXPECT_THAT(RefusedAggregator().errors, HasSubstr("aggregator.toml:12"));
}

TEST_F(BadInputTest, APortInUseIsNamed) {
  StartAggregator();
  const std::string port = url().substr(url().rfind(':') + 1);
  std::ofstream(server() / "second.toml")
      << "[server]\nport = " << port
      << "\ncertificate = \"server.pem\"\nprivate_key = \"server.key\"\n"
         "[store]\ndata_dir = \"second\"\n";
  const ProcessResult second =
      RunProcess({.arguments = {kAggregator, "--config", (server() / "second.toml").string()}});
  EXPECT_GT(second.exit_status, 1);
  EXPECT_THAT(second.errors, HasSubstr(port));
  StopAggregator();
}

TEST_F(BadInputTest, AnUnusableDataDirectoryIsNamed) {
  std::ofstream(server() / "data") << "a file in the way";
  EXPECT_THAT(RefusedAggregator().errors, HasSubstr("data"));
}

TEST_F(BadInputTest, TheAgentsConfigurationIsCheckedToo) {
  WriteAgentConfig("https://127.0.0.1:1", "no_such_key = 1\n");
  const ProcessResult status = Fieldcost({"agent", "status"});
  EXPECT_GT(status.exit_status, 1);
  EXPECT_EQ(Lines(status.errors), 1U) << status.errors;
  EXPECT_THAT(status.errors, AllOf(HasSubstr("agent.toml:"), HasSubstr("no_such_key")));
}

TEST_F(BadInputTest, AnotherCertificateAuthorityStopsUploadAndSyncButLosesNothing) {
  StartAggregator();
  ASSERT_EQ(Fieldcost({"agent", "on"}).exit_status, 0);
  ASSERT_EQ(RunVictim("alloc").exit_status, 0);

  const TempDir elsewhere;
  const Certificates other = MakeCertificates(elsewhere.path());
  std::filesystem::rename(certificates().ca, server() / "right.pem");
  std::filesystem::copy_file(other.ca, certificates().ca);
  const ProcessResult upload = Upload();
  EXPECT_GT(upload.exit_status, 1);
  EXPECT_THAT(upload.errors, HasSubstr("certificate"));
  const ProcessResult sync = Fieldcost({"sync", "--full"});
  EXPECT_GT(sync.exit_status, 1);
  EXPECT_EQ(Lines(sync.errors), 1U) << sync.errors;
  EXPECT_THAT(sync.errors, HasSubstr("certificate"));

  std::filesystem::rename(server() / "right.pem", certificates().ca);
  ASSERT_EQ(Upload().exit_status, 0);
  Publish();
  SyncAll();
  EXPECT_EQ(Published("victim_allocate").at("wall_time").at("count").to_number<int>(), 3000);
  StopAggregator();
}

TEST_F(BadInputTest, ATruncatedRunFileIsSetAsideAndTheOthersCount) {
  StartAggregator();
  ASSERT_EQ(Fieldcost({"agent", "on"}).exit_status, 0);
  ASSERT_EQ(RunVictim("calls").exit_status, 0);
  const auto runs = RunDirectoryOf(home() / "state");
  for (const auto& entry : std::filesystem::directory_iterator(runs)) {
    if (entry.path().extension() == ".run") std::filesystem::resize_file(entry.path(), 1000);
  }
  ASSERT_EQ(RunVictim("alloc").exit_status, 0);
  ASSERT_EQ(Upload().exit_status, 0);
  EXPECT_FALSE(std::filesystem::is_empty(runs / "refused"));
  Publish();
  SyncAll();
  EXPECT_EQ(Published("victim_allocate").at("wall_time").at("count").to_number<int>(), 3000);
  EXPECT_TRUE(Published("victim_noop").empty());
  StopAggregator();
}

TEST_F(BadInputTest, GarbageIsRefusedAndHonestBatchesStillCount) {
  StartAggregator();
  const ProcessResult garbage = RunProcess(
      {.arguments = {"openssl", "s_client", "-quiet", "-ign_eof", "-connect",
                     url().substr(std::string("https://").size()), "-CAfile",
                     certificates().ca.string()},
       .input = "POST /v1/batches HTTP/1.1\r\nHost: x\r\nContent-Length: 7\r\n"
                "Content-Type: application/vnd.fieldcost.batch.v1\r\nConnection: close\r\n\r\n"
                "garbage"});
  EXPECT_THAT(garbage.output, HasSubstr("HTTP/1.1 4"));

  ASSERT_EQ(Fieldcost({"agent", "on"}).exit_status, 0);
  ASSERT_EQ(RunVictim("alloc").exit_status, 0);
  ASSERT_EQ(Upload().exit_status, 0);
  Publish();
  SyncAll();
  EXPECT_EQ(Published("victim_allocate").at("wall_time").at("count").to_number<int>(), 3000);
  StopAggregator();
}

}  // namespace
}  // namespace fieldcost::testing
