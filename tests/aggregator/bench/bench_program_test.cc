// Runs `fieldcost-aggregator bench` as a program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <boost/json.hpp>
#include <filesystem>

#include "common/base/error.h"
#include "tests/support/binary_dir.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_until.h"

namespace fieldcost::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

std::vector<std::string> BenchWords(const std::filesystem::path& directory,
                                    const std::string& syncs) {
  return {FIELDCOST_BINARY_DIR "/bin/fieldcost-aggregator",
          "bench",
          directory.string(),
          "--syncs",
          syncs,
          "--write-mib",
          "1",
          "--agents",
          "1"};
}

TEST(BenchProgramTest, TellsPeopleAndProgramsWhatItMeasured) {
  const TempDir dir;
  std::vector<std::string> words = BenchWords(dir.path(), "2");
  const ProcessResult text = RunProcess({.arguments = words});
  ASSERT_EQ(text.exit_status, 0) << text.errors;
  EXPECT_EQ(text.errors, "");
  EXPECT_THAT(text.output, HasSubstr("A sync of 128 KiB takes "));
  EXPECT_THAT(text.output, HasSubstr("\nSo one core serves about "));

  words.emplace_back("--json");
  const ProcessResult json = RunProcess({.arguments = words});
  ASSERT_EQ(json.exit_status, 0) << json.errors;
  EXPECT_EQ(json.errors, "");
  const boost::json::value report = boost::json::parse(json.output);
  for (const char* times : {"fsync", "fdatasync", "ack"}) {
    EXPECT_GT(report.at(times).at("p50_ms").to_number<double>(), 0);
    EXPECT_LE(report.at(times).at("p99_ms").to_number<double>(),
              report.at(times).at("p999_ms").to_number<double>());
  }
  EXPECT_GT(report.at("write_mib_per_second").to_number<double>(), 0);
  const boost::json::value& ingest = report.at("ingest");
  EXPECT_EQ(ingest.at("batches").as_int64(), 4);
  EXPECT_GT(ingest.at("bucket_adds").as_int64(), 4000);
  EXPECT_GT(ingest.at("bucket_adds_per_second").to_number<double>(), 0);
  EXPECT_EQ(report.at("acknowledged").as_int64(), 4);
  EXPECT_GT(report.at("agents_per_hour").as_int64(), 0);
  EXPECT_TRUE(report.at("limit") == "cpu" || report.at("limit") == "disk");
  EXPECT_GE(report.at("verdict").as_array().size(), 6U);
  EXPECT_TRUE(report.at("durable").is_bool());
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

TEST(BenchProgramTest, RemovesItsFilesWhenItIsInterrupted) {
  const TempDir dir;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    BackgroundProcess bench({.arguments = BenchWords(dir.path(), "1000000")});
    ASSERT_TRUE(WaitUntil([&] { return !std::filesystem::is_empty(dir.path()); }));
    bench.Signal(signal);
    const ProcessResult result = bench.Wait();
    EXPECT_EQ(result.exit_status, 128 + signal);
    EXPECT_EQ(result.output, "fieldcost-aggregator: interrupted; the files are removed\n");
    EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
  }
}

TEST(BenchProgramTest, EachErrorHasItsExitStatus) {
  const TempDir dir;
  const ProcessResult nowhere = RunProcess({.arguments = BenchWords(dir.path() / "nowhere", "2")});
  EXPECT_EQ(nowhere.exit_status, ExitStatus(ErrorCode::kNotFound));
  EXPECT_THAT(nowhere.errors, HasSubstr("nowhere"));
  EXPECT_EQ(nowhere.output, "");
  const ProcessResult wrong = RunProcess({.arguments = BenchWords(dir.path(), "0")});
  EXPECT_EQ(wrong.exit_status, ExitStatus(ErrorCode::kInvalidArgument));
  EXPECT_THAT(wrong.errors, HasSubstr("--syncs"));
}

}  // namespace
}  // namespace fieldcost::testing
