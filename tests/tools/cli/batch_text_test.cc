#include "tools/cli/batch_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fieldcost::cli {
namespace {

using agent::LoggedBatch;
using agent::SpoolState;
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

TEST(LogTextTest, ALineTellsWhatBecameOfABatch) {
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

TEST(ForgetPlanTest, CountsWhatCanBeTakenBackWhatIsDeletedAndWhatIsTooOld) {
  LoggedBatch old = Batch(2, SpoolState::kSent);
  old.can_withdraw = false;
  // The agent does not know whether it has arrived.
  LoggedBatch tried = Batch(3, SpoolState::kQueued);
  tried.can_withdraw = true;
  agent::AgentStatus status;
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

TEST(ForgetPlanTest, WhatIsNotThereIsNotMentioned) {
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
