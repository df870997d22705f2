#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/common/http/http_fixture.h"
#include "tests/support/wait_until.h"

namespace fieldcost::http {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

class RoundTripTest : public HttpFixture {};

TEST_F(RoundTripTest, MethodTargetHeadersAndBodyArriveAndComeBack) {
  Request seen;
  std::mutex mutex;
  StartTls([&](Request request, const Respond& respond) {
    const std::lock_guard lock(mutex);
    seen = std::move(request);
    respond({.status = 201, .headers = {{"X-Answer", "yes"}}, .body = "made"});
  });
  Client client = MakeClient();
  const Result<Response> response = client.Send({.method = "POST",
                                                 .target = "/v1/batches?x=%2F",
                                                 .headers = {{"X-Question", "who?"}},
                                                 .body = std::string("a\0b", 3)});
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 201);
  EXPECT_EQ(Find(response->headers, "x-answer"), "yes");
  EXPECT_EQ(Find(response->headers, "Content-Length"), "4");
  EXPECT_THAT(std::string(Find(response->headers, "Date")), ::testing::EndsWith(" GMT"));
  EXPECT_EQ(Find(response->headers, "Server"), "");
  EXPECT_EQ(response->body, "made");
  const std::lock_guard lock(mutex);
  EXPECT_EQ(seen.method, "POST");
  EXPECT_EQ(seen.target, "/v1/batches?x=%2F");
  EXPECT_EQ(Find(seen.headers, "X-QUESTION"), "who?");
  EXPECT_EQ(Find(seen.headers, "Host"), "127.0.0.1:" + std::to_string(server_->port()));
  EXPECT_EQ(seen.body, std::string("a\0b", 3));
  EXPECT_EQ(seen.peer_address, "127.0.0.1");
}

TEST_F(RoundTripTest, EachRequestHasTheTimeOfItsFirstByte) {
  using std::chrono::steady_clock;
  std::vector<steady_clock::time_point> began;
  std::vector<steady_clock::time_point> answered;
  std::mutex mutex;
  StartTls([&](const Request& request, const Respond& respond) {
    const std::lock_guard lock(mutex);
    began.push_back(request.first_byte_at);
    answered.push_back(steady_clock::now());
    respond({});
  });
  const auto start = steady_clock::now();
  Client client = MakeClient();
  for (const std::size_t size : {0U, 100'000U, 1U}) {
    const Request request{.method = "POST", .target = "/", .body = std::string(size, 'x')};
    ASSERT_TRUE(client.Send(request));
  }
  const std::lock_guard lock(mutex);
  ASSERT_EQ(began.size(), 3U);
  EXPECT_GE(began[0], start);
  for (std::size_t i = 0; i < began.size(); ++i) EXPECT_LE(began[i], answered[i]);
  // It is not that of the previous request on the connection.
  EXPECT_GE(began[1], answered[0]);
  EXPECT_GE(began[2], answered[1]);
}

TEST_F(RoundTripTest, TheServerIsVerifiedByNameToo) {
  StartTls(Echo);
  ClientOptions options = Options();
  options.url = "https://localhost:" + std::to_string(server_->port()) + "/";
  Client client = Client::Create(options).value();
  const Result<Response> response = client.Send({});
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(client.origin(), "https://localhost:" + std::to_string(server_->port()));
}

TEST_F(RoundTripTest, BodiesOfAllSizesComeBackUnchangedOnOneConnection) {
  StartTls(Echo);
  Client client = MakeClient();
  for (const std::size_t size : {0u, 1u, 16383u, 16384u, 16385u, 100'000u, 262'144u}) {
    std::string body(size, '\0');
    for (std::size_t i = 0; i < size; ++i) body[i] = static_cast<char>(i * 31 + i / 256);
    const Result<Response> response = client.Send({.method = "POST", .target = "/", .body = body});
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->status, 200);
    EXPECT_TRUE(response->body == body) << size;
  }
}

TEST_F(RoundTripTest, DeliversResponsesLargerThanOneWrite) {
  std::string large(5'000'000, '\0');
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i % 251);
  StartTls([&](const Request&, const Respond& respond) { respond({.body = large}); });
  const Result<Response> response = MakeClient().Send({});
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_TRUE(response->body == large);
}

TEST_F(RoundTripTest, ABodyAboveTheServersLimitIsAnswered413) {
  std::atomic<int> handled = 0;
  StartTls([&](const Request&, const Respond& respond) {
    ++handled;
    respond({});
  });
  for (const std::size_t size : {262'145u, 3'000'000u}) {
    const Result<Response> response =
        MakeClient().Send({.method = "POST", .target = "/", .body = std::string(size, 'x')});
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->status, 413);
    EXPECT_THAT(response->body, HasSubstr("too_large"));
  }
  EXPECT_EQ(handled, 0);
}

TEST_F(RoundTripTest, AResponseAboveTheClientsLimitIsRefused) {
  StartTls(
      [](const Request&, const Respond& respond) { respond({.body = std::string(1001, 'x')}); });
  ClientOptions options = Options();
  options.max_response_bytes = 1000;
  Client client = Client::Create(options).value();
  const Result<Response> response = client.Send({});
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kTooLarge);
}

TEST_F(RoundTripTest, HeadHasTheLengthButNoBody) {
  StartTls([](const Request&, const Respond& respond) { respond({.body = "12345"}); });
  Client client = MakeClient();
  for (int i = 0; i < 3; ++i) {
    const Result<Response> response = client.Send({.method = "HEAD"});
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(Find(response->headers, "Content-Length"), "5");
    EXPECT_EQ(response->body, "");
  }
}

TEST_F(RoundTripTest, NotModifiedHasNeitherLengthNorBody) {
  StartTls([](const Request&, const Respond& respond) {
    respond({.status = 304, .headers = {{"ETag", "\"x\""}}, .body = "ignored"});
  });
  Client client = MakeClient();
  for (int i = 0; i < 2; ++i) {
    const Result<Response> response = client.Send({});
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->status, 304);
    EXPECT_EQ(Find(response->headers, "Content-Length"), "");
    EXPECT_EQ(response->body, "");
  }
}

TEST_F(RoundTripTest, TheConnectionIsKeptBetweenRequests) {
  // With space for one connection, a second one would get response 503.
  ServerOptions options;
  options.max_connections = 1;
  StartTls(Echo, options);
  Client client = MakeClient();
  for (int i = 0; i < 20; ++i) {
    const Result<Response> response = client.Send({.method = "POST", .body = "x"});
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->status, 200);
  }
}

TEST_F(RoundTripTest, AKeptConnectionThatWasClosedIsReplacedOnce) {
  StartTls(Echo);
  Client client = MakeClient();
  ASSERT_TRUE(client.Send({}));
  ServerOptions again;
  again.port = server_->port();
  server_->Stop(milliseconds(0));
  server_.reset();
  const Result<Response> refused = client.Send({});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  StartTls(Echo, again);
  ASSERT_TRUE(client.Send({}));
  server_.reset();
  StartTls(Echo, again);
  const Result<Response> response = client.Send({});
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 200);
}

TEST_F(RoundTripTest, ManyClientsAtOnceGetTheirOwnAnswers) {
  StartTls(Echo);
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      Client client = MakeClient();
      for (int i = 0; i < 25; ++i) {
        const std::string body = std::to_string(t) + "/" + std::to_string(i);
        const Result<Response> response = client.Send({.method = "POST", .body = body});
        if (response && response->body == body) ++right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 8 * 25);
}

TEST_F(RoundTripTest, AHandlerMayAnswerFromAnotherThread) {
  std::vector<std::thread> answering;
  std::mutex mutex;
  StartTls([&](Request request, Respond respond) {
    const std::lock_guard lock(mutex);
    answering.emplace_back([request = std::move(request), respond = std::move(respond)] {
      respond({.body = "late " + request.body});
      respond({.body = "the second answer is ignored"});
    });
  });
  Client client = MakeClient();
  for (int i = 0; i < 5; ++i) {
    const Result<Response> response = client.Send({.method = "POST", .body = std::to_string(i)});
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->body, "late " + std::to_string(i));
  }
  server_.reset();
  for (std::thread& thread : answering) thread.join();
}

TEST_F(RoundTripTest, AnAnswerAfterTheServersEndIsHarmless) {
  Respond kept;
  std::mutex mutex;
  ServerOptions options;
  options.response_timeout = milliseconds(50);
  StartTls(
      [&](const Request&, Respond respond) {
        const std::lock_guard lock(mutex);
        kept = std::move(respond);
      },
      options);
  const Result<Response> response = MakeClient().Send({});
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 503);
  EXPECT_EQ(Find(response->headers, "Retry-After"), "5");
  server_.reset();
  kept({.body = "too late"});
}

TEST_F(RoundTripTest, ADroppedRequestIsAnswered503) {
  StartTls([](const Request&, const Respond&) {});
  const Result<Response> response = MakeClient().Send({});
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 503);
}

TEST_F(RoundTripTest, AHandlersExceptionIsA500AndTheServerLives) {
  StartTls([](const Request& request, const Respond& respond) {
    if (request.target == "/throw") throw std::runtime_error("secret detail");
    if (request.target == "/number") throw 7;
    if (request.target == "/split") return respond({.headers = {{"X", "a\r\nEvil: b"}}});
    if (request.target == "/framing") return respond({.headers = {{"content-length", "7"}}});
    respond({.body = "fine"});
  });
  Client client = MakeClient();
  for (const char* target : {"/throw", "/number", "/split", "/framing"}) {
    const Result<Response> response = client.Send({.target = target});
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->status, 500) << target;
    EXPECT_THAT(response->body, ::testing::Not(HasSubstr("secret")));
    EXPECT_EQ(Find(response->headers, "Evil"), "");
    EXPECT_EQ(client.Send({})->body, "fine");
  }
}

TEST_F(RoundTripTest, GracefulStopLetsARunningRequestFinish) {
  std::mutex mutex;
  std::condition_variable arrived;
  Respond running;
  StartTls([&](const Request& request, Respond respond) {
    if (request.target == "/idle") return respond({});
    const std::lock_guard lock(mutex);
    running = std::move(respond);
    arrived.notify_all();
  });
  Client idle = MakeClient();
  ASSERT_TRUE(idle.Send({.target = "/idle"}));
  Result<Response> response = Error{ErrorCode::kInternal, "not sent"};
  std::thread sender([&] { response = MakeClient().Send({}); });
  {
    std::unique_lock lock(mutex);
    arrived.wait(lock, [&] { return running != nullptr; });
  }
  std::thread stopper([&] { server_->Stop(std::chrono::minutes(1)); });
  // The listening socket closes first: once a new client is turned away, the stop is in progress.
  EXPECT_TRUE(testing::WaitUntil([&] { return !MakeClient().Send({.target = "/idle"}); }));
  running({.body = "finished"});
  stopper.join();
  sender.join();
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, "finished");
  EXPECT_EQ(Find(response->headers, "Connection"), "close");
  EXPECT_FALSE(idle.Send({.target = "/idle"}));
}

TEST_F(RoundTripTest, StopWithoutGraceCutsARunningRequest) {
  std::mutex mutex;
  std::condition_variable arrived;
  Respond running;
  StartTls([&](const Request&, Respond respond) {
    const std::lock_guard lock(mutex);
    running = std::move(respond);
    arrived.notify_all();
  });
  Result<Response> response = Response{};
  std::thread sender([&] { response = MakeClient().Send({}); });
  {
    std::unique_lock lock(mutex);
    arrived.wait(lock, [&] { return running != nullptr; });
  }
  server_->Stop(milliseconds(0));
  sender.join();
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace fieldcost::http
