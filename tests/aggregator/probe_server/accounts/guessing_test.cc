// Password and user name guessing.
#include "aggregator/probe_server/accounts/guessing.h"

#include "tests/aggregator/probe_server/site_fixture.h"

namespace fieldcost::probe_server {
namespace {

class GuessingTest : public SiteTest {
 protected:
  // Fails to log in as many times as are free.
  void Fail(const std::string& user, std::uint64_t times = kFreeFailures) {
    for (std::uint64_t i = 0; i < times; ++i) {
      EXPECT_EQ(TryLogIn(user, "wrong password").status, 401);
    }
  }
  // Makes an attempt like LogIn, but skips the hash, which takes 90 ms. Returns whether the attempt
  // was allowed.
  bool Guess(const std::string& user, const std::string& address) {
    bool looked_at = false;
    EXPECT_TRUE(Write([&](Data& data) -> Status {
      looked_at = GuessIn(data, user, address);
      return {};
    }));
    return looked_at;
  }
  bool GuessIn(Data& data, const std::string& user, const std::string& address) {
    Attempt attempt;
    return BeginAttempt(data.database(), {user, address}, clock_.Now(), attempt).has_value();
  }
  bool LogInFrom(const std::string& user, const std::string& address) {
    return Guess(user, address) && Write([&](Data& data) {
             return NoteSuccess(data.database(), {user, address}, clock_.Now());
           });
  }
  // Guesses from many addresses until the account's budget is used up.
  void UseUpBudget(const std::string& user) {
    EXPECT_TRUE(Write([&](Data& data) -> Status {
      for (int i = 0; i < 200; ++i) GuessIn(data, user, "198.51.100." + std::to_string(i));
      return {};
    }));
  }
  bool Write(const Writer::Work& work) { return writer_->Run(work).has_value(); }
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

TEST_F(GuessingTest, AnAccountHasABudgetForAllAddressesTogether) {
  UseUpBudget("alice");
  address_ = "203.0.113.1";
  EXPECT_EQ(TryLogIn("alice", kPassword).status, 429);
  clock_.Advance(std::chrono::minutes(24 * 60 / 50 + 1));
  EXPECT_EQ(TryLogIn("alice", "wrong password").status, 401);
  EXPECT_EQ(TryLogIn("alice", kPassword).status, 429);
}

TEST_F(GuessingTest, AnAddressHasABudgetForAllAccountsTogether) {
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(Guess("name" + std::to_string(i), address_));
  EXPECT_EQ(TryLogIn("alice", kPassword).status, 429);
  address_ = "203.0.113.1";
  EXPECT_EQ(TryLogIn("alice", kPassword).status, 303);
}

TEST_F(GuessingTest, StrangersDoNotLockAnAccountWhereItHasLoggedInBefore) {
  const std::string office = address_;
  const std::string session = LogIn();
  const std::string device = AddDeviceOf(alice_);
  for (std::uint64_t day = 1; day <= 3; ++day) {
    UseUpBudget("alice");
    address_ = "203.0.113.1";
    EXPECT_EQ(TryLogIn("alice", kPassword).status, 429);
    address_ = office;
    EXPECT_EQ(TryLogIn("alice", kPassword).status, 303);
    EXPECT_EQ(Get("/", session).status, 200);
    EXPECT_EQ(SendBatch(device, testing::BatchOf(day, {})).status, 200);
    clock_.Advance(std::chrono::hours(8));
  }
}

TEST_F(GuessingTest, OneStrangerDoesNotKeepAnAccountFromNewAddresses) {
  EXPECT_TRUE(Write([&](Data& data) -> Status {
    for (int minute = 0; minute < 2 * 24 * 60; ++minute) {
      GuessIn(data, "alice", "198.51.100.1");
      clock_.Advance(std::chrono::minutes(1));
    }
    return {};
  }));
  EXPECT_TRUE(LogInFrom("alice", "203.0.113.1"));
}

TEST_F(GuessingTest, AGuesserInAnOfficeDoesNotLockTheOthersOut) {
  AddUserNamed("bob");
  EXPECT_TRUE(LogInFrom("alice", address_));
  EXPECT_TRUE(LogInFrom("bob", address_));
  for (int i = 0; i < 60; ++i) Guess("name" + std::to_string(i), address_);
  for (int i = 0; i < 10; ++i) Guess("bob", address_);
  EXPECT_EQ(TryLogIn("bob", kPassword).status, 429);
  EXPECT_EQ(TryLogIn("alice", kPassword).status, 303);
}

TEST_F(GuessingTest, ATypoADayNeverLocksAnOffice) {
  AddUserNamed("bob");
  for (int day = 0; day < 60; ++day) {
    EXPECT_TRUE(Guess("alice", address_)) << day;
    EXPECT_TRUE(LogInFrom("alice", address_)) << day;
    clock_.Advance(std::chrono::hours(23));
  }
  EXPECT_EQ(TryLogIn("bob", kPassword).status, 303);
}

TEST_F(GuessingTest, GuesserWithAnAccountCannotClearOthersFailures) {
  AddUserNamed("mallory");
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(Guess("alice", address_));
    EXPECT_TRUE(LogInFrom("mallory", address_));
  }
  EXPECT_FALSE(Guess("alice", address_));
  for (int i = 5; i < 50; ++i) {
    EXPECT_TRUE(Guess("name" + std::to_string(i), address_));
    EXPECT_TRUE(LogInFrom("mallory", address_));
  }
  EXPECT_FALSE(Guess("another", address_));
}

TEST_F(GuessingTest, ALoginElsewhereGivesAGuesserNoMoreGuesses) {
  int looked_at = 0;
  for (int i = 0; i < 40; ++i) {
    looked_at += Guess("alice", "198.51.100.1") ? 1 : 0;
    EXPECT_TRUE(LogInFrom("alice", address_));
  }
  EXPECT_EQ(looked_at, 5);
}

// Checks the bounds stated in guessing.h.
TEST_F(GuessingTest, GuessesPerDayAreBounded) {
  for (int day = 0; day < 3; ++day) {
    int from_one = 0;
    int from_many = 0;
    EXPECT_TRUE(Write([&](Data& data) -> Status {
      for (int minute = 0; minute < 24 * 60; minute += 5) {
        from_one += GuessIn(data, "alice", "198.51.100.1") ? 1 : 0;
        for (int i = 0; i < 5; ++i) {
          const std::string address = "203.0.113." + std::to_string((minute + i) % 250);
          from_many += GuessIn(data, "bob", address) ? 1 : 0;
        }
        clock_.Advance(std::chrono::minutes(5));
      }
      return {};
    }));
    EXPECT_LE(from_one, day == 0 ? 33 : 24);
    EXPECT_LE(from_many, day == 0 ? 100 : 50);
    EXPECT_GE(from_many, 45);
  }
}

TEST_F(GuessingTest, AnUnlockedAccountNeedNotWait) {
  Fail("alice");
  AddUserNamed("bob");
  Fail("bob");
  ASSERT_TRUE(writer_->Run([](Data& data) { return Unlock(data.database(), "alice"); }));
  EXPECT_EQ(TryLogIn("alice", kPassword).status, 303);
  EXPECT_EQ(TryLogIn("bob", kPassword).status, 429);
}

TEST_F(GuessingTest, AnAddressThatTheOperatorMadeKnownDoesNotWaitForStrangers) {
  UseUpBudget("alice");
  address_ = "203.0.113.1";
  EXPECT_EQ(TryLogIn("alice", kPassword).status, 429);
  ASSERT_TRUE(writer_->Run([this](Data& data) {
    return AddKnownNetwork(data.database(), alice_, "203.0.113.1", clock_.Now());
  }));
  EXPECT_EQ(TryLogIn("alice", kPassword).status, 303);
}

TEST_F(GuessingTest, APasswordIsChangedInASessionWhileTheAddressWaits) {
  const std::string session = LogIn();
  Fail("alice");
  const http::Response response =
      Post("/account", session, {{"password", kPassword}, {"new_password", "another passphrase"}});
  EXPECT_EQ(response.status, 303) << response.body;
}

TEST_F(GuessingTest, LimitsPasswordGuessesWithinASession) {
  const std::string session = LogIn();
  const auto change = [&](const std::string& password) {
    return Post("/account", session,
                {{"password", password}, {"new_password", "another passphrase"}})
        .status;
  };
  for (std::uint64_t i = 0; i < kFreeFailures; ++i) EXPECT_EQ(change("wrong password"), 401);
  EXPECT_EQ(change(kPassword), 429);
}

TEST_F(GuessingTest, CountsEachClientOfATrustedProxySeparately) {
  trusted_proxies_ = {*ParseAddressRange("10.0.0.0/8")};
  Reopen({.steps_of_user = 1'000'000, .days = 90});
  address_ = "10.0.0.1";
  const auto log_in = [this](const std::string& client, const std::string& password) {
    http::Request request = Form("/login", "", {{"user", "alice"}, {"password", password}});
    request.headers.emplace_back("Forwarded", "for=" + client + ";proto=https");
    return Send(std::move(request)).status;
  };
  for (std::uint64_t i = 0; i < kFreeFailures; ++i) EXPECT_EQ(log_in("192.0.2.1", "wrong"), 401);
  EXPECT_EQ(log_in("192.0.2.1", kPassword), 429);
  EXPECT_EQ(log_in("192.0.2.2", kPassword), 303);
}

TEST_F(GuessingTest, AClientCannotChooseItsAddress) {
  for (std::uint64_t i = 0; i < kFreeFailures + 1; ++i) {
    http::Request request = Form("/login", "", {{"user", "alice"}, {"password", "wrong"}});
    request.headers.emplace_back("Forwarded", "for=192.0.2." + std::to_string(i));
    EXPECT_EQ(Send(std::move(request)).status, i < kFreeFailures ? 401 : 429);
  }
}

TEST_F(GuessingTest, ARightPasswordForgetsTheAccountsFailures) {
  for (int i = 0; i < 5; ++i) {
    Fail("alice", 4);
    EXPECT_EQ(TryLogIn("alice", kPassword).status, 303);
  }
}

TEST_F(GuessingTest, FailuresAreForgottenAfterADay) {
  Fail("alice");
  clock_.Advance(kFailuresForgotten);
  EXPECT_EQ(TryLogIn("alice", "wrong password").status, 401);
  EXPECT_EQ(TryLogIn("alice", kPassword).status, 303);
}

TEST_F(GuessingTest, AnswersUnknownNamesLikeKnownOnes) {
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

TEST_F(GuessingTest, UnknownNamesCostAHash) {
  // Measures the CPU time of this thread, which does the hashing, rather than elapsed time.
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
  cost("");  // computes the hash used for unknown names
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

TEST_F(GuessingTest, LimitsConcurrentAttemptsToo) {
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
    for (std::size_t i = 0; i < kMaxGuessers / 3 + 10; ++i) {
      Attempt attempt;
      FIELDCOST_TRY(BeginAttempt(data.database(), {"name" + std::to_string(i), std::to_string(i)},
                                 clock_.Now(), attempt));
    }
    return ForgetOldFailures(data.database(), clock_.Now());
  }));
  EXPECT_EQ(Count("SELECT count(*) FROM guesser"), kMaxGuessers);
}

}  // namespace
}  // namespace fieldcost::probe_server
