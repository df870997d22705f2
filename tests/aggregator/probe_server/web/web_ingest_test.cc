// Every batch is stored exactly once or not at all.
#include "tests/aggregator/probe_server/site_fixture.h"

namespace fieldcost::probe_server {
namespace {

using testing::BatchOf;
using ::testing::HasSubstr;

class IngestTest : public SiteTest {
 protected:
  std::uint64_t Hits() { return Count("SELECT count(*) FROM hit"); }
  const std::string token_ = AddDeviceOf(alice_);
};

TEST_F(IngestTest, ABatchIsAcknowledgedWithItsNumber) {
  const http::Response response = SendBatch(token_, BatchOf(5, {}));
  EXPECT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(response.body, "{\"sequence\":5,\"duplicate\":false}\n");
  EXPECT_EQ(Hits(), 4U);
}

TEST_F(IngestTest, ABatchThatComesAgainIsAcknowledgedAndAddsNothing) {
  for (int i = 0; i < 3; ++i) {
    const http::Response response = SendBatch(token_, BatchOf(1, {}));
    EXPECT_EQ(response.status, 200);
    EXPECT_THAT(response.body, HasSubstr(i == 0 ? "false" : "true"));
  }
  EXPECT_EQ(Hits(), 4U);
  EXPECT_EQ(counters_.batches, 1U);
  EXPECT_EQ(counters_.duplicates, 2U);
}

TEST_F(IngestTest, AnotherBatchOfTheSameNumberIsRefused) {
  EXPECT_EQ(SendBatch(token_, BatchOf(1, {.run = 1})).status, 200);
  EXPECT_EQ(SendBatch(token_, BatchOf(1, {.run = 2})).status, 409);
  EXPECT_EQ(Hits(), 4U);
}

TEST_F(IngestTest, AcceptsNumbersWithGapsInAnyOrder) {
  for (const std::uint64_t sequence : {9U, 3U, 1'000'000U, 4U}) {
    EXPECT_EQ(SendBatch(token_, BatchOf(sequence, {.run = sequence})).status, 200);
  }
  EXPECT_EQ(Hits(), 16U);
}

TEST_F(IngestTest, DevicesNumberTheirBatchesIndependently) {
  const std::string other = AddDeviceOf(alice_, "desk");
  EXPECT_EQ(SendBatch(token_, BatchOf(1, {.run = 1})).status, 200);
  EXPECT_EQ(SendBatch(other, BatchOf(1, {.run = 2})).status, 200);
  EXPECT_EQ(Hits(), 8U);
}

TEST_F(IngestTest, AnEventBelongsToTheUserOfTheDevice) {
  const UserId bob = AddUserNamed("bob");
  const std::string bobs = AddDeviceOf(bob);
  EXPECT_EQ(SendBatch(token_, BatchOf(1, {.run = 1})).status, 200);
  EXPECT_EQ(SendBatch(bobs, BatchOf(1, {.run = 2})).status, 200);
  const auto events = Api("/v1/events?user=bob", token_).at("events").as_array();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].at("id").as_string(), IdOf(2, bob));
  EXPECT_EQ(Api("/v1/events?user=nobody", token_).at("events").as_array().size(), 0U);
}

TEST_F(IngestTest, WithoutAGoodTokenNothingIsTaken) {
  const std::string body = *probe::EncodeBatch(BatchOf(1, {}));
  EXPECT_EQ(Send({.method = "POST", .target = "/v1/probes", .body = body}).status, 401);
  EXPECT_EQ(SendBody("", body).status, 401);
  EXPECT_EQ(SendBody(std::string(64, '0'), body).status, 401);
  EXPECT_EQ(SendBody(token_ + "0", body).status, 401);
  EXPECT_EQ(Hits(), 0U);
}

TEST_F(IngestTest, ARevokedTokenIsRefused) {
  EXPECT_EQ(SendBatch(token_, BatchOf(1, {.run = 1})).status, 200);
  EXPECT_EQ(Post("/devices/1/revoke", LogIn()).status, 303);
  EXPECT_EQ(SendBatch(token_, BatchOf(2, {.run = 2})).status, 401);
  EXPECT_EQ(Send(WithToken({.target = "/v1/events"}, token_)).status, 401);
  EXPECT_EQ(Hits(), 4U);
}

TEST_F(IngestTest, UsersCannotRevokeDevicesOfOthers) {
  AddUserNamed("bob");
  EXPECT_EQ(Post("/devices/1/revoke", LogIn("bob")).status, 404);
  EXPECT_EQ(SendBatch(token_, BatchOf(1, {})).status, 200);
}

TEST_F(IngestTest, ABrowsersSessionSendsNoBatches) {
  const std::string session = LogIn();
  http::Request request = Form("/v1/probes", session, {});
  request.headers.emplace_back(kFormTokenHeader, FormToken(session));
  request.body = *probe::EncodeBatch(BatchOf(1, {}));
  EXPECT_EQ(Send(std::move(request)).status, 403);
}

TEST_F(IngestTest, RefusesInvalidBatchesWithoutATrace) {
  std::string body = *probe::EncodeBatch(BatchOf(1, {}));
  EXPECT_EQ(SendBody(token_, "").status, 400);
  EXPECT_EQ(SendBody(token_, "not a batch").status, 400);
  EXPECT_EQ(SendBody(token_, body.substr(0, body.size() / 2)).status, 400);
  body.back() = static_cast<char>(body.back() ^ 1);
  EXPECT_NE(SendBody(token_, body).status, 200);
  EXPECT_EQ(Hits(), 0U);
  EXPECT_EQ(Count("SELECT count(*) FROM ledger"), 0U);
  EXPECT_EQ(SendBatch(token_, BatchOf(1, {})).status, 200);
}

TEST_F(IngestTest, ReportsAUsedUpQuotaToItsUserOnly) {
  const std::string bobs = AddDeviceOf(AddUserNamed("bob"));
  // The first batch takes 19 steps because its sites are new, the others 7 each.
  Reopen({.steps_of_user = 30, .days = 2});
  EXPECT_EQ(SendBatch(token_, BatchOf(1, {.run = 1})).status, 200);
  EXPECT_EQ(SendBatch(token_, BatchOf(2, {.run = 2})).status, 200);
  const http::Response response = SendBatch(token_, BatchOf(3, {.run = 3}));
  EXPECT_EQ(response.status, 507);
  EXPECT_THAT(response.body, HasSubstr("points_per_user"));
  EXPECT_EQ(SendBatch(token_, BatchOf(1, {.run = 1})).status, 200);  // already stored
  EXPECT_EQ(SendBatch(bobs, BatchOf(1, {.run = 4})).status, 200);
  clock_.Advance(std::chrono::days(3));
  EXPECT_EQ(SendBatch(token_, BatchOf(3, {.run = 3})).status, 200);
}

// A few hundred kB of events without points, each with its own label.
probe::Batch EventsWithoutPoints(std::uint64_t sequence, std::uint64_t events) {
  probe::Batch batch = BatchOf(sequence, {.run = sequence});
  batch.hits.clear();
  batch.events.clear();
  for (std::uint64_t i = 0; i < events; ++i) {
    batch.events.push_back({.id = {sequence, 1 + i},
                            .label = std::string(50, 'x') + std::to_string(sequence * 100'000 + i),
                            .begin_ns = testing::kEventDayNs});
  }
  return batch;
}

TEST_F(IngestTest, EventsWithoutPointsUseUpTheQuota) {
  Reopen({.steps_of_user = 20'000, .days = 90});
  int taken = 0;
  for (std::uint64_t i = 1; i <= 10; ++i) {
    taken += SendBatch(token_, EventsWithoutPoints(i, 4'000)).status == 200 ? 1 : 0;
  }
  EXPECT_GE(taken, 1);
  EXPECT_LE(taken, 2);
  EXPECT_LE(Count("SELECT count(*) FROM event"), 8'000U);
}

TEST_F(IngestTest, FramesUseUpTheQuota) {
  Reopen({.steps_of_user = 1'000, .days = 90});
  probe::Batch batch = BatchOf(1, {});
  batch.frames.clear();
  batch.stacks = {{}};
  for (int i = 0; i < 128; ++i) {
    batch.stacks[0].frames.push_back(static_cast<std::uint32_t>(i));
    batch.frames.push_back({.function = std::string(250, 'f') + std::to_string(i),
                            .module = std::string(250, 'm'),
                            .file = std::string(250, 'n')});
  }
  EXPECT_EQ(SendBatch(token_, batch).status, 507);
  EXPECT_EQ(Count("SELECT count(*) FROM frame"), 0U);
}

TEST_F(IngestTest, TimesAheadOfTheServersClockAreRefused) {
  const auto ns = static_cast<std::uint64_t>(clock_.Now().time_since_epoch().count()) * 1'000;
  constexpr std::uint64_t kHour = 3'600'000'000'000;
  EXPECT_EQ(SendBatch(token_, BatchOf(1, {.run = 1, .begin_ns = ns + 23 * kHour})).status, 200);
  const http::Response refused =
      SendBatch(token_, BatchOf(2, {.run = 2, .begin_ns = ns + 25 * kHour}));
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("ahead of the server's clock"));
  probe::Batch batch = BatchOf(2, {.run = 2, .begin_ns = ns});
  batch.hits.back().ns = ns + 25 * kHour;
  EXPECT_EQ(SendBatch(token_, batch).status, 400);
  EXPECT_EQ(Count("SELECT count(*) FROM event"), 1U);
}

TEST_F(IngestTest, LimitsResponsesToOneMebibyte) {
  Reopen({.steps_of_user = 100'000'000, .days = 90});
  const std::string odd = "<'\"&>";
  std::string text;
  while (text.size() < 240) text += odd;
  probe::Batch batch = BatchOf(1, {.run = 1,
                                   .steps = 4'000,
                                   .program = text,
                                   .build = text.substr(0, 60),
                                   .tags = {text.substr(0, 30)},
                                   .function = text,
                                   .file = text});
  for (std::uint32_t i = 0; i < 40; ++i) batch.stacks[0].frames.push_back(0);
  ASSERT_EQ(SendBatch(token_, batch).status, 200);
  for (std::uint64_t i = 2; i <= 6; ++i) {
    probe::Batch labels = EventsWithoutPoints(i, 4'000);
    for (probe::EventInfo& event : labels.events) {
      event.label = (odd + odd + odd + odd).substr(0, 20) + std::to_string(event.id.number);
      event.begin_ns += event.id.number;
    }
    labels.runs[0].program = text;
    ASSERT_EQ(SendBatch(token_, labels).status, 200);
  }
  const std::string session = LogIn();
  const std::string event = IdOf(1);
  for (const std::string& target :
       {std::string("/"), std::string("/events"), std::string("/events?limit=500"),
        "/events/" + event, "/events/" + event + "/steps/1", std::string("/purge?label=index_open"),
        "/compare?id=" + event, std::string("/history?label=index_open"), std::string("/account"),
        std::string("/v1/events?limit=500"), "/v1/events/" + event, "/v1/compare?ids=" + event,
        "/v1/export?format=otlp&ids=" + event, "/v1/export?format=chrome&ids=" + event}) {
    const http::Response response = Get(target, session);
    EXPECT_LE(response.body.size(), kMaxAnswerBytes) << target;
    // The pages that everyone opens first must work.
    const bool must_work = target == "/" || target == "/events" || target == "/account";
    EXPECT_TRUE(response.status == 200 || (response.status == 413 && !must_work))
        << target << response.status;
  }
  EXPECT_THAT(Get("/", session).body, HasSubstr("Older labels"));
}

TEST_F(IngestTest, ReportsAFullDiskBeforeWriting) {
  disk_is_full_ = true;
  EXPECT_EQ(SendBatch(token_, BatchOf(1, {})).status, 507);
  disk_is_full_ = false;
  EXPECT_EQ(SendBatch(token_, BatchOf(1, {})).status, 200);
}

TEST_F(IngestTest, FailedWriteLeavesOthersOfItsGroupUnaffected) {
  // Both batches wait while the writer is busy, so that they are written together.
  std::promise<void> go;
  auto gate = go.get_future();
  ASSERT_TRUE(writer_->Post(
      [&gate](Data&) -> Status {
        gate.wait();
        return {};
      },
      [](Status) {}));
  std::promise<Status> bad;
  std::promise<Status> good;
  ASSERT_TRUE(writer_->Post(
      [](Data& data) -> Status {
        FIELDCOST_TRY(data.database().Execute("INSERT INTO usage VALUES (7, 7, 7)"));
        return Fail(ErrorCode::kAlreadyExists, "no");
      },
      [&bad](Status status) { bad.set_value(std::move(status)); }));
  ASSERT_TRUE(writer_->Post(
      [](Data& data) { return data.database().Execute("INSERT INTO usage VALUES (8, 8, 8)"); },
      [&good](Status status) { good.set_value(std::move(status)); }));
  go.set_value();
  EXPECT_FALSE(bad.get_future().get().has_value());
  EXPECT_TRUE(good.get_future().get().has_value());
  EXPECT_EQ(Count("SELECT count(*) FROM usage WHERE user = 7"), 0U);
  EXPECT_EQ(Count("SELECT count(*) FROM usage WHERE user = 8"), 1U);
  EXPECT_TRUE(writer_->healthy());
}

TEST_F(IngestTest, OverloadRefusesBatchesButServesPages) {
  std::promise<void> go;
  const std::shared_future<void> gate = go.get_future().share();
  std::promise<void> begun;
  ASSERT_TRUE(writer_->Post(
      [&](Data&) -> Status {
        begun.set_value();
        gate.wait();
        return {};
      },
      [](Status) {}));
  begun.get_future().wait();
  for (std::size_t i = 0; i < kMaxPosted; ++i) {
    ASSERT_TRUE(writer_->Post([](Data&) { return Status(); }, [](Status) {})) << i;
  }
  EXPECT_EQ(SendBatch(token_, BatchOf(1, {})).status, 503);
  EXPECT_EQ(counters_.overloads, 1U);
  auto person = std::async(std::launch::async,
                           [this] { return writer_->Run([](Data&) { return Status(); }); });
  go.set_value();
  EXPECT_TRUE(person.get().has_value());
  EXPECT_EQ(SendBatch(token_, BatchOf(1, {})).status, 200);
}

TEST_F(IngestTest, AfterTheDiskHasFailedNothingIsAcknowledged) {
  EXPECT_FALSE(writer_->Run([](Data&) -> Status { return Fail(ErrorCode::kIo, "the disk"); }));
  EXPECT_FALSE(writer_->healthy());
  EXPECT_EQ(SendBatch(token_, BatchOf(1, {})).status, 503);
  EXPECT_EQ(Hits(), 0U);
}

TEST_F(IngestTest, AnEnrolledDeviceCanSend) {
  const http::Response response =
      Send({.method = "POST",
            .target = "/v1/devices",
            .body = R"({"user":"alice","password":"correct horse battery","name":"new"})"});
  ASSERT_EQ(response.status, 200) << response.body;
  const auto answer = boost::json::parse(response.body);
  const std::string token(answer.at("token").as_string());
  EXPECT_EQ(answer.at("device").as_int64(), 2);
  EXPECT_EQ(SendBatch(token, BatchOf(1, {})).status, 200);
}

TEST_F(IngestTest, RefusesMalformedEnrolmentBodiesWithoutADatabaseAccess) {
  for (const char* body :
       {"", "[]", "{", R"({"user":"alice"})", R"({"user":1,"password":2,"name":3})",
        R"({"user":"alice","password":"correct horse battery","name":""})",
        R"({"user":"alice","password":"correct horse battery","name":"a\u0000b"})"}) {
    EXPECT_EQ(Send({.method = "POST", .target = "/v1/devices", .body = body}).status, 400) << body;
  }
  EXPECT_EQ(Count("SELECT count(*) FROM guesser"), 0U);
}

}  // namespace
}  // namespace fieldcost::probe_server
