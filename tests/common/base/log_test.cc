#include "common/base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>

namespace fieldcost {
namespace {

using ::testing::EndsWith;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

class LogTest : public ::testing::Test {
 protected:
  ~LogTest() override {
    SetLogFormat(LogFormat::kText);
    SetLogLevel(LogLevel::kInfo);
  }

  static std::string Written(const std::function<void()>& log) {
    ::testing::internal::CaptureStderr();
    log();
    return ::testing::internal::GetCapturedStderr();
  }
};

void LogSample() {
  LogEvent(LogLevel::kWarning, "something happened",
           {{"rows", 12U},
            {"delta", -3},
            {"seconds", 0.25},
            {"good", true},
            {"word", "plain"},
            {"text", "two \"words\"\nand\x1b more"},
            {"empty", ""}});
}

TEST_F(LogTest, AnEventIsOneLineOfPairsAndTextsAreQuotedWhereNeeded) {
  const std::string line = Written(LogSample);
  EXPECT_THAT(line, StartsWith("20"));
  EXPECT_THAT(line, EndsWith("Z warning something happened rows=12 delta=-3 seconds=0.25 good=true "
                             "word=plain text=\"two \\\"words\\\"\\x0aand\\x1b more\" "
                             "empty=\"\"\n"));
}

TEST_F(LogTest, AnEventIsOneJsonObjectForAnyContent) {
  SetLogFormat(LogFormat::kJson);
  const std::string line = Written(LogSample);
  EXPECT_THAT(line, MatchesRegex("\\{\"time\":\"[0-9]+-[0-9]+-[0-9]+T[0-9]+:[0-9]+:[0-9.]+Z\",.*"));
  EXPECT_THAT(line,
              EndsWith("\"level\":\"warning\",\"event\":\"something happened\",\"rows\":12,"
                       "\"delta\":-3,\"seconds\":0.25,\"good\":true,\"word\":\"plain\","
                       "\"text\":\"two \\\"words\\\"\\u000aand\\u001b more\",\"empty\":\"\"}\n"));
  EXPECT_THAT(Written([] { LogInfo("it's {}", "\"bad\"\n"); }),
              EndsWith("\"level\":\"info\",\"message\":\"it's \\\"bad\\\"\\u000a\"}\n"));
}

TEST_F(LogTest, AnEventIsJsonWithNumbersThatJsonHasNot) {
  SetLogFormat(LogFormat::kJson);
  EXPECT_THAT(Written([] {
                LogEvent(LogLevel::kInfo, "rate",
                         {{"nan", std::nan("")}, {"most", UINT64_MAX}, {"least", INT64_MIN}});
              }),
              EndsWith("\"event\":\"rate\",\"nan\":null,\"most\":18446744073709551615,"
                       "\"least\":-9223372036854775808}\n"));
}

TEST_F(LogTest, AJournalGetsTheLevelInFrontAndNoTime) {
  SetLogFormat(LogFormat::kJournal);
  EXPECT_EQ(Written([] {
              LogEvent(LogLevel::kError, "failed", {{"what", "disk"}});
            }),
            "<3>failed what=disk\n");
  EXPECT_EQ(Written([] { LogInfo("one\n<0>forged"); }), "<6>one\\x0a<0>forged\n");
}

TEST_F(LogTest, LinesBelowTheLevelAreDropped) {
  SetLogLevel(LogLevel::kWarning);
  EXPECT_EQ(Written([] { LogEvent(LogLevel::kInfo, "quiet"); }), "");
  EXPECT_THAT(Written([] { LogEvent(LogLevel::kWarning, "loud"); }), EndsWith(" loud\n"));
}

}  // namespace
}  // namespace fieldcost
