// The real program with a wrong clock, and later with the right one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/aggregator/operate/operate_fixture.h"
#include "tests/support/fake_time.h"

namespace fieldcost::aggregator {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kYearAhead[] = "+364d";
constexpr std::uint32_t kYearWeeks = 52;
constexpr std::uint32_t kKeptWeeks = 20;  // as in the fixture

class WrongClockTest : public OperateTest {
 protected:
  testing::ProcessResult RunAhead(const std::vector<std::string>& words) {
    return testing::RunProcess(testing::AtOffset(Command(words), kYearAhead));
  }
  void StartAhead() {
    testing::BackgroundProcess server(testing::AtOffset(Command(), kYearAhead));
    std::string line;
    ASSERT_TRUE(server.WaitForLine("nothing is deleted: by the clock it is week ", &line));
    EXPECT_THAT(line, HasSubstr("expire --config FILE --before " + std::to_string(due_)));
    server.Signal(SIGTERM);
    EXPECT_EQ(server.Wait().exit_status, 0);
  }

  const std::uint32_t now_ = WeekOf(SystemClock().Now());
  const std::uint32_t due_ = now_ + kYearWeeks - kKeptWeeks;  // older weeks expire in a year
};

TEST_F(WrongClockTest, DeletesOnlyTheNamedWeekAfterConfirmation) {
  FIELDCOST_SKIP_WITHOUT_FAKE_TIME();
  ASSERT_NO_FATAL_FAILURE(Start());
  Send(1);
  Stop();
  ASSERT_NO_FATAL_FAILURE(StartAhead());
  const std::string week = std::to_string(due_);
  EXPECT_EQ(RunAhead({"expire"}).exit_status, ExitStatus(ErrorCode::kInvalidArgument));
  const testing::ProcessResult shown = RunAhead({"expire", "--before", week});
  EXPECT_EQ(shown.exit_status, 0) << shown.errors;
  for (const std::string& text :
       {"dry run; would delete all rows before week " + week + " (from " + FirstDayOf(due_) +
            "): rows=5 ",
        std::string(" rows_left=0 "),
        "oldest_week=" + std::to_string(now_) + " newest_week=" + std::to_string(now_) + "\n",
        "fieldcost-aggregator backup --config " + config_file().string() + " --to DIR\n",
        "expire --config " + config_file().string() + " --before " + week + " --yes\n"}) {
    EXPECT_THAT(shown.output, HasSubstr(text));
  }
  for (const auto& [before, why] :
       {std::pair{due_ + 1, "keeps those from week " + week + " ("},
        std::pair{now_ + kYearWeeks + 1, std::string("is in the future: by the clock it is")}}) {
    for (const bool yes : {false, true}) {
      std::vector<std::string> words{"expire", "--before", std::to_string(before)};
      if (yes) words.push_back("--yes");
      const testing::ProcessResult refused = RunAhead(words);
      EXPECT_EQ(refused.exit_status, ExitStatus(ErrorCode::kInvalidArgument));
      EXPECT_THAT(refused.errors, HasSubstr(why));
    }
  }
  EXPECT_THAT(MustRun({"verify"}), HasSubstr(" batches=1 rows=5 "));
  ASSERT_NO_FATAL_FAILURE(Start());
  EXPECT_EQ(Ask("/readyz").status, 200);
  Send(2);
  Stop();
}

TEST_F(WrongClockTest, ReportsBoundsAheadOfTheClockAndLosesNothing) {
  FIELDCOST_SKIP_WITHOUT_FAKE_TIME();
  ASSERT_NO_FATAL_FAILURE(Start());
  Send(1);
  Stop();
  const testing::ProcessResult done = RunAhead({"expire", "--before", FirstDayOf(due_), "--yes"});
  EXPECT_EQ(done.exit_status, 0) << done.errors;
  EXPECT_THAT(done.output, HasSubstr("rows=5 "));

  std::string line = "the service is not ready";
  ASSERT_NO_FATAL_FAILURE(Start(Command(), &line));
  const std::string bound = "before week " + std::to_string(due_) + " (" + FirstDayOf(due_) + ")";
  EXPECT_THAT(line, HasSubstr("error"));
  EXPECT_THAT(line, HasSubstr(bound));
  const http::Response ready = Ask("/readyz");
  EXPECT_EQ(ready.status, 503);
  EXPECT_THAT(ready.body, HasSubstr("the clock or the store's bounds are wrong: it is week "));
  EXPECT_THAT(ready.body, HasSubstr(bound));
  const http::Response answer =
      MustSend(ingest::SignedRequest(key_, 2, ingest::TestContent(5, now_)));
  EXPECT_EQ(answer.status, 503);
  EXPECT_NE(http::Find(answer.headers, "Retry-After"), "");
  EXPECT_THAT(answer.body, Not(HasSubstr(" to ")));
  EXPECT_THAT(Ask("/metrics").body,
              HasSubstr("fieldcost_ingest_refusals_total{reason=\"wrong_clock\"} 1\n"));
  Stop();
}

}  // namespace
}  // namespace fieldcost::aggregator
