// Invitations, from issuing by the operator to the keys that enrol with them.
#include "aggregator/ingest/invite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "common/crypto/sha256.h"
#include "tests/aggregator/ingest/trust_fixture.h"

namespace fieldcost::ingest {
namespace {

using std::chrono::days;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class InviteTest : public TrustTest {
 protected:
  InviteTest() { Reopen(); }

  // Like a restart in mode "token".
  void Reopen() {
    Open({});
    ingest_ = std::make_unique<Ingest>(
        *store_, clock_, *Pseudonyms::LoadOrCreate(dir_.path() / "pseudonyms"),
        *Receipts::LoadOrCreate(dir_.path() / "receipts"),
        std::move(*Admission::Load(EnrolmentMode::kToken, {}, *store_)),
        IngestOptions{.names = {kTestHost}, .roots = {kTestRoot}});
  }

  std::chrono::sys_seconds Now() const {
    return std::chrono::floor<std::chrono::seconds>(clock_.Now());
  }
  MadeInvitation MustInvite(const InvitationRequest& request) {
    const auto made = Invite(*store_, request, Now());
    EXPECT_TRUE(made.has_value()) << made.error().message;
    return made.value_or(MadeInvitation());
  }
  std::string ListedAs() { return DescribeInvitations(*store_, Now()).value().at(0); }

  static crypto::PrivateKey KeyOf(unsigned agent) {
    return crypto::PrivateKey::FromSeed(std::string(32, static_cast<char>('A' + agent)));
  }
  http::Response Enrol(unsigned agent, const std::string& token) {
    return ingest_->Handle(EnrolmentRequest(KeyOf(agent), token));
  }
};

TEST_F(InviteTest, InvitationEnrolsExactlyItsNumberOfKeys) {
  const MadeInvitation one = MustInvite({});
  const MadeInvitation two = MustInvite({.uses = 2});
  EXPECT_EQ(Enrol(0, one.token).status, 200);
  EXPECT_EQ(Enrol(0, one.token).status, 200) << "a key that asks again uses nothing";
  const http::Response second = Enrol(1, one.token);
  EXPECT_EQ(second.status, 403);
  EXPECT_THAT(second.body, HasSubstr("the invitation has no uses left"));
  EXPECT_EQ(Send(KeyOf(1), 1, TestContent(1, kTrustWeek)).status, 401);
  EXPECT_EQ(Send(KeyOf(0), 1, TestContent(1, kTrustWeek)).status, 200);
  Reopen();
  EXPECT_EQ(Enrol(1, one.token).status, 403) << "uses are kept over a restart";
  EXPECT_EQ(Enrol(2, two.token).status, 200);
  EXPECT_EQ(Enrol(3, two.token).status, 200);
  EXPECT_EQ(Enrol(4, two.token).status, 403);
  EXPECT_EQ(Enrol(0, two.token).status, 200) << "has enrolled before";
}

TEST_F(InviteTest, KeysThatEnrolAtOnceShareTheUses) {
  const MadeInvitation made = MustInvite({.uses = 3});
  std::atomic<unsigned> enrolled{0};
  std::vector<std::thread> threads;
  for (unsigned agent = 0; agent < 16; ++agent) {
    threads.emplace_back(
        [&, agent] { enrolled += Enrol(agent, made.token).status == 200 ? 1 : 0; });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(enrolled, 3U);
  EXPECT_THAT(ListedAs(), HasSubstr("uses=3 used=3"));
}

TEST_F(InviteTest, OnlyTheFirstUseHasToComeBeforeItExpires) {
  const MadeInvitation late = MustInvite({.days = 14});
  const MadeInvitation used = MustInvite({.days = 14});
  EXPECT_EQ(Enrol(0, used.token).status, 200);
  clock_.Advance(days(14));
  const http::Response refused = Enrol(1, late.token);
  EXPECT_EQ(refused.status, 403);
  EXPECT_THAT(refused.body, HasSubstr("has expired"));
  EXPECT_EQ(Enrol(0, used.token).status, 200);
  // An agent has a new key in the next quarter; the same invitation is valid again for it.
  clock_.Advance(days(7 * store::kWeeksPerEpoch - 14));
  SetTestEpoch(EpochOfWeek(kTrustWeek + store::kWeeksPerEpoch));
  EXPECT_EQ(Enrol(2, used.token).status, 200);
  EXPECT_EQ(Enrol(3, used.token).status, 403);
}

TEST_F(InviteTest, ARemovedInvitationEnrolsNoFurtherKey) {
  const MadeInvitation made = MustInvite({.uses = 9, .label = "the lab"});
  EXPECT_EQ(Enrol(0, made.token).status, 200);
  EXPECT_EQ(RemoveInvitation(*store_, "0123456789abcdef").error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(RemoveInvitation(*store_, made.name).has_value());
  const http::Response refused = Enrol(1, made.token);
  EXPECT_EQ(refused.status, 403);
  EXPECT_THAT(refused.body, HasSubstr("is not valid for this service"));
  EXPECT_EQ(Send(KeyOf(0), 1, TestContent(1, kTrustWeek)).status, 200) << "stays enrolled";
  EXPECT_THAT(DescribeInvitations(*store_, Now()).value(), IsEmpty());
}

TEST_F(InviteTest, TheListNamesEverythingButTheToken) {
  const MadeInvitation made = MustInvite({.uses = 2, .days = 3, .label = "the lab"});
  EXPECT_EQ(Enrol(0, made.token).status, 200);
  EXPECT_EQ(ListedAs(),
            made.name + " uses=2 used=1 made=2026-09-27 expires=2026-09-30 label=the lab");
  EXPECT_THAT(ListedAs(), Not(HasSubstr(made.token)));
}

TEST_F(InviteTest, ValuesOutOfRangeAreRefused) {
  for (const InvitationRequest& request :
       {InvitationRequest{.uses = 0}, InvitationRequest{.uses = store::kMaxInvitationUses + 1},
        InvitationRequest{.days = 0}, InvitationRequest{.days = kMaxInvitationDays + 1},
        InvitationRequest{.label = std::string(store::kMaxInvitationLabelBytes + 1, 'x')},
        InvitationRequest{.label = "two\nlines"}}) {
    EXPECT_EQ(Invite(*store_, request, Now()).error().code, ErrorCode::kInvalidArgument);
  }
  EXPECT_THAT(DescribeInvitations(*store_, Now()).value(), IsEmpty());
}

}  // namespace
}  // namespace fieldcost::ingest
