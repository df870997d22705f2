// Events that are set aside: shown, hidden, removed.
#include "aggregator/probe_server/data/expire.h"
#include "common/base/clock.h"
#include "tests/aggregator/probe_server/site_fixture.h"

namespace fieldcost::probe_server {
namespace {

using testing::BatchOf;
using ::testing::HasSubstr;
using testing::kEventDayNs;
using ::testing::Not;

constexpr std::uint64_t kOutlier = 12;

class PurgeTest : public SiteTest {
 protected:
  PurgeTest() {
    for (std::uint64_t run = 1; run <= kOutlier; ++run) {
      const std::uint64_t step_ns = run == kOutlier ? 50'000'000 : 1'000'000 + run * 10'000;
      EXPECT_EQ(SendBatch(token_, BatchOf(run, {.run = run,
                                                .begin_ns = kEventDayNs + run * 1'000'000'000,
                                                .step_ns = step_ns}))
                    .status,
                200);
    }
    session_ = LogIn();
  }
  const std::string token_ = AddDeviceOf(alice_);
  std::string session_;
};

TEST_F(PurgeTest, SetsOutliersAsideWithTheReason) {
  const std::string list = Get("/events?label=index_open", session_).body;
  EXPECT_THAT(list, Not(HasSubstr(IdOf(kOutlier))));
  EXPECT_THAT(list, HasSubstr("1 set aside event is not shown"));
  const std::string all = Get("/events?label=index_open&aside=show", session_).body;
  EXPECT_THAT(all, HasSubstr(IdOf(kOutlier)));
  EXPECT_THAT(all, HasSubstr("times the median of"));
}

TEST_F(PurgeTest, OnePageOfAListIsJudgedByAllThatAreLikeIt) {
  const auto events =
      Api("/v1/events?limit=1&aside=show&label=index_open", token_).at("events").as_array();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_TRUE(events[0].at("is_set_aside").as_bool());
}

TEST_F(PurgeTest, KeptEventsAreShownAndNotRemoved) {
  EXPECT_EQ(Post("/events/" + IdOf(kOutlier) + "/mark", session_,
                 {{"mark", "kept"}, {"reason", "it is real"}})
                .status,
            303);
  EXPECT_THAT(Get("/events?label=index_open", session_).body, HasSubstr("kept: it is real"));
  EXPECT_THAT(Get("/purge?label=index_open", session_).body, HasSubstr("Nothing is set aside"));
  EXPECT_EQ(Post("/purge", session_, {{"id", IdOf(kOutlier)}, {"label", "index_open"}}).status,
            303);
  EXPECT_EQ(Count("SELECT count(*) FROM event"), kOutlier);
}

TEST_F(PurgeTest, RemovingAsksFirstAndThenRemovesPointsToo) {
  const std::string question = Get("/purge?label=index_open", session_).body;
  EXPECT_THAT(question, HasSubstr("1 event that is set aside"));
  EXPECT_THAT(question, HasSubstr(IdOf(kOutlier)));
  EXPECT_EQ(Count("SELECT count(*) FROM event"), kOutlier);
  EXPECT_EQ(Post("/purge", session_, {{"id", IdOf(kOutlier)}, {"label", "index_open"}}).status,
            303);
  EXPECT_EQ(Count("SELECT count(*) FROM event"), kOutlier - 1);
  EXPECT_EQ(Count("SELECT count(*) FROM hit"), (kOutlier - 1) * 4);
  EXPECT_EQ(Count("SELECT count(*) FROM action WHERE what = 'purged'"), 1U);
}

TEST_F(PurgeTest, FormRemovesOnlyEventsThatAreSetAside) {
  EXPECT_EQ(Post("/purge", session_, {{"id", IdOf(1)}, {"id", IdOf(kOutlier)}}).status, 303);
  EXPECT_EQ(Count("SELECT count(*) FROM event"), kOutlier - 1);
  EXPECT_EQ(Get("/events/" + IdOf(1), session_).status, 200);
}

TEST_F(PurgeTest, AReplayAfterARemovalBringsNothingBack) {
  Post("/purge", session_, {{"id", IdOf(kOutlier)}});
  EXPECT_EQ(SendBatch(token_, BatchOf(kOutlier, {.run = kOutlier,
                                                 .begin_ns = kEventDayNs + kOutlier * 1'000'000'000,
                                                 .step_ns = 50'000'000}))
                .status,
            200);
  EXPECT_EQ(Count("SELECT count(*) FROM event"), kOutlier - 1);
}

TEST_F(PurgeTest, OldEventsExpireAndWhatTheyAloneUsedGoesWithThem) {
  const WallTime later = TimeOfMicros(kEventDayNs / 1'000 + 6'500'000) + std::chrono::days(90);
  ASSERT_TRUE(writer_->Run([&](Data& data) -> Status {
    FIELDCOST_TRY(ExpireSome(data, 90, later));
    return ForgetOld(data, 90, later);
  }));
  EXPECT_EQ(Count("SELECT count(*) FROM event"), kOutlier - 6);
  EXPECT_EQ(Count("SELECT count(*) FROM session"), 0U);
  ASSERT_TRUE(writer_->Run([&](Data& data) -> Status {
    FIELDCOST_TRY(ExpireSome(data, 1, later));
    return {};
  }));
  EXPECT_EQ(Count("SELECT count(*) FROM event"), 0U);
  EXPECT_EQ(Count("SELECT count(*) FROM hit"), 0U);
  EXPECT_EQ(Count("SELECT count(*) FROM stack"), 0U);
}

}  // namespace
}  // namespace fieldcost::probe_server
