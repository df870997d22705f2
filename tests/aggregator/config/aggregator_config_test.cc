// The contents of a configuration file, and how mistakes in it are reported.
#include "aggregator/config/aggregator_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <fstream>

#include "common/base/file.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::aggregator {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ConfigTest : public ::testing::Test {
 protected:
  std::filesystem::path file() const { return dir_.path() / "aggregator.toml"; }

  Result<Config> Load(const std::string& text) {
    std::ofstream(file()) << text;
    return LoadConfig(file());
  }

  // Loads the required settings, followed by `more` from line 6 on.
  Result<Config> LoadWith(const std::string& more) {
    return Load("[server]\ncertificate = \"c\"\nprivate_key = \"k\"\n[store]\ndata_dir = \"d\"\n" +
                more);
  }

  void ExpectRefusal(const std::string& more, const std::string& place_and_key,
                     const std::string& why) {
    SCOPED_TRACE(more);
    const auto config = LoadWith(more);
    ASSERT_FALSE(config.has_value());
    EXPECT_EQ(config.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(config.error().message, StartsWith(file().string() + ":" + place_and_key));
    EXPECT_THAT(config.error().message, HasSubstr(why));
    EXPECT_THAT(config.error().message, Not(HasSubstr("\n")));
  }

  const testing::TempDir dir_;
};

TEST_F(ConfigTest, TheDefaultFileIsGoodAndItsCommentedValuesAreTheDefaults) {
  const std::filesystem::path path =
      std::filesystem::path(FIELDCOST_SOURCE_DIR) / "deploy/config/aggregator.toml";
  const auto shipped = LoadConfig(path);
  ASSERT_TRUE(shipped.has_value()) << shipped.error().message;
  // Enabling every commented-out key must change nothing.
  auto text = ReadFile(path, 64 * kKiB);
  ASSERT_TRUE(text.has_value());
  std::string all;
  for (std::size_t start = 0; start < text->size();) {
    const std::size_t end = text->find('\n', start);
    std::string line = text->substr(start, end - start);
    const bool is_key = line.starts_with("# ") && std::islower(line[2]) != 0 &&
                        line.find(" = ") != std::string::npos &&
                        line.find(' ', 2) == line.find(" = ");
    all += (is_key ? line.substr(2) : line) + "\n";
    start = end + 1;
  }
  const auto full = Load(all);
  ASSERT_TRUE(full.has_value()) << full.error().message;
  EXPECT_EQ(full->server.port, shipped->server.port);
  EXPECT_EQ(full->server.threads, shipped->server.threads);
  EXPECT_EQ(full->store.checkpoint_rows, shipped->store.checkpoint_rows);
  EXPECT_EQ(full->store.checkpoint_bytes, shipped->store.checkpoint_bytes);
  EXPECT_EQ(full->store.checkpoint_seconds, shipped->store.checkpoint_seconds);
  EXPECT_EQ(full->store.write_buffer_bytes, shipped->store.write_buffer_bytes);
  EXPECT_EQ(full->store.block_cache_bytes, shipped->store.block_cache_bytes);
  EXPECT_EQ(full->ingest_threads, shipped->ingest_threads);
  EXPECT_EQ(full->ingest_queue, shipped->ingest_queue);
  EXPECT_EQ(full->publish_interval, shipped->publish_interval);
  EXPECT_EQ(full->publish.contribution_threshold, shipped->publish.contribution_threshold);
  EXPECT_EQ(full->publish.refresh_seconds, shipped->publish.refresh_seconds);
  EXPECT_EQ(full->publish.lifetime, shipped->publish.lifetime);
  EXPECT_EQ(full->address_file, "/run/fieldcost-aggregator/address");
  EXPECT_EQ(full->server.max_connections, shipped->server.max_connections);
  EXPECT_EQ(full->server.max_connections_per_address, shipped->server.max_connections_per_address);
  EXPECT_EQ(full->server.requests_per_second_per_address, 100.0);
  EXPECT_EQ(shipped->server.requests_per_second_per_address, 100.0);
  EXPECT_EQ(full->server.request_burst_per_address, shipped->server.request_burst_per_address);
  EXPECT_EQ(full->drain_delay, shipped->drain_delay);
  ASSERT_TRUE(full->admin.has_value() && shipped->admin.has_value());
  EXPECT_EQ(full->admin->server.address, shipped->admin->server.address);
  EXPECT_EQ(full->admin->server.port, shipped->admin->server.port);
  EXPECT_EQ(full->admin->address_file, "/run/fieldcost-aggregator/admin-address");
  EXPECT_EQ(full->admin->token_files, shipped->admin->token_files);
  EXPECT_EQ(full->retention_weeks, shipped->retention_weeks);
  EXPECT_EQ(full->min_free_bytes, shipped->min_free_bytes);
  EXPECT_EQ(full->store.probation_batches, shipped->store.probation_batches);
  EXPECT_EQ(full->store.probation_age, shipped->store.probation_age);
  EXPECT_EQ(shipped->store.probation_age, std::chrono::hours(24));
  EXPECT_EQ(full->store.held_bytes, shipped->store.held_bytes);
  EXPECT_EQ(full->ingest.held_bytes_per_address, shipped->ingest.held_bytes_per_address);
  EXPECT_EQ(full->ingest.modules, shipped->ingest.modules);
  EXPECT_EQ(full->ingest.batches_per_agent_per_hour, shipped->ingest.batches_per_agent_per_hour);
  EXPECT_EQ(full->ingest.rows_per_agent_per_hour, shipped->ingest.rows_per_agent_per_hour);
  EXPECT_EQ(full->log_format, shipped->log_format);
  EXPECT_EQ(full->log_level, shipped->log_level);
}

TEST_F(ConfigTest, EachKindOfMistakeIsNamedWithLineAndColumn) {
  // Values of the wrong type, for each way in which values are read.
  ExpectRefusal("checkpoint_rows = \"many\"\n", "6:19: store.checkpoint_rows: ", "found a string");
  ExpectRefusal("checkpoint_rows = 1.5\n", "6:19: store.checkpoint_rows: ", "with a fraction");
  ExpectRefusal("[log]\nlevel = 3\n", "7:9: log.level: ", "found an integer");
  ExpectRefusal("[ingest]\nmodules = \"libz.so.1\"\n", "7:11: ingest.modules: ", "found a string");
  ExpectRefusal("[ingest]\nmodules = [\"a\", 1]\n", "7:17: ingest.modules: ", "found an integer");
  ExpectRefusal("[admin]\naddress_file = 7\n", "7:16: admin.address_file: ", "a path in quotes");
  // Unknown key, unknown table.
  ExpectRefusal("retention_week = 9\n", "6:1: store.retention_week: ", "store.retention_weeks");
  ExpectRefusal("[admn]\nport = 1\n", "6:2: admn: ", "unknown key");
  // Out of range.
  ExpectRefusal("checkpoint_rows = 0\n", "6:19: store.checkpoint_rows: ", "from 1 to");
  ExpectRefusal("min_free_mib = -1\n", "6:16: store.min_free_mib: ", "from 0 to");
  ExpectRefusal("[admin]\nport = 65536\n", "7:8: admin.port: ", "from 0 to 65535");
  ExpectRefusal("retention_weeks = 7\n", "6:19: store.retention_weeks: ", "at least 8");
  // Not one of the allowed words.
  ExpectRefusal("[log]\nformat = \"xml\"\n",
                "7:10: log.format: ", "\"auto\", \"text\", \"json\", \"journal\"");
  ExpectRefusal("[enrolment]\nmode = \"shut\"\n",
                "7:8: enrolment.mode: ", "expected \"open\" or \"token\", found 'shut'");
  ExpectRefusal("[log]\nlevel = \"loud\"\n", "7:9: log.level: ", "\"error\", found 'loud'");
  ExpectRefusal(
      "[publish]\ninterval_seconds = 604801\n", "7:20: publish.interval_seconds: ",
      "publish.interval_seconds (604801) must not exceed publish.expiry_seconds (604800)");
  ExpectRefusal("[publish]\nexpiry_seconds = 60\n", "7:18: publish.expiry_seconds: ",
                "publish.interval_seconds (3600) must not exceed");
  ExpectRefusal("[admin]\nport = 8443\n", "7:8: admin.port: ", "8443 is also the port");
  // Not TOML, or not even text.
  ExpectRefusal("[log\n", "6:5: not TOML", "");
  ExpectRefusal("checkpoint_rows = \n", "6:19: not TOML", "");
  ExpectRefusal("checkpoint_rows = 1\ncheckpoint_rows = 2\n", "7:", "not TOML");
  ExpectRefusal("\xff\xfe\n", "", "not TOML: Encountered invalid utf-8");
}

TEST_F(ConfigTest, NamesTheMissingMandatoryKey) {
  const auto missing = [this](const std::string& text, const std::string& key) {
    const auto config = Load(text);
    ASSERT_FALSE(config.has_value());
    EXPECT_THAT(config.error().message, StartsWith(file().string()));
    EXPECT_THAT(config.error().message, HasSubstr(key));
  };
  missing("", "server.certificate");
  missing("[server]\ncertificate = \"c\"\n", "server.private_key");
  missing("[server]\ncertificate = \"c\"\nprivate_key = \"k\"\n", "store.data_dir");
}

TEST_F(ConfigTest, TheAdminListenerStaysOnThisMachine) {
  EXPECT_FALSE(LoadWith("").value().admin.has_value());
  EXPECT_EQ(LoadWith("[admin]\n").value().admin->server.port, 8444);
  for (const char* address : {"127.0.0.1", "127.1.2.3", "::1"}) {
    EXPECT_TRUE(LoadWith("[admin]\naddress = \"" + std::string(address) + "\"\n").has_value());
  }
  for (const char* address :
       {"0.0.0.0", "::", "192.0.2.1", "localhost", "", "128.0.0.1", "127.1"}) {
    ExpectRefusal("[admin]\naddress = \"" + std::string(address) + "\"\n",
                  "7:11: admin.address: ", "loopback");
  }
}

TEST_F(ConfigTest, ValuesArriveInTheirUnits) {
  const auto config = LoadWith(
      "retention_weeks = 8\nmin_free_mib = 0\n"
      "[ingest]\nprobation_batches = 0\nprobation_hours = 3\nheld_mib = 2\nheld_mib_per_address = "
      "1\nmodules = "
      "[\"lib*\"]\n"
      "[log]\nformat = \"json\"\nlevel = \"error\"\n"
      "[admin]\ntoken_files = [\"token\"]\n");
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->retention_weeks, 8U);
  EXPECT_EQ(config->min_free_bytes, 0U);
  EXPECT_EQ(config->store.probation_batches, 0U);
  EXPECT_EQ(config->store.probation_age, std::chrono::hours(3));
  EXPECT_EQ(config->store.held_bytes, 2 * kMiB);
  EXPECT_EQ(config->ingest.held_bytes_per_address, 1 * kMiB);
  EXPECT_EQ(config->ingest.modules, std::vector<std::string>{"lib*"});
  EXPECT_EQ(config->log_format, LogFormat::kJson);
  EXPECT_EQ(config->log_level, LogLevel::kError);
  EXPECT_EQ(config->admin->token_files, std::vector<std::filesystem::path>{dir_.path() / "token"});
}

}  // namespace
}  // namespace fieldcost::aggregator
