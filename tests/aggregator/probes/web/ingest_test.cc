// Batches: each once, or not at all.
#include "tests/aggregator/probes/site_fixture.h"

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
  EXPECT_EQ(response.body, "{\"sequence\": 5, \"duplicate\": false}\n");
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

TEST_F(IngestTest, NumbersMayHaveGapsAndComeInAnyOrder) {
  for (const std::uint64_t sequence : {9U, 3U, 1'000'000U, 4U}) {
    EXPECT_EQ(SendBatch(token_, BatchOf(sequence, {.run = sequence})).status, 200);
  }
  EXPECT_EQ(Hits(), 16U);
}

TEST_F(IngestTest, DevicesNumberTheirBatchesApart) {
  const std::string other = AddDeviceOf(alice_, "desk");
  EXPECT_EQ(SendBatch(token_, BatchOf(1, {.run = 1})).status, 200);
  EXPECT_EQ(SendBatch(other, BatchOf(1, {.run = 2})).status, 200);
  EXPECT_EQ(Hits(), 8U);
}

TEST_F(IngestTest, AnEventBelongsToTheUserOfTheDevice) {
  const std::string bobs = AddDeviceOf(AddUserNamed("bob"));
  EXPECT_EQ(SendBatch(token_, BatchOf(1, {.run = 1})).status, 200);
  EXPECT_EQ(SendBatch(bobs, BatchOf(1, {.run = 2})).status, 200);
  const auto events = Api("/v1/events?user=bob", token_).at("events").as_array();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].at("id").as_string(), (probe::EventId{2, 1}).Hex());
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

TEST_F(IngestTest, NobodyRevokesAnothersDevice) {
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

TEST_F(IngestTest, WhatIsNoBatchIsRefusedAndCostsNothing) {
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

TEST_F(IngestTest, AUserWhoseRoomIsUsedUpIsToldSoAndNobodyElse) {
  const std::string bobs = AddDeviceOf(AddUserNamed("bob"));
  Reopen({.steps_of_user = 10, .days = 2});
  EXPECT_EQ(SendBatch(token_, BatchOf(1, {.run = 1})).status, 200);
  EXPECT_EQ(SendBatch(token_, BatchOf(2, {.run = 2})).status, 200);
  const http::Response response = SendBatch(token_, BatchOf(3, {.run = 3}));
  EXPECT_EQ(response.status, 507);
  EXPECT_THAT(response.body, HasSubstr("steps_per_user"));
  EXPECT_EQ(SendBatch(token_, BatchOf(1, {.run = 1})).status, 200);  // it is there already
  EXPECT_EQ(SendBatch(bobs, BatchOf(1, {.run = 4})).status, 200);
  clock_.Advance(std::chrono::days(3));
  EXPECT_EQ(SendBatch(token_, BatchOf(3, {.run = 3})).status, 200);
}

TEST_F(IngestTest, AFullDiskIsSaidBeforeAnythingIsWritten) {
  disk_is_full_ = true;
  EXPECT_EQ(SendBatch(token_, BatchOf(1, {})).status, 507);
  disk_is_full_ = false;
  EXPECT_EQ(SendBatch(token_, BatchOf(1, {})).status, 200);
}

TEST_F(IngestTest, WhatFailsDoesNotTakeOthersWithIt) {
  // Both wait while the writer is busy, so that they are written together.
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

TEST_F(IngestTest, WhenTooMuchWaitsBatchesAreTurnedAwayAndPeopleAreNot) {
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

TEST_F(IngestTest, BodiesOfEnrolmentThatAreNoneAreRefusedWithoutALook) {
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
