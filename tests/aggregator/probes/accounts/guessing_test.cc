// Guessing passwords and names.
#include "aggregator/probes/accounts/guessing.h"

#include "tests/aggregator/probes/site_fixture.h"

namespace fieldcost::probe_server {
namespace {

class GuessingTest : public SiteTest {
 protected:
  // The failures that are free.
  void Fail(const std::string& user, std::uint64_t times = kFreeFailures) {
    for (std::uint64_t i = 0; i < times; ++i) {
      EXPECT_EQ(TryLogIn(user, "wrong password").status, 401);
    }
  }
};

TEST(GuessingRulesTest, TheWaitDoublesFromAMinuteToAnHour) {
  const std::vector<std::int64_t> expected = {0,   0,   0,   0,    0,    60,  120,
                                              240, 480, 960, 1920, 3600, 3600};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(WaitAfter(i).count(), expected[i]) << i;
  }
  EXPECT_EQ(WaitAfter(~std::uint64_t{0}), kLongestWait);
}

TEST(GuessingRulesTest, ANetworkOfIpV6IsOneAddress) {
  EXPECT_EQ(NetworkOf("2001:db8::1"), NetworkOf("2001:db8::ffff:2"));
  EXPECT_NE(NetworkOf("2001:db8::1"), NetworkOf("2001:db8:0:1::1"));
  EXPECT_EQ(NetworkOf("::ffff:192.0.2.1"), "192.0.2.1");
  EXPECT_NE(NetworkOf("192.0.2.1"), NetworkOf("192.0.2.2"));
}

TEST_F(GuessingTest, AfterFiveFailuresEvenTheRightPasswordHasToWaitAMinute) {
  Fail("alice");
  const http::Response response = TryLogIn("alice", kPassword);
  EXPECT_EQ(response.status, 429);
  EXPECT_EQ(http::Find(response.headers, "Retry-After"), "60");
  EXPECT_EQ(SessionIn(response), "");
  clock_.Advance(std::chrono::seconds(59));
  EXPECT_EQ(TryLogIn("alice", kPassword).status, 429);
  clock_.Advance(std::chrono::seconds(1));
  EXPECT_EQ(TryLogIn("alice", kPassword).status, 303);
}

TEST_F(GuessingTest, ASixthFailureDoublesTheWait) {
  Fail("alice");
  clock_.Advance(std::chrono::seconds(60));
  EXPECT_EQ(TryLogIn("alice", "wrong password").status, 401);
  EXPECT_EQ(http::Find(TryLogIn("alice", kPassword).headers, "Retry-After"), "120");
}

TEST_F(GuessingTest, AnAccountIsGuardedFromAllAddressesTogether) {
  for (int i = 0; i < 5; ++i) {
    address_ = "192.0.2." + std::to_string(i);
    EXPECT_EQ(TryLogIn("alice", "wrong password").status, 401);
  }
  address_ = "198.51.100.1";
  EXPECT_EQ(TryLogIn("alice", kPassword).status, 429);
}

TEST_F(GuessingTest, AnAddressIsStoppedHoweverManyNamesItTries) {
  for (int i = 0; i < 5; ++i) EXPECT_EQ(TryLogIn("name" + std::to_string(i), "x").status, 401);
  EXPECT_EQ(TryLogIn("alice", kPassword).status, 429);
  address_ = "198.51.100.1";
  EXPECT_EQ(TryLogIn("alice", kPassword).status, 303);
}

TEST_F(GuessingTest, WhoHasAnAccountCannotClearHisAddressWithIt) {
  AddUserNamed("mallory");
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(TryLogIn("alice", "wrong password").status, 401);
    EXPECT_EQ(TryLogIn("mallory", kPassword).status, 303);
  }
  EXPECT_EQ(TryLogIn("alice", "wrong password").status, 401);
  EXPECT_EQ(TryLogIn("mallory", kPassword).status, 429);
}

TEST_F(GuessingTest, ARightPasswordForgetsTheAccountsFailures) {
  Fail("alice", 4);
  EXPECT_EQ(TryLogIn("alice", kPassword).status, 303);
  address_ = "198.51.100.1";
  Fail("alice", 4);
  EXPECT_EQ(TryLogIn("alice", kPassword).status, 303);
}

TEST_F(GuessingTest, FailuresAreForgottenAfterADay) {
  Fail("alice");
  clock_.Advance(kFailuresForgotten);
  EXPECT_EQ(TryLogIn("alice", "wrong password").status, 401);
  EXPECT_EQ(TryLogIn("alice", kPassword).status, 303);
}

TEST_F(GuessingTest, ANameThatNobodyHasIsAnsweredAsOneThatSomebodyHas) {
  const auto without_name = [](std::string body, const std::string& name) {
    for (std::size_t at = 0; (at = body.find(name)) != std::string::npos;) {
      body.replace(at, name.size(), "NAME");
    }
    return body;
  };
  for (int i = 0; i < 7; ++i) {
    address_ = "192.0.2.1";
    const http::Response known = TryLogIn("alice", "wrong password");
    address_ = "192.0.2.2";
    const http::Response unknown = TryLogIn("zebra", "wrong password");
    EXPECT_EQ(known.status, unknown.status) << i;
    EXPECT_EQ(without_name(known.body, "alice"), without_name(unknown.body, "zebra"));
    EXPECT_EQ(known.headers, unknown.headers);
  }
}

TEST_F(GuessingTest, ANameThatNobodyHasCostsAHash) {
  // Processor time, not the clock: of the thread that does it, so of the process.
  const auto cost = [](const std::string& hash) {
    timespec before{};
    timespec after{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    EXPECT_FALSE(VerifyPassword(hash, "wrong password"));
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    return static_cast<double>(after.tv_sec - before.tv_sec) +
           1e-9 * static_cast<double>(after.tv_nsec - before.tv_nsec);
  };
  const std::string hash = *HashPassword(kPassword);
  cost("");  // makes nobody's hash
  const double known = cost(hash);
  const double unknown = cost("");
  EXPECT_GT(unknown, known / 4);
  EXPECT_LT(unknown, known * 4);
}

TEST_F(GuessingTest, EnrollingADeviceCountsTheSame) {
  const auto enrol = [this](const std::string& password) {
    return Send({.method = "POST",
                 .target = "/v1/devices",
                 .body = R"({"user":"alice","password":")" + password + R"(","name":"laptop"})"});
  };
  for (int i = 0; i < 5; ++i) EXPECT_EQ(enrol("wrong password").status, 401);
  EXPECT_EQ(enrol(kPassword).status, 429);
  EXPECT_EQ(TryLogIn("alice", kPassword).status, 429);
  EXPECT_EQ(Count("SELECT count(*) FROM device"), 0U);
}

TEST_F(GuessingTest, AnotherSitesPageCannotHaveItsVisitorsGuess) {
  EXPECT_EQ(Send({.method = "POST",
                  .target = "/v1/devices",
                  .headers = {{"Origin", "https://evil.example"}},
                  .body = R"({"user":"alice","password":"wrong password","name":"laptop"})"})
                .status,
            403);
  EXPECT_EQ(Count("SELECT count(*) FROM guesser"), 0U);
}

TEST_F(GuessingTest, ManyAttemptsAtOnceAreNoWayAroundIt) {
  constexpr int kAttempts = 40;
  std::vector<std::future<int>> answers;
  for (int i = 0; i < kAttempts; ++i) {
    auto answer = std::make_shared<std::promise<int>>();
    answers.push_back(answer->get_future());
    http::Request request = Form("/login", "", {{"user", "alice"}, {"password", "wrong"}});
    request.headers.emplace_back("Host", kHost);
    request.peer_address = "192.0.2.1";
    site_->Handle(std::move(request),
                  [answer](const http::Response& response) { answer->set_value(response.status); });
  }
  int looked_at = 0;
  for (auto& answer : answers) looked_at += answer.get() == 401 ? 1 : 0;
  EXPECT_EQ(looked_at, 5);
}

TEST_F(GuessingTest, TheTableOfFailuresIsBounded) {
  ASSERT_TRUE(writer_->Run([&](Data& data) -> Status {
    for (std::size_t i = 0; i < kMaxGuessers / 2 + 10; ++i) {
      std::chrono::seconds wait{0};
      FIELDCOST_TRY(BeginAttempt(data.database(), {"name" + std::to_string(i), std::to_string(i)},
                                 clock_.Now(), wait));
    }
    return ForgetOldFailures(data.database(), clock_.Now());
  }));
  EXPECT_EQ(Count("SELECT count(*) FROM guesser"), kMaxGuessers);
}

}  // namespace
}  // namespace fieldcost::probe_server
