// Runs `fieldcost-aggregator demo` as a program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <boost/json.hpp>
#include <fstream>
#include <sstream>

#include "tests/support/binary_dir.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::testing {
namespace {

using ::testing::HasSubstr;

ProcessResult Demo(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {FIELDCOST_BINARY_DIR "/bin/fieldcost-aggregator", "demo"});
  return RunProcess({.arguments = std::move(arguments)});
}

std::string TextOf(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(DemoProgramTest, TellsProgramsAndPeopleWhatItMade) {
  const TempDir dir;
  const std::string data = (dir.path() / "demo").string();
  const std::string profile = (dir.path() / "profile").string();
  const ProcessResult made = Demo({"--data", data, "--agents", "20", "--seed", "9", "--last-week",
                                   "2900", "--profile", profile, "--json"});
  ASSERT_EQ(made.exit_status, 0) << made.errors;
  const boost::json::value answer = boost::json::parse(made.output);
  EXPECT_TRUE(answer.at("synthetic").as_bool());
  EXPECT_EQ(answer.at("batches").as_int64(), 20 * 12);
  EXPECT_GT(std::filesystem::file_size(profile), 1'000U);

  const boost::json::value planted = boost::json::parse(TextOf(data + "/planted.json"));
  EXPECT_TRUE(planted.at("synthetic").as_bool());
  EXPECT_EQ(planted.at("seed").as_int64(), 9);
  EXPECT_EQ(planted.at("last_week").as_int64(), 2900);
  EXPECT_EQ(planted.at("rows").as_int64(), answer.at("rows").as_int64());
  EXPECT_EQ(planted.at("published_rows").as_int64(), answer.at("published_rows").as_int64());
  EXPECT_EQ(planted.at("libraries").as_array().size(), 3U);
  EXPECT_EQ(planted.at("planted").as_array().size(), 12U);
  EXPECT_EQ(planted.at("profile").as_array().size(), 2U);

  // The settings it wrote are valid and name a free port.
  const ProcessResult check =
      RunProcess({.arguments = {FIELDCOST_BINARY_DIR "/bin/fieldcost-aggregator", "--config",
                                data + "/aggregator.toml", "--check-config"}});
  EXPECT_EQ(check.exit_status, 0) << check.errors;
  const std::string port = std::to_string(answer.at("port").as_int64());
  EXPECT_THAT(check.output, HasSubstr("[server] 127.0.0.1 port " + port + ": free\n"));
  EXPECT_THAT(TextOf(data + "/home/agent.toml"),
              HasSubstr("url = \"https://localhost:" + port + '"'));
  EXPECT_EQ(TextOf(data + "/home/catalog_root"), TextOf(data + "/publish/root/1"));
  // A second run refuses the existing directory.
  const ProcessResult again = Demo({"--data", data});
  EXPECT_EQ(again.exit_status, 73);
  EXPECT_THAT(again.errors, HasSubstr("is not empty"));
  const ProcessResult verified =
      RunProcess({.arguments = {FIELDCOST_BINARY_DIR "/bin/fieldcost-aggregator", "verify",
                                "--config", data + "/aggregator.toml"}});
  EXPECT_EQ(verified.exit_status, 0) << verified.output;
}

TEST(DemoProgramTest, TheSettingsItPrintsAreServedAndFetched) {
  const TempDir dir;
  const std::string data = (dir.path() / "demo").string();
  const ProcessResult made = Demo({"--data", data, "--agents", "20"});
  ASSERT_EQ(made.exit_status, 0) << made.errors;
  BackgroundProcess server({.arguments = {FIELDCOST_BINARY_DIR "/bin/fieldcost-aggregator", "serve",
                                          "--config", data + "/aggregator.toml"}});
  std::string line;
  ASSERT_TRUE(server.WaitForLine("listening on https://", &line)) << server.Wait().output;
  const std::string port = line.substr(line.rfind(':') + 1);
  EXPECT_THAT(made.output, HasSubstr("on port " + port + " of this machine"));
  const ProcessResult synced =
      RunProcess({.arguments = {FIELDCOST_BINARY_DIR "/bin/fieldcost", "sync", "--full"},
                  .environment = {{"FIELDCOST_HOME", data + "/home"}}});
  EXPECT_EQ(synced.exit_status, 0) << synced.errors;
  // A second demo cannot use the same port.
  const std::string other = (dir.path() / "other").string();
  const ProcessResult taken = Demo({"--data", other, "--agents", "20", "--port", port});
  EXPECT_EQ(taken.exit_status, 73);
  EXPECT_THAT(taken.errors, HasSubstr("port " + port + ": Address already in use"));
  EXPECT_FALSE(std::filesystem::exists(other));
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait().exit_status, 0);
}

TEST(DemoProgramTest, ReportsUsageErrorsInOneLine) {
  const TempDir dir;
  const std::string data = (dir.path() / "demo").string();
  const struct {
    std::vector<std::string> arguments;
    std::string message;
  } cases[] = {
      {{}, "demo needs --data"},
      {{"--data"}, "--data needs a value"},
      {{"--data="}, "--data: invalid value ''"},
      {{"--data", data, "--seed", "seven"}, "--seed: invalid value 'seven'"},
      {{"--data", data, "--seed", "-1"}, "--seed: invalid value '-1'"},
      {{"--data", data, "--seed", "18446744073709551616"}, "--seed: invalid value"},
      {{"--data", data, "--agents", "1"}, "--agents must be 20 to 20000, not 1"},
      {{"--data", data, "--agents", "4294967316"}, "--agents must be 20 to 20000"},
      {{"--data", data, "--last-week", "3"}, "--last-week must be"},
      {{"--data", data, "--port", "65536"}, "--port: invalid value '65536'"},
      {{"--data", data, "--config", "c.toml"}, "--config cannot be combined with demo"},
      {{"--data", data, "--check-config"}, "--check-config cannot be combined with demo"},
      {{"--data", data, "--root-key", "k"}, "unknown option '--root-key'"},
      {{"--data", data, "surplus"}, "unknown argument 'surplus'"},
  };
  for (const auto& c : cases) {
    const ProcessResult result = Demo(c.arguments);
    EXPECT_EQ(result.exit_status, 64) << c.message;
    EXPECT_THAT(result.errors, HasSubstr(c.message));
    EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1) << result.errors;
    EXPECT_FALSE(std::filesystem::exists(data));
  }
  const ProcessResult nowhere = Demo({"--data", "/proc/demo", "--agents", "20"});
  EXPECT_NE(nowhere.exit_status, 0);
  EXPECT_THAT(nowhere.errors, HasSubstr("/proc/demo"));
  EXPECT_THAT(Demo({"--help"}).output, HasSubstr("demo [OPTIONS] --data DIR"));
}

}  // namespace
}  // namespace fieldcost::testing
