// Programs choose their events' ids, so a colleague can claim those of another user's running
// program in advance. Every operation on an event must affect only its own user's event.
#include "aggregator/probe_server/probe_backup.h"
#include "tests/aggregator/probe_server/site_fixture.h"

namespace fieldcost::probe_server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint64_t kEvents = 12;  // per user; both users have the same ids
constexpr std::uint64_t kOdd = 12;     // alice's event of this number is much slower
constexpr char kForged[] = "Forged";   // a function name that bob sends

class EventOwnersTest : public SiteTest {
 protected:
  EventOwnersTest() {
    Send12(bobs_token_, 1, kForged);
    Send12(token_, 50, "Open");
    session_ = LogIn();
  }

  void Send12(const std::string& token, std::uint64_t odd_factor, const std::string& function) {
    for (std::uint64_t run = 1; run <= kEvents; ++run) {
      const std::uint64_t step_ns = 1'000'000 + run * 10'000;
      EXPECT_EQ(SendBatch(token, testing::BatchOf(
                                     run, {.run = run,
                                           .begin_ns = testing::kEventDayNs + run * 1'000'000'000,
                                           .step_ns = run == kOdd ? odd_factor * step_ns : step_ns,
                                           .function = function}))
                    .status,
                200);
    }
  }

  http::Response PostJson(const std::string& token, const std::string& target,
                          const std::string& body) {
    return Send(WithToken({.method = "POST", .target = target, .body = body}, token));
  }
  std::uint64_t EventsOf(UserId user, const std::string& condition = "1") {
    return Count("SELECT count(*) FROM event WHERE owner = " + std::to_string(user.value()) +
                 " AND " + condition);
  }

  const UserId bob_ = AddUserNamed("bob");
  const std::string bobs_token_ = AddDeviceOf(bob_);
  const std::string token_ = AddDeviceOf(alice_);
  std::string session_;
};

TEST_F(EventOwnersTest, LinksOfAListLeadToTheEventsThatItShows) {
  for (const auto& [name, user] : {std::pair("alice", alice_), std::pair("bob", bob_)}) {
    const std::string list = Get("/events?user=" + std::string(name), session_).body;
    const std::string link = "/events/" + IdOf(3, user);
    EXPECT_THAT(list, HasSubstr("\"" + link + "\""));
    const std::string page = Get(link, session_).body;
    EXPECT_THAT(page, HasSubstr("<dt>User</dt><dd>" + std::string(name) + "</dd>"));
    EXPECT_THAT(page, HasSubstr("\"" + link + "/steps/2\""));
    const std::string step = Get(link + "/steps/2", session_).body;
    EXPECT_EQ(step.find(kForged) != std::string::npos, user == bob_) << step;
  }
}

TEST_F(EventOwnersTest, ComparisonsHaveTheEventsThatWereChosen) {
  const auto compared = Api("/v1/compare?ids=" + IdOf(kOdd) + "," + IdOf(kOdd, bob_), token_);
  EXPECT_EQ(compared.at("events").at(0).as_string(), IdOf(kOdd));
  EXPECT_EQ(compared.at("events").at(1).as_string(), IdOf(kOdd, bob_));
  EXPECT_EQ(compared.at("ns").at(0).at(0).as_int64(), 50 * 1'120'000);
  EXPECT_EQ(compared.at("ns").at(1).at(0).as_int64(), 1'120'000);
  const std::string page =
      Get("/compare?id=" + IdOf(kOdd) + "&id=" + IdOf(kOdd, bob_), session_).body;
  EXPECT_THAT(page, HasSubstr("/events/" + IdOf(kOdd) + "/steps/1\""));
  EXPECT_THAT(page, HasSubstr("/events/" + IdOf(kOdd, bob_) + "/steps/1\""));
}

TEST_F(EventOwnersTest, ExportsHaveTheEventThatWasAskedForAndTheAuditLogNamesIt) {
  for (const std::string& format : {std::string("otlp"), std::string("chrome")}) {
    const std::string target = "/v1/export?format=" + format + "&ids=";
    const auto has_forged = [&](UserId user) {
      const http::Response response = Get(target + IdOf(1, user), session_);
      EXPECT_EQ(response.status, 200) << response.body;
      return response.body.find(kForged) != std::string::npos;
    };
    EXPECT_FALSE(has_forged(alice_)) << format;
    EXPECT_TRUE(has_forged(bob_)) << format;
  }
  EXPECT_EQ(Count("SELECT count(*) FROM audit WHERE object = '" + IdOf(1) + "'"), 2U);
}

TEST_F(EventOwnersTest, MarksAffectOneUsersEventOnly) {
  const std::string body = R"({"mark":"set_aside","reason":"mine"})";
  EXPECT_EQ(PostJson(bobs_token_, "/v1/events/" + IdOf(1) + "/mark", body).status, 403);
  EXPECT_EQ(PostJson(token_, "/v1/events/" + IdOf(1) + "/mark", body).status, 200);
  EXPECT_EQ(
      Post("/events/" + IdOf(2) + "/mark", session_, {{"mark", "kept"}, {"reason", "form"}}).status,
      303);
  EXPECT_EQ(EventsOf(alice_, "mark != 0"), 2U);
  EXPECT_EQ(EventsOf(bob_, "mark != 0"), 0U);
  EXPECT_TRUE(Api("/v1/events/" + IdOf(1), token_).at("is_set_aside").as_bool());
  EXPECT_FALSE(Api("/v1/events/" + IdOf(1, bob_), token_).at("is_set_aside").as_bool());
  EXPECT_EQ(Count("SELECT count(*) FROM action WHERE event = '" + IdOf(1) + "'"), 1U);
}

TEST_F(EventOwnersTest, AnEventIsJudgedByItself) {
  const auto is_set_aside = [&](UserId user) {
    return Api("/v1/events/" + IdOf(kOdd, user), token_).at("is_set_aside").as_bool();
  };
  EXPECT_TRUE(is_set_aside(alice_));
  EXPECT_FALSE(is_set_aside(bob_));
}

TEST_F(EventOwnersTest, PurgingRemovesTheEventThatIsSetAsideAndNotItsNamesake) {
  EXPECT_THAT(PostJson(token_, "/v1/purge", R"({"ids":[")" + IdOf(kOdd, bob_) + R"("]})").status,
              403);
  const std::string question = Get("/purge?label=index_open", session_).body;
  EXPECT_THAT(question, HasSubstr("/events/" + IdOf(kOdd) + "\""));
  EXPECT_THAT(question, Not(HasSubstr(IdOf(kOdd, bob_))));
  EXPECT_EQ(Post("/purge", session_, {{"id", IdOf(kOdd)}, {"id", IdOf(kOdd, bob_)}}).status, 303);
  EXPECT_EQ(EventsOf(alice_), kEvents - 1);
  EXPECT_EQ(EventsOf(bob_), kEvents);
  EXPECT_EQ(Get("/events/" + IdOf(kOdd), session_).status, 404);
  EXPECT_EQ(Get("/events/" + IdOf(kOdd, bob_), session_).status, 200);
}

TEST_F(EventOwnersTest, BackupsHaveBothAndRemovingAUserLeavesTheOthers) {
  const auto backup = BackUp(file(), dir_.path() / "backup");
  ASSERT_TRUE(backup.has_value()) << backup.error().message;
  ASSERT_TRUE(writer_->Run([&](Data& data) -> Status {
    FIELDCOST_TRY(data.events().RemoveOf(bob_.value(), 1'000));
    return {};
  }));
  EXPECT_EQ(EventsOf(alice_), kEvents);
  EXPECT_EQ(EventsOf(bob_), 0U);
  EXPECT_THAT(Get("/events/" + IdOf(1) + "/steps/2", session_).body, Not(HasSubstr(kForged)));
  const std::filesystem::path restored = dir_.path() / "restored" / kDatabaseName;
  std::filesystem::create_directory(restored.parent_path());
  const Status status = Restore(backup->parent_path(), restored);
  ASSERT_TRUE(status.has_value()) << status.error().message;
  const auto report = Verify(restored);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(report->problem, "");
  EXPECT_EQ(report->size.events, 2 * kEvents);
  const auto data = Data::Open(restored, sqlite::Database::Access::kRead);
  ASSERT_TRUE(data.has_value()) << data.error().message;
  for (const UserId user : {alice_, bob_}) {
    const auto event = (*data)->events().Get({user.value(), {kOdd, 1}});
    ASSERT_TRUE(event.has_value()) << event.error().message;
    EXPECT_EQ(event->hits.front().site.function == kForged, user == bob_);
  }
}

TEST_F(EventOwnersTest, AnIdWithoutItsUserIsRefused) {
  const std::string digits = probe::EventId{1, 1}.Hex();
  for (const std::string& target :
       {"/v1/events/" + digits, "/v1/compare?ids=" + digits, "/v1/export?format=otlp&ids=" + digits,
        "/v1/events/3-x" + digits}) {
    const http::Response response = Get(target, session_);
    EXPECT_EQ(response.status, 400) << target;
    EXPECT_THAT(response.body, HasSubstr("its user's number")) << target;
  }
  EXPECT_EQ(Get("/events/99-" + digits, session_).status, 404);
}

}  // namespace
}  // namespace fieldcost::probe_server
