// Sessions: creation, binding and expiry.
#include "common/base/file.h"
#include "tests/aggregator/probe_server/site_fixture.h"

namespace fieldcost::probe_server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class LoginTest : public SiteTest {};

TEST_F(LoginTest, WithoutASessionEveryPageLeadsToTheLoginAndBack) {
  for (const char* target : {"/", "/events?label=a%20b", "/account", "/history?label=x",
                             "/events/1-0123456789abcdef0123456789abcdef"}) {
    const http::Response response = Get(target, "");
    EXPECT_EQ(response.status, 303);
    EXPECT_EQ(http::Find(response.headers, "Location"), LinkTo("/login", {{"next", target}}));
  }
}

TEST_F(LoginTest, AnAssetThatTheBrowserHasIsNotSentAgain) {
  const auto get = [&](const std::string& known) {
    return Send(
        {.target = "/style.css", .headers = {{"Host", "localhost"}, {"If-None-Match", known}}});
  };
  const http::Response first = get("");
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(http::Find(first.headers, "Cache-Control"), "max-age=3600");
  const http::Response second = get(std::string(http::Find(first.headers, "ETag")));
  EXPECT_EQ(second.status, 304);
  EXPECT_EQ(second.body, "");
}

TEST_F(LoginTest, TheCookieIsForThisServerAndItsPagesOnly) {
  const http::Response response = TryLogIn("alice", kPassword);
  EXPECT_THAT(
      std::string(http::Find(response.headers, "Set-Cookie")),
      AllOf(::testing::StartsWith("__Host-"), HasSubstr("Path=/"), HasSubstr("; Secure"),
            HasSubstr("; HttpOnly"), HasSubstr("; SameSite=Strict"), Not(HasSubstr("Domain"))));
}

TEST_F(LoginTest, PageNamesTheLoggedInUser) {
  const http::Response response = Get("/", LogIn());
  EXPECT_EQ(response.status, 200);
  EXPECT_THAT(response.body, HasSubstr("alice"));
}

TEST_F(LoginTest, DoesNotAdoptAPlantedSession) {
  const std::string planted(64, 'a');
  const http::Response response = TryLogIn("alice", kPassword, planted);
  EXPECT_NE(SessionIn(response), planted);
  EXPECT_EQ(SessionIn(response).size(), 64U);
  EXPECT_EQ(Get("/", planted).status, 303);
}

TEST_F(LoginTest, LoggingInAgainEndsTheSessionBefore) {
  const std::string first = LogIn();
  const std::string second = SessionIn(TryLogIn("alice", kPassword, first));
  EXPECT_NE(first, second);
  EXPECT_EQ(Get("/", first).status, 303);
  EXPECT_EQ(Get("/", second).status, 200);
}

TEST_F(LoginTest, LoggingOutEndsTheSessionOnTheServer) {
  const std::string session = LogIn();
  const http::Response response = Post("/logout", session);
  EXPECT_EQ(response.status, 303);
  EXPECT_THAT(std::string(http::Find(response.headers, "Set-Cookie")), HasSubstr("Max-Age=0"));
  EXPECT_EQ(Get("/", session).status, 303);
}

TEST_F(LoginTest, ASessionEndsAfterTwelveIdleHours) {
  const std::string session = LogIn();
  clock_.Advance(kSessionIdle - std::chrono::seconds(1));
  EXPECT_EQ(Get("/", session).status, 200);
  AwaitWrites();  // the previous request is recorded
  clock_.Advance(kSessionIdle - std::chrono::seconds(1));
  EXPECT_EQ(Get("/", session).status, 200);
  AwaitWrites();
  clock_.Advance(kSessionIdle);
  EXPECT_EQ(Get("/", session).status, 303);
}

TEST_F(LoginTest, ASessionEndsAfterSevenDaysHoweverBusyItWas) {
  const std::string session = LogIn();
  for (int hours = 8; hours < 7 * 24; hours += 8) {
    clock_.Advance(std::chrono::hours(8));
    EXPECT_EQ(Get("/", session).status, 200) << hours;
    AwaitWrites();
  }
  clock_.Advance(std::chrono::hours(8));
  EXPECT_EQ(Get("/", session).status, 303);
}

TEST_F(LoginTest, TheDatabaseKnowsNeitherSessionsNorTokensNorPasswords) {
  const std::string session = LogIn();
  const std::string token = AddDeviceOf(alice_);
  for (const std::string& secret : {session, token, std::string(kPassword)}) {
    for (const char* suffix : {"", "-wal"}) {
      const std::string bytes = ReadFile(file().string() + suffix, 64 << 20).value_or("");
      EXPECT_FALSE(bytes.empty());
      EXPECT_EQ(bytes.find(secret), std::string::npos) << suffix;
    }
  }
}

TEST_F(LoginTest, AnotherPasswordEndsAllOtherSessions) {
  const std::string here = LogIn();
  const std::string elsewhere = LogIn();
  const http::Response response =
      Post("/account", here, {{"password", kPassword}, {"new_password", "another passphrase"}});
  EXPECT_EQ(response.status, 303) << response.body;
  EXPECT_EQ(Get("/", elsewhere).status, 303);
  EXPECT_EQ(Get("/", here).status, 303);
  EXPECT_EQ(Get("/", SessionIn(response)).status, 200);
  EXPECT_EQ(TryLogIn("alice", kPassword).status, 401);
  EXPECT_EQ(TryLogIn("alice", "another passphrase").status, 303);
}

TEST_F(LoginTest, AnotherPasswordRevokesDevicesUnlessTheyAreToStay) {
  const std::string device = AddDeviceOf(alice_);
  std::string session = LogIn();
  const http::Response kept = Post(
      "/account", session,
      {{"password", kPassword}, {"new_password", "another passphrase"}, {"keep_devices", "yes"}});
  EXPECT_EQ(kept.status, 303) << kept.body;
  EXPECT_EQ(Send(WithToken({.target = "/v1/events"}, device)).status, 200);
  session = SessionIn(kept);
  const http::Response ended =
      Post("/account", session, {{"password", "another passphrase"}, {"new_password", kPassword}});
  EXPECT_EQ(ended.status, 303) << ended.body;
  EXPECT_EQ(Send(WithToken({.target = "/v1/events"}, device)).status, 401);
}

TEST_F(LoginTest, RequestsForAnotherHostAreRefused) {
  const std::string session = LogIn();
  const auto get = [&](const std::string& host) {
    http::Request request{.target = "/", .headers = {{"Host", host}}};
    AddCookie(request, session);
    return Send(std::move(request)).status;
  };
  for (const char* host : {"probes.example.org", "PROBES.example.org:8445", "localhost:1",
                           "127.0.0.1", "[::1]:8445", "192.0.2.1"}) {
    EXPECT_EQ(get(host), 200) << host;
  }
  for (const char* host :
       {"evil.example", "probes.example.org.evil.example", "x.probes.example.org",
        "[probes.example.org]", "127.0.0.1.evil.example", "localhost.evil.example"}) {
    EXPECT_EQ(get(host), 403) << host;
  }
}

TEST_F(LoginTest, AuditLogRecordsAccountActivity) {
  AddUserNamed("bob");
  const std::string session = LogIn();
  TryLogIn("a mistyped password", "x");
  TryLogIn("bob", "wrong password", session);
  for (int i = 0; i < 6; ++i) TryLogIn("bob", "wrong password");
  EXPECT_EQ(Send({.method = "POST",
                  .target = "/v1/devices",
                  .body = R"({"user":"alice","password":")" + std::string(kPassword) +
                          R"(","name":"laptop"})"})
                .status,
            200);
  EXPECT_EQ(Post("/devices/1/revoke", session).status, 303);
  const std::string device = AddDeviceOf(alice_);
  EXPECT_EQ(SendBatch(device, testing::BatchOf(1, {})).status, 200);
  const std::string event = IdOf(1);
  EXPECT_EQ(Send(WithToken({.target = "/v1/export?format=otlp&ids=" + event}, device)).status, 200);
  EXPECT_EQ(
      Post("/account", session, {{"password", kPassword}, {"new_password", "another passphrase"}})
          .status,
      303);
  std::vector<std::string> lines;
  ASSERT_TRUE(writer_->Run([&](Data& data) {
    return ReadAudit(data, WallTime(), [&](const AuditEntry& entry) {
      EXPECT_EQ(entry.address, address_);
      EXPECT_EQ(entry.time, clock_.Now());
      lines.push_back(entry.what + "|" + entry.account + "|" + entry.object);
    });
  }));
  EXPECT_THAT(lines, ::testing::ElementsAre("login|alice|", "login failed||", "login failed|bob|",
                                            "login failed|bob|", "login failed|bob|",
                                            "login failed|bob|", "login failed|bob|",
                                            "locked|bob|60 s", "enrolment|alice|device 1 laptop",
                                            "device revoked|alice|device 1",
                                            "export|alice|" + event, "password changed|alice|"));
}

TEST_F(LoginTest, AShortPasswordOrAWrongPresentOneChangesNothing) {
  const std::string session = LogIn();
  EXPECT_EQ(
      Post("/account", session, {{"password", kPassword}, {"new_password", "only eleven"}}).status,
      400);
  EXPECT_EQ(
      Post("/account", session, {{"password", "wrong"}, {"new_password", "long enough pw"}}).status,
      401);
}

TEST_F(LoginTest, NeverRedirectsToAnotherServerAfterLogin) {
  for (const std::string next : {"https://evil.example", "//evil.example", "/\\evil.example",
                                 "\\\\evil.example", "evil", "/%zz", "/a\tb"}) {
    const http::Response response =
        Send(Form("/login", "", {{"user", "alice"}, {"password", kPassword}, {"next", next}}));
    if (response.status == 400) continue;  // for forms with control characters
    EXPECT_EQ(http::Find(response.headers, "Location"), "/") << next;
  }
  const http::Response response = Send(Form(
      "/login", "", {{"user", "alice"}, {"password", kPassword}, {"next", "/events?label=a"}}));
  EXPECT_EQ(http::Find(response.headers, "Location"), "/events?label=a");
}

TEST_F(LoginTest, AFormWithoutItsTokenDoesNothing) {
  const std::string session = LogIn();
  const std::string other = LogIn();
  const std::string device = AddDeviceOf(alice_);
  const std::string target = "/devices/1/revoke";
  EXPECT_EQ(Send(Form(target, session, {})).status, 403);
  EXPECT_EQ(Send(Form(target, session, {{"form_token", ""}})).status, 403);
  EXPECT_EQ(Send(Form(target, session, {{"form_token", FormToken(other)}})).status, 403);
  EXPECT_EQ(Send(Form("/logout", session, {})).status, 403);
  EXPECT_EQ(Get("/", session).status, 200);
  EXPECT_EQ(Count("SELECT count(*) FROM device WHERE revoked"), 0U);
  EXPECT_EQ(counters_.forged_forms, 4U);
  EXPECT_EQ(Post(target, session).status, 303);
  EXPECT_EQ(Count("SELECT count(*) FROM device WHERE revoked"), 1U);
}

TEST_F(LoginTest, AFormThatAnotherSiteSendsDoesNothing) {
  const std::string session = LogIn();
  const auto send = [&](std::vector<std::pair<std::string, std::string>> headers,
                        const std::string& target) {
    http::Request request =
        Form(target, session,
             {{"form_token", FormToken(session)}, {"user", "alice"}, {"password", kPassword}});
    request.headers = std::move(headers);
    AddCookie(request, session);
    return Send(std::move(request)).status;
  };
  for (const char* target : {"/logout", "/login"}) {
    EXPECT_EQ(send({}, target), 403);
    EXPECT_EQ(send({{"Origin", "https://evil.example"}}, target), 403);
    EXPECT_EQ(send({{"Origin", "null"}}, target), 403);
    EXPECT_EQ(send({{"Origin", "https://probes.example.org.evil.example"}}, target), 403);
    EXPECT_EQ(send({{"Sec-Fetch-Site", "cross-site"}}, target), 403);
    EXPECT_EQ(send({{"Sec-Fetch-Site", "same-site"}}, target), 403);
    EXPECT_EQ(
        send({{"Sec-Fetch-Site", "cross-site"}, {"Origin", "https://probes.example.org"}}, target),
        403);
  }
  EXPECT_EQ(Get("/", session).status, 200);
  EXPECT_EQ(send({{"Sec-Fetch-Site", "same-origin"}}, "/logout"), 303);
}

TEST_F(LoginTest, TheApiWithACookieNeedsTheTokenToo) {
  const std::string session = LogIn();
  http::Request request = Form("/v1/purge", session, {});
  request.body = R"({"ids":["1-0123456789abcdef0123456789abcdef"]})";
  http::Request with_token = request;
  with_token.headers.emplace_back(kFormTokenHeader, FormToken(session));
  EXPECT_EQ(Send(std::move(request)).status, 403);
  EXPECT_EQ(Send(std::move(with_token)).status, 200);
}

TEST_F(LoginTest, EveryAnswerKeepsThePageToItself) {
  const std::string session = LogIn();
  for (const char* target :
       {"/", "/login", "/style.css", "/nowhere", "/v1/events", "/events?from=x", "/icon.svg"}) {
    const http::Response response = Get(target, session);
    EXPECT_THAT(std::string(http::Find(response.headers, "Content-Security-Policy")),
                AllOf(HasSubstr("default-src 'none'"), HasSubstr("frame-ancestors 'none'"),
                      Not(HasSubstr("script-src")), Not(HasSubstr("unsafe"))))
        << target;
    EXPECT_EQ(http::Find(response.headers, "X-Content-Type-Options"), "nosniff") << target;
    EXPECT_FALSE(http::Find(response.headers, "Cache-Control").empty()) << target;
    EXPECT_EQ(response.body.find("<script"), std::string::npos);
    EXPECT_EQ(response.body.find(" style="), std::string::npos);
  }
}

TEST_F(LoginTest, AUserThatIsRemovedIsLoggedOutAndItsDevicesAreRefused) {
  const std::string session = LogIn();
  const std::string token = AddDeviceOf(alice_);
  ASSERT_TRUE(writer_->Run([&](Data& data) { return RemoveUser(data.database(), alice_); }));
  EXPECT_EQ(Get("/", session).status, 303);
  EXPECT_EQ(SendBatch(token, testing::BatchOf(1, {})).status, 401);
  EXPECT_EQ(TryLogIn("alice", kPassword).status, 401);
}

}  // namespace
}  // namespace fieldcost::probe_server
