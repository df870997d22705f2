// Tests the admin listener's responses, using fake operations.
#include "aggregator/admin/admin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "aggregator/admin/admin_requests.h"
#include "common/base/file.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::admin {
namespace {

using ::testing::HasSubstr;

class AdminTest : public ::testing::Test {
 protected:
  AdminTest() {
    EXPECT_TRUE(WriteFileAtomically(dir_.path() / "token", "open-sesame\n", 0600).has_value());
    auto tokens = ingest::TokenSet::Load({dir_.path() / "token"});
    EXPECT_TRUE(tokens.has_value());
    admin_.SetTokens(std::move(*tokens));
  }

  // Each operation records that it was called, and its arguments.
  Operations MakeOperations() {
    return {
        .health = {.why_not_ready = [this] { return why_not_ready_; },
                   .metrics = [] { return std::string("a_metric 1\n"); }},
        .publish = [this]() -> Result<publish::PublishReport> {
          called_ = "publish";
          return publish::PublishReport{.version = 7, .rows = 5, .withheld = 2};
        },
        .checkpoint = [this]() -> Result<std::uint64_t> {
          called_ = "checkpoint";
          return 11;
        },
        .compact = [this]() -> Status {
          called_ = "compact";
          if (hold_.valid()) hold_.wait();
          return {};
        },
        .backup = [this](const std::filesystem::path& directory,
                         bool without_signing_keys) -> Result<std::uint64_t> {
          called_ = "backup " + directory.string() + (without_signing_keys ? " without keys" : "");
          return 12;
        },
        .expire = [this](std::uint32_t week, bool yes) -> Result<store::ExpiryEffect> {
          called_ = "expire " + std::to_string(week) + (yes ? " yes" : "");
          return store::ExpiryEffect{
              {.rows = 1, .ledger_entries = 2, .held_batches = 3, .kept_batches = 4}, 5, 6, 7};
        },
        .verify = [this]() -> Result<VerifyAnswer> {
          called_ = "verify";
          return VerifyAnswer{
              .numbers = {{"sequence", 4}, {"rows", 5}}, .ok = false, .problem = "a file"};
        },
        .revoke = [this](const ingest::RevocationRequest& untrusted_request)
            -> Result<ingest::RevocationReport> {
          called_ = "revoke " + untrusted_request.agent;
          if (untrusted_request.withdraw) called_ += " withdraw";
          if (untrusted_request.dry_run) called_ += " dry_run";
          return ingest::RevocationReport{.numbers = {{"batches", 7}}, .changes = {"an API"}};
        },
        .invite = [this](const ingest::InvitationRequest& untrusted_request)
            -> Result<ingest::MadeInvitation> {
          called_ = "invite " + std::to_string(untrusted_request.uses) + " " +
                    std::to_string(untrusted_request.days) + " " + untrusted_request.label;
          return ingest::MadeInvitation{.token = "t0", .name = "n0", .expires_on = "2026-12-11"};
        },
        .invitations = []() -> Result<std::vector<std::string>> {
          return std::vector<std::string>{"n0 uses=1"};
        },
        .uninvite = [this](const std::string& untrusted_name) -> Status {
          called_ = "uninvite " + untrusted_name;
          return {};
        },
        .reload = []() -> Status { return Fail(ErrorCode::kNotFound, "no \"file\""); },
    };
  }

  std::future<http::Response> Begin(http::Request request, const std::string& host = "127.0.0.1") {
    request.headers.emplace_back("Host", host);
    auto answer = std::make_shared<std::promise<http::Response>>();
    admin_.Handle(std::move(request),
                  [answer](http::Response response) { answer->set_value(std::move(response)); });
    return answer->get_future();
  }
  http::Response Get(const std::string& target) { return Begin({.target = target}).get(); }
  http::Request Post(const std::string& target, const std::string& body = "",
                     const std::string& authorization = "Bearer open-sesame") {
    http::Request request{.method = "POST", .target = target, .body = body};
    if (!authorization.empty()) request.headers.emplace_back("Authorization", authorization);
    return request;
  }
  http::Response Send(const http::Request& request) { return Begin(request).get(); }

  const testing::TempDir dir_;
  std::string why_not_ready_;
  std::string called_;
  std::shared_future<void> hold_;
  Admin admin_{MakeOperations()};
};

TEST_F(AdminTest, AnInvitationIsMadeListedAndRemoved) {
  const http::Response made = Send(Post(kInvitePath, R"({"uses":3,"days":14,"label":"the lab"})"));
  EXPECT_EQ(called_, "invite 3 14 the lab");
  EXPECT_EQ(made.body, R"({"token":"t0","name":"n0","expires":"2026-12-11"})");
  EXPECT_EQ(Send(Post(kInvitationsPath, "{}")).body, R"({"invitations":["n0 uses=1"]})");
  EXPECT_EQ(Send(Post(kUninvitePath, R"({"name":"n0"})")).body, "{}");
  EXPECT_EQ(called_, "uninvite n0");
  for (const std::string body :
       {"", "{}", R"({"uses":3,"days":14})", R"({"uses":-1,"days":14,"label":""})",
        R"({"uses":1.5,"days":14,"label":""})", R"({"uses":1,"days":14,"label":7})",
        R"({"uses":1,"days":14,"label":"","more":1})"}) {
    EXPECT_EQ(Send(Post(kInvitePath, body)).status, 400) << body;
  }
  EXPECT_EQ(Send(Post(kInvitePath, R"({"uses":3,"days":14,"label":""})", "")).status, 401);
}

TEST_F(AdminTest, EverybodyMayAskHowTheServiceIs) {
  EXPECT_EQ(Get(serve::kLivezPath).status, 200);
  EXPECT_EQ(Get(serve::kReadyzPath).status, 200);
  why_not_ready_ = "draining";
  EXPECT_EQ(Get(serve::kLivezPath).status, 200);
  const http::Response refusal = Get(serve::kReadyzPath);
  EXPECT_EQ(refusal.status, 503);
  EXPECT_EQ(refusal.body, "not ready: draining\n");
  const http::Response metrics = Get(serve::kMetricsPath);
  EXPECT_EQ(metrics.status, 200);
  EXPECT_EQ(metrics.body, "a_metric 1\n");
  EXPECT_THAT(std::string(http::Find(metrics.headers, "Content-Type")), HasSubstr("version=0.0.4"));
}

TEST_F(AdminTest, ExpireNeedsAValidWeek) {
  for (const char* body : {"", "{}", R"({"yes":true})", R"({"before":"2900"})", R"({"before":-1})",
                           R"({"before":4294967296})", R"({"before":2900.5})",
                           R"({"before":2900,"yes":1})", R"({"before":2900,"dry_run":true})"}) {
    EXPECT_EQ(Send(Post(kExpirePath, body)).status, 400) << body;
    EXPECT_EQ(called_, "") << body;
  }
}

TEST_F(AdminTest, AnswersEachRequestWithItsResult) {
  const std::string key(64, 'a');
  struct Case {
    const char* target;
    std::string body;
    std::string called;
    std::string answer;
  };
  for (const auto& [target, body, called, answer] : std::vector<Case>{
           {kPublishPath, "", "publish",
            R"({"version":7,"store_sequence":0,"rows":5,"withheld":2,"crowded_out":0,"unsound":0,)"
            R"("fragments":0,"new_fragments":0})"},
           {kCheckpointPath, "{}", "checkpoint", R"({"sequence":11})"},
           {kCompactPath, "", "compact", "{}"},
           {kBackupPath, R"({"directory":"/srv/copy"})", "backup /srv/copy", R"({"sequence":12})"},
           {kBackupPath, R"({"directory":"/srv/copy","without_signing_keys":true})",
            "backup /srv/copy without keys", R"({"sequence":12})"},
           {kExpirePath, R"({"before":2900})", "expire 2900",
            R"({"rows":1,"ledger_entries":2,"held_batches":3,"kept_batches":4,"rows_left":5,)"
            R"("oldest_week":6,"newest_week":7})"},
           {kExpirePath, R"({"before":2900,"yes":true})", "expire 2900 yes",
            R"({"rows":1,"ledger_entries":2,"held_batches":3,"kept_batches":4})"},
           {kVerifyPath, "", "verify", R"({"sequence":4,"rows":5,"ok":false,"problem":"a file"})"},
           {kRevokePath, R"({"agent":")" + key + "\"}", "revoke " + key,
            R"({"batches":7,"changes":["an API"]})"},
           {kRevokePath, R"({"agent":"a","withdraw":true,"dry_run":true})",
            "revoke a withdraw dry_run", R"({"batches":7,"changes":["an API"]})"}}) {
    const http::Response response = Send(Post(target, body));
    EXPECT_EQ(response.status, 200) << target << response.body;
    EXPECT_EQ(response.body, answer);
    EXPECT_EQ(called_, called);
  }
  const http::Response failed = Send(Post(kReloadPath));
  EXPECT_EQ(failed.status, 404);
  EXPECT_EQ(failed.body, "{\"error\":\"not_found\",\"message\":\"no \\\"file\\\"\"}\n");
}

TEST_F(AdminTest, WithoutATokenNothingIsDone) {
  for (const char* target : {kPublishPath, kCheckpointPath, kCompactPath, kBackupPath, kExpirePath,
                             kRevokePath, kReloadPath}) {
    for (const char* authorization :
         {"", "Bearer ", "Bearer open-sesam", "Bearer open-sesame ", "Bearer OPEN-SESAME",
          "Basic open-sesame", "open-sesame", "Bearer"}) {
      const http::Response refusal = Send(Post(target, "{}", authorization));
      EXPECT_EQ(refusal.status, 401) << target << authorization;
      EXPECT_EQ(http::Find(refusal.headers, "WWW-Authenticate"), "Bearer");
    }
  }
  EXPECT_EQ(called_, "");
  EXPECT_EQ(Send(Post(kCheckpointPath, "", "bearer open-sesame")).status, 200);
  ASSERT_TRUE(WriteFileAtomically(dir_.path() / "token", "other\n", 0600).has_value());
  admin_.SetTokens(ingest::TokenSet::Load({dir_.path() / "token"}).value());
  EXPECT_EQ(Send(Post(kCheckpointPath)).status, 401);
  Admin nobody(MakeOperations());
  std::promise<http::Response> answer;
  http::Request request = Post(kCheckpointPath, "", "Bearer ");
  request.headers.emplace_back("Host", "[::1]:8444");
  nobody.Handle(std::move(request),
                [&](http::Response response) { answer.set_value(std::move(response)); });
  EXPECT_EQ(answer.get_future().get().status, 401);
}

TEST_F(AdminTest, RefusesForeignHostNames) {
  for (const char* host : {"127.0.0.1:8444", "127.0.0.1", "localhost:8444", "LOCALHOST",
                           "[::1]:8444", "[::1]", "10.1.2.3:1"}) {
    EXPECT_EQ(Begin({.target = serve::kMetricsPath}, host).get().status, 200) << host;
  }
  for (const char* host : {"rebound.example:8444", "rebound.example", "localhost.rebound.example",
                           "127.0.0.1.rebound.example", "127.1", "[", "[]", ":8444", ""}) {
    EXPECT_EQ(Begin({.target = serve::kMetricsPath}, host).get().status, 403) << host;
    EXPECT_EQ(Begin(Post(kCheckpointPath), host).get().status, 403) << host;
  }
  EXPECT_EQ(called_, "");
}

TEST_F(AdminTest, RefusesInvalidRequests) {
  EXPECT_EQ(Get("/").status, 404);
  EXPECT_EQ(Get("/metrics?x").status, 404);
  EXPECT_EQ(Send(Post("/v1/batches")).status, 404);
  EXPECT_EQ(Send(Post("/v1/check%70oint")).status, 404);
  EXPECT_EQ(Send(Post("/v1/checkpoint/")).status, 404);
  EXPECT_EQ(Send(Post(serve::kReadyzPath)).status, 405);
  EXPECT_EQ(Get(kPublishPath).status, 405);
  for (const char* body :
       {"", "{}", "[]", "{", R"({"directory":7})", R"({"directory":"relative"})", R"({"to":"/x"})",
        R"({"directory":"/x","more":1})", "{\"directory\":\"/x\\u0000y\"}"}) {
    EXPECT_EQ(Send(Post(kBackupPath, body)).status, 400) << body;
  }
  EXPECT_EQ(Send(Post(kBackupPath, std::string(10'000, '['))).status, 400);
  EXPECT_EQ(called_, "");
}

TEST_F(AdminTest, ShutdownWaitsForPendingRequestsForALimitedTime) {
  std::promise<void> release;
  hold_ = release.get_future().share();
  std::future<http::Response> compacted = Begin(Post(kCompactPath));
  EXPECT_FALSE(admin_.Stop(std::chrono::milliseconds(0)));
  EXPECT_EQ(Send(Post(kCheckpointPath)).status, 503);
  EXPECT_EQ(Get(serve::kLivezPath).status, 200);
  release.set_value();
  EXPECT_EQ(compacted.get().status, 200);
  EXPECT_TRUE(admin_.Stop(std::chrono::seconds(30)));
}

}  // namespace
}  // namespace fieldcost::admin
