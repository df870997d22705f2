#include "tools/cli/agent/batch_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/cli/agent/batch_row_text.h"

namespace fieldcost::cli {
namespace {

using spool::LoggedBatch;
using spool::SpoolState;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr WallTime kMade{std::chrono::seconds(1'700'000'000)};
constexpr WallTime kSent{std::chrono::seconds(1'700'003'600)};

LoggedBatch Batch(std::uint64_t id, SpoolState state) {
  return {.id = id,
          .state = state,
          .rows = 1234,
          .created = kMade,
          .sent = state == SpoolState::kQueued ? WallTime{} : kSent,
          .size_bytes = 5678,
          .sha256 = "0123456789abcdef",
          .can_withdraw = state == SpoolState::kSent};
}

TEST(LogTextTest, ALineStatesTheOutcomeOfABatch) {
  LoggedBatch partly = Batch(1, SpoolState::kSent);
  partly.rejected_rows = 1;
  LoggedBatch old = Batch(2, SpoolState::kSent);
  old.can_withdraw = false;
  LoggedBatch refused = Batch(10, SpoolState::kQuarantined);
  refused.reason = "status 400: bad\x1b[2J";
  EXPECT_EQ(LogText({partly, old, Batch(3, SpoolState::kQueued), Batch(4, SpoolState::kWithdrawn),
                     Batch(5, SpoolState::kDropped), refused},
                    {}),
            "ID  MADE                  SENT                  STATE        ROWS  BYTES  SHA256"
            "        NOTE\n"
            " 1  2023-11-14 22:13 UTC  2023-11-14 23:13 UTC  sent        1,234  5,678  "
            "0123456789ab  1 row refused\n"
            " 2  2023-11-14 22:13 UTC  2023-11-14 23:13 UTC  sent        1,234  5,678  "
            "0123456789ab  bytes not kept\n"
            " 3  2023-11-14 22:13 UTC  -                     queued      1,234  5,678  "
            "0123456789ab\n"
            " 4  2023-11-14 22:13 UTC  -                     taken back  1,234  5,678  "
            "0123456789ab  2023-11-14 23:13 UTC\n"
            " 5  2023-11-14 22:13 UTC  -                     dropped     1,234  5,678  "
            "0123456789ab\n"
            "10  2023-11-14 22:13 UTC  -                     refused     1,234  5,678  "
            "0123456789ab  status 400: bad\\x1b[2J\n");
}

constexpr draw::Style kUtf8 = {.utf8 = true};

wire::BatchRow Row(stats::Metric metric, std::vector<std::uint64_t> values) {
  wire::BatchRow row{.api = {.soname = "libz.so.1",
                             .package_version = "1:1.2.13",
                             .build_id = "93ac",
                             .symbol = "deflate",
                             .symbol_version = "ZLIB_1.2"},
                     .metric = metric,
                     .week = 2968,
                     .first_contribution = true};
  for (const std::uint64_t value : values) row.histogram.Add(value);
  return row;
}

TEST(RowSentenceTest, NamesFunctionVersionDaysAndCostInUnitsForPeople) {
  EXPECT_EQ(RowSentence(Row(stats::Metric::kCallsPerRun, {4}), kUtf8),
            "deflate in libz.so.1 (version 1:1.2.13), 2026-11-19 to 2026-11-25: 1 run of programs "
            "called it 4 times. You have not reported this cost before.");
  wire::BatchRow again = Row(stats::Metric::kFirstCallTime, {158'000, 42'000});
  again.first_contribution = false;
  again.api.package_version.clear();
  EXPECT_EQ(RowSentence(again, kUtf8),
            "deflate in libz.so.1 (of no package), 2026-11-19 to 2026-11-25: 2 first calls of runs "
            "took 200.0 µs together. It is added to what you have reported before.");
  EXPECT_THAT(RowSentence(again, {}), HasSubstr("took 200.0 us together."));
}

// One run that represents 4,096: n and sum count it 4,096 times.
TEST(RowSentenceTest, ExplainsARunThatRepresentsMany) {
  EXPECT_THAT(
      RowSentence(Row(stats::Metric::kTimePerRun, std::vector<std::uint64_t>(4'096, 18'051)),
                  kUtf8),
      HasSubstr(": 4,096 runs of programs, measured or not, spent an estimated 73.94 ms in "
                "it, 18.05 µs each (a measured run counts for all runs among which it was "
                "drawn). "));
}

TEST(RowSentenceTest, EveryMetricHasOne) {
  for (unsigned metric = 1; metric <= shm::kMaxMetric; ++metric) {
    const std::string sentence = RowSentence(Row(static_cast<stats::Metric>(metric), {1}), kUtf8);
    EXPECT_THAT(sentence, Not(HasSubstr(": . "))) << metric;
  }
  EXPECT_THAT(RowSentence(Row(stats::Metric::kWallTimeBusy, {64, 64}), kUtf8),
              HasSubstr(": on a busy machine, 2 calls took 128 ns together. "));
  EXPECT_THAT(RowSentence(Row(stats::Metric::kAllocInclusive, {2048}), kUtf8),
              HasSubstr(": 1 call allocated 2.0 KiB of memory. "));
}

TEST(RowSentenceTest, AnUnknownMetricOfAKeptBatchHasNoValue) {
  for (const unsigned number : {0U, shm::kMaxMetric + 1, 255U}) {
    const auto metric = static_cast<stats::Metric>(number);
    EXPECT_THAT(RowSentence(Row(metric, {1}), kUtf8), HasSubstr(": . "));
  }
}

TEST(RowSentenceTest, TextFromOutsideIsEscaped) {
  wire::BatchRow row = Row(stats::Metric::kWallTime, {1});
  row.api.symbol = "a\x1b[2J";
  EXPECT_THAT(RowSentence(row, kUtf8), HasSubstr("a\\x1b[2J in "));
}

// The texts and numbers of each row follow its sentence.
TEST(PreviewTextTest, ASentenceHasTheExactValuesBelowIt) {
  volunteer::BatchDetails batch;
  batch.content.rows = {Row(stats::Metric::kFirstCallTime, {158}),
                        Row(stats::Metric::kCallsPerRun, {4})};
  batch.content.rows[1].first_contribution = false;
  const std::string text = PreviewText(batch, "key", kUtf8);
  for (const wire::BatchRow& row : batch.content.rows) {
    EXPECT_THAT(text, HasSubstr("\n" + RowSentence(row, kUtf8) +
                                "\n  exactly: libz.so.1!deflate  version 1:1.2.13  symbol version "
                                "ZLIB_1.2  build-id 93ac\n"));
  }
  EXPECT_THAT(text,
              AllOf(HasSubstr("    first_call  week 2968  first  n 1  sum 158  sum of squares "
                              "24964\n"),
                    HasSubstr("    calls_per_run  week 2968  again  n 1  sum 4  sum of squares "
                              "16\n")));
}

TEST(ForgetPlanTest, CountsWhatCanBeTakenBackWhatIsDeletedAndWhatIsTooOld) {
  LoggedBatch old = Batch(2, SpoolState::kSent);
  old.can_withdraw = false;
  // The agent does not know whether this batch has arrived.
  LoggedBatch tried = Batch(3, SpoolState::kQueued);
  tried.can_withdraw = true;
  volunteer::AgentStatus status;
  status.outbox.pending_rows = 1;
  const ForgetPlan plan =
      MakeForgetPlan({Batch(1, SpoolState::kSent), old, tried, Batch(4, SpoolState::kQueued),
                      Batch(5, SpoolState::kWithdrawn), Batch(6, SpoolState::kDropped)},
                     status);
  EXPECT_EQ(plan.sent, 2U);
  EXPECT_EQ(plan.sent_rows, 2468U);
  EXPECT_EQ(plan.too_old, 1U);
  EXPECT_EQ(plan.unsent, 1U);
  EXPECT_FALSE(plan.Empty());
  EXPECT_THAT(ForgetPlanText(plan, "https://example.org"),
              AllOf(HasSubstr("2 batches (2,468 rows) will be subtracted from the sums of "
                              "https://example.org\n"),
                    HasSubstr("1 batch and 1 row not yet sent will be deleted\n"),
                    HasSubstr("1 batch cannot be taken back"), HasSubstr("next sync")));
}

TEST(ForgetPlanTest, OmitsWhatDoesNotExist) {
  EXPECT_TRUE(MakeForgetPlan({Batch(5, SpoolState::kWithdrawn)}, {}).Empty());
  EXPECT_THAT(ForgetPlanText({.sent = 1, .sent_rows = 1}, ""),
              AllOf(HasSubstr("1 batch (1 row) will be subtracted from the sums of the service\n"),
                    Not(HasSubstr("deleted")), Not(HasSubstr("cannot"))));
}

TEST(ForgetTextTest, EachOutcomeIsALine) {
  EXPECT_EQ(ForgetText({}, {}), "nothing to take back\n");
  EXPECT_EQ(ForgetText({.batches_withdrawn = 1,
                        .rows_withdrawn = 2,
                        .batches_deleted = 3,
                        .batches_refused = 4,
                        .batches_too_old = 5,
                        .batches_left = 6,
                        .refused_reason = "no\n"},
                       {.pending_rows = 7}),
            "1 batch (2 rows) subtracted from the service's sums\n"
            "3 batches deleted before being sent\n"
            "7 rows deleted that were not in a batch yet\n"
            "4 batches not taken back: no\\x0a\n"
            "5 batches not taken back: the bytes are no longer kept here\n"
            "6 batches left; run again to continue\n");
}

}  // namespace
}  // namespace fieldcost::cli
