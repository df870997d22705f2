#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "aggregator/probe_server/accounts/devices.h"
#include "aggregator/probe_server/accounts/password.h"
#include "aggregator/probe_server/accounts/sessions.h"
#include "aggregator/probe_server/accounts/users.h"
#include "aggregator/probe_server/pages/links.h"
#include "aggregator/probe_server/web/guard.h"
#include "aggregator/probe_server/web/site.h"
#include "common/probe/event_batch.h"
#include "tests/aggregator/probe_server/event_batches.h"
#include "tests/support/fake_clock.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::probe_server {

inline constexpr char kHost[] = "probes.example.org";
inline constexpr char kPassword[] = "correct horse battery";

// The site with a real database and a fake clock; requests are passed in as the HTTP server would.
class SiteTest : public ::testing::Test {
 protected:
  SiteTest() {
    auto data = Data::Open(file(), sqlite::Database::Access::kCreate);
    EXPECT_TRUE(data.has_value());
    writer_ = std::make_unique<Writer>(std::move(*data));
    readers_ = std::move(*Readers::Open(file(), kSiteReaders));
    Reopen({.steps_of_user = 1'000'000, .days = 90});
    alice_ = AddUserNamed("alice");
  }

  std::filesystem::path file() const { return dir_.path() / kDatabaseName; }

  void Reopen(Quota quota) {
    site_.reset();
    site_ =
        std::make_unique<Site>(SiteParts{.writer = *writer_,
                                         .readers = *readers_,
                                         .clock = clock_,
                                         .quota = quota,
                                         .is_disk_full = [this] { return disk_is_full_; },
                                         .counters = counters_,
                                         .trusted_proxies = trusted_proxies_,
                                         .hosts = [] { return std::vector<std::string>{kHost}; }});
  }

  UserId AddUserNamed(const std::string& name) {
    UserId id;
    // All users share one hash, because hashing takes 90 ms.
    static const std::string hash = HashPassword(kPassword).value_or("");
    EXPECT_TRUE(writer_->Run([&](Data& data) -> Status {
      FIELDCOST_ASSIGN(id, AddUser(data.database(), name, hash, clock_.Now()));
      return {};
    }));
    return id;
  }

  http::Response Send(http::Request request) {
    if (http::Find(request.headers, "Host").empty()) request.headers.emplace_back("Host", kHost);
    if (request.peer_address.empty()) request.peer_address = address_;
    std::promise<http::Response> answer;
    site_->Handle(std::move(request),
                  [&answer](http::Response response) { answer.set_value(std::move(response)); });
    return answer.get_future().get();
  }

  // Sends a request as a logged-in browser does.
  http::Response Get(const std::string& target, const std::string& session) {
    http::Request request{.target = target};
    if (!session.empty()) AddCookie(request, session);
    return Send(std::move(request));
  }
  http::Request Form(const std::string& target, const std::string& session,
                     const std::vector<std::pair<std::string, std::string>>& fields) const {
    http::Request request{.method = "POST", .target = target};
    request.headers.emplace_back("Origin", std::string("https://") + kHost);
    request.headers.emplace_back("Sec-Fetch-Site", "same-origin");
    if (!session.empty()) AddCookie(request, session);
    for (const auto& [name, value] : fields) {
      request.body += (request.body.empty() ? "" : "&") + name + '=' + EncodeLinkPart(value);
    }
    return request;
  }
  // Posts a form with the token that the page would contain.
  http::Response Post(const std::string& target, const std::string& session,
                      std::vector<std::pair<std::string, std::string>> fields = {}) {
    fields.emplace_back("form_token", FormToken(session));
    return Send(Form(target, session, fields));
  }
  static void AddCookie(http::Request& request, const std::string& session) {
    request.headers.emplace_back("Cookie", std::string(kSessionCookie) + "=" + session);
  }

  http::Response TryLogIn(const std::string& user, const std::string& password,
                          const std::string& session = "") {
    return Send(Form("/login", session, {{"user", user}, {"password", password}}));
  }
  // Returns the session's id.
  std::string LogIn(const std::string& user = "alice") {
    const http::Response response = TryLogIn(user, kPassword);
    EXPECT_EQ(response.status, 303) << response.body;
    return SessionIn(response);
  }
  static std::string SessionIn(const http::Response& response) {
    const std::string_view cookie = http::Find(response.headers, "Set-Cookie");
    return std::string(http::FindCookie(cookie, kSessionCookie).value_or(""));
  }

  std::string AddDeviceOf(UserId user, const std::string& name = "laptop") {
    NewDevice made;
    EXPECT_TRUE(writer_->Run([&](Data& data) -> Status {
      FIELDCOST_ASSIGN(made, AddDevice(data.database(), user, name, clock_.Now()));
      return {};
    }));
    return made.token;
  }
  http::Request WithToken(http::Request request, const std::string& token) const {
    request.headers.emplace_back("Authorization", "Bearer " + token);
    return request;
  }
  http::Response SendBody(const std::string& token, const std::string& body) {
    return Send(WithToken({.method = "POST", .target = "/v1/probes", .body = body}, token));
  }
  http::Response SendBatch(const std::string& token, const probe::Batch& batch) {
    const auto body = probe::EncodeBatch(batch);
    EXPECT_TRUE(body.has_value()) << body.error().message;
    return SendBody(token, body.value_or(""));
  }
  boost::json::value Api(const std::string& target, const std::string& token) {
    const http::Response response = Send(WithToken({.target = target}, token));
    EXPECT_EQ(response.status, 200) << target << ": " << response.body;
    return boost::json::parse(response.body);
  }

  // Returns the id of a run's event (event_batches.h), as used in URLs and responses, for alice or
  // the given user.
  std::string IdOf(std::uint64_t run) const { return IdOf(run, alice_); }
  static std::string IdOf(std::uint64_t run, UserId user) {
    return probe::EventKey{.owner = user.value(), .id = testing::EventOf({.run = run})}.Text();
  }

  // Waits until everything posted before has been written.
  void AwaitWrites() {
    EXPECT_TRUE(writer_->Run([](Data&) { return Status(); }));
  }
  std::uint64_t Count(const std::string& sql) {
    auto reader = readers_->Take();
    return reader->database().QueryInt(sql).value_or(~std::uint64_t{0});
  }

  const testing::TempDir dir_;
  testing::FakeClock clock_{WallTime(std::chrono::seconds(1'795'400'000))};
  bool disk_is_full_ = false;
  std::vector<AddressRange> trusted_proxies_;
  SiteCounters counters_;
  std::unique_ptr<Writer> writer_;
  std::unique_ptr<Readers> readers_;
  std::unique_ptr<Site> site_;
  UserId alice_;
  std::string address_ = "192.0.2.7";
};

}  // namespace fieldcost::probe_server
