#include "agent/probe/spool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/probe/login.h"
#include "common/base/file.h"
#include "common/probe/event_batch.h"
#include "tests/common/probe/sample_batch.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::probe {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

// Shifts a batch, as for runs that follow each other.
Batch Later(Batch batch, std::uint64_t run) {
  const std::uint64_t by = run * 1'000'000;
  for (EventInfo& event : batch.events) {
    if (event.begin_ns != 0) event.begin_ns += by;
    if (event.end_ns != 0) event.end_ns += by;
  }
  for (Hit& hit : batch.hits) hit.ns += by;
  return batch;
}

class SpoolTest : public ::testing::Test {
 protected:
  SpoolTest() { EXPECT_TRUE(spool_.has_value()) << spool_.error().message; }

  void Keep(std::uint64_t run, Spool::Destination destination = Spool::Destination::kServer) {
    Spool::Positions positions{};
    positions[3] = run;
    const Status kept =
        spool_->Keep(Later(SampleBatch(0, run), run), run, positions, [&] { return destination; });
    ASSERT_TRUE(kept.has_value()) << kept.error().message;
  }

  const testing::TempDir directory_;
  Result<Spool> spool_ = Spool::Open(directory_.path() / "probe.db");
};

TEST_F(SpoolTest, BatchesAreNumberedAndSentInTheirOrder) {
  Keep(11);
  Keep(12, Spool::Destination::kHere);
  Keep(13);
  auto batch = *spool_->FirstOutgoing();
  EXPECT_EQ(batch->sequence, 1U);
  EXPECT_EQ(*DecodeBatch(batch->body), Later(SampleBatch(1, 11), 11));
  ASSERT_TRUE(spool_->MarkSent(1).has_value());
  batch = *spool_->FirstOutgoing();
  EXPECT_EQ(batch->sequence, 2U);
  ASSERT_TRUE(spool_->MarkRefused(2, "status 400").has_value());
  EXPECT_FALSE(spool_->FirstOutgoing()->has_value());
  Keep(14);
  EXPECT_EQ((*spool_->FirstOutgoing())->sequence, 3U) << "numbers are not used again";
  const auto totals = spool_->Count();
  EXPECT_EQ(totals->sent, 1U);
  EXPECT_EQ(totals->refused, 1U);
  EXPECT_EQ(totals->queued, 1U);
  EXPECT_EQ(totals->last_refusal, "status 400");
  EXPECT_EQ(spool_->events().Measure()->hits, 16U);
}

TEST_F(SpoolTest, PositionsComeWithTheirHitsAndStay) {
  Keep(11);
  const auto again = Spool::OpenExisting(directory_.path() / "probe.db");
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ((*spool_->PositionsOf(11))[3], 11U);
  EXPECT_EQ((*spool_->PositionsOf(12))[3], 0U);
  ASSERT_TRUE(spool_->ForgetPositions(11).has_value());
  EXPECT_EQ((*spool_->PositionsOf(11))[3], 0U);
}

TEST_F(SpoolTest, KeepsNothingThatCannotBeSent) {
  Batch spoiled = SampleBatch(0, 11);
  spoiled.hits[0].ns = 1;
  EXPECT_FALSE(
      spool_->Keep(spoiled, 11, {}, [] { return Spool::Destination::kServer; }).has_value());
  EXPECT_EQ(spool_->events().Measure()->hits, 0U);
  EXPECT_EQ(spool_->Count()->queued, 0U);
}

// So if consent is withdrawn at that moment, all of it is deleted, or it was not queued.
TEST_F(SpoolTest, ChoosesTheDestinationBeforeAnyDataIsVisible) {
  auto other = Spool::OpenExisting(directory_.path() / "probe.db");
  ASSERT_TRUE(other.has_value());
  const auto kept = spool_->Keep(SampleBatch(0, 11), 11, {}, [&] {
    EXPECT_EQ(other->events().Measure()->hits, 0U);
    return Spool::Destination::kHere;
  });
  ASSERT_TRUE(kept.has_value());
  EXPECT_NE(other->events().Measure()->hits, 0U);
  EXPECT_FALSE(other->FirstOutgoing()->has_value());
}

TEST_F(SpoolTest, WithoutAnAnswerNothingIsKept) {
  Spool::Positions positions{};
  positions[3] = 64;
  const auto kept =
      spool_->Keep(SampleBatch(0, 11), 11, positions, []() -> Result<Spool::Destination> {
        return Fail(ErrorCode::kPermissionDenied, "no consent can be read");
      });
  ASSERT_FALSE(kept.has_value());
  EXPECT_EQ(kept.error().code, ErrorCode::kPermissionDenied);
  EXPECT_EQ(spool_->events().Measure()->hits, 0U);
  EXPECT_EQ((*spool_->PositionsOf(11))[3], 0U);
}

TEST_F(SpoolTest, TriesBecomeRarerUntilOneSucceeds) {
  const WallTime now(std::chrono::days(20'000));
  EXPECT_EQ(*spool_->NextTry(), WallTime());
  for (const minutes wait : {minutes(1), minutes(2), minutes(4), minutes(8), minutes(16),
                             minutes(32), minutes(60), minutes(60)}) {
    ASSERT_TRUE(spool_->NoteFailure(now, {}).has_value());
    EXPECT_EQ(*spool_->NextTry(), now + wait);
  }
  ASSERT_TRUE(spool_->NoteSuccess().has_value());
  EXPECT_EQ(*spool_->NextTry(), WallTime());
  ASSERT_TRUE(spool_->NoteFailure(now, seconds(300)).has_value());
  EXPECT_EQ(*spool_->NextTry(), now + seconds(300)) << "as the server asks";
  ASSERT_TRUE(spool_->NoteFailure(now, std::chrono::hours(20)).has_value());
  EXPECT_EQ(*spool_->NextTry(), now + std::chrono::hours(1));
}

TEST_F(SpoolTest, TheOldestGoWhenThereIsTooMuch) {
  for (std::uint64_t run = 1; run <= 200; ++run) Keep(1000 + run);
  const std::uint64_t bytes = spool_->events().Measure()->bytes;
  ASSERT_TRUE(spool_->Trim(bytes / 2).has_value());
  EXPECT_LE(spool_->events().Measure()->bytes, bytes / 2);
  const auto totals = spool_->Count();
  EXPECT_GT(totals->dropped, 0U);
  EXPECT_EQ(totals->dropped + totals->queued, 200U);
  EXPECT_FALSE(spool_->events().Row({0, {1001, 1}}).has_value());
  EXPECT_TRUE(spool_->events().Row({0, {1200, 1}}).has_value());
}

TEST(ProbeLoginTest, ItIsKeptSecretAndReadBack) {
  const testing::TempDir directory;
  settings::AgentPaths paths;
  paths.state_dir = directory.path() / "state";
  EXPECT_EQ(LoadLogin(paths).error().code, ErrorCode::kNotFound);
  const Login login = {.url = "https://a.example",
                       .user = "ann",
                       .device = "7",
                       .token = "t0k3n",
                       .ca_file = "/ca.pem"};
  ASSERT_TRUE(SaveLogin(paths, login).has_value());
  const auto loaded = LoadLogin(paths);
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
  EXPECT_EQ(loaded->token, login.token);
  EXPECT_EQ(loaded->ca_file, login.ca_file);
  std::filesystem::permissions(LoginFile(paths), std::filesystem::perms(0644));
  EXPECT_EQ(LoadLogin(paths).error().code, ErrorCode::kPermissionDenied);
  std::filesystem::permissions(LoginFile(paths), std::filesystem::perms(0600));
  ASSERT_TRUE(WriteFileAtomically(LoginFile(paths), "https://a.example\n", 0600).has_value());
  EXPECT_EQ(LoadLogin(paths).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(SaveLogin(paths, {.url = "a\nb", .user = {}, .device = {}, .token = {}, .ca_file = {}})
                .error()
                .code,
            ErrorCode::kInvalidArgument);
  ASSERT_TRUE(RemoveLogin(paths).has_value());
  EXPECT_EQ(LoadLogin(paths).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace fieldcost::probe
