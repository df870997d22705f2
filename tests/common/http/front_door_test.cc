// Tests how the server handles bytes that no proper client sends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <vector>

#include "tests/common/http/http_fixture.h"
#include "tests/common/http/raw_connection.h"
#include "tests/support/wait_until.h"

namespace fieldcost::http {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view kGet = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";

class FrontDoorTest : public HttpFixture {
 protected:
  void StartCounting(ServerOptions options = {}) {
    StartPlain(
        [this](Request request, const Respond& respond) {
          ++handled_;
          respond({.body = request.method + " " + request.target + " " + request.body + ";"});
        },
        std::move(options));
  }
  // Sends everything and returns all received bytes until the server closes.
  std::string Exchange(std::string_view bytes) {
    RawConnection connection(server_->port());
    connection.Send(bytes);
    return connection.ReadToEnd();
  }
  // Sends `begin`, then a byte every few milliseconds. Returns false if the server never stops
  // reading.
  bool IsCutWhileItDrips(std::string_view begin) {
    constexpr int kDrips = 4'000;
    RawConnection connection(server_->port());
    connection.Send(begin);
    for (int i = 0; i < kDrips; ++i) {
      pollfd ended{connection.fd(), POLLRDHUP, 0};
      if (::poll(&ended, 1, 3) == 1) return true;
      connection.Send("x");
    }
    return false;
  }
  static std::size_t Count(std::string_view text, std::string_view part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
    return count;
  }

  std::atomic<int> handled_ = 0;
};

TEST_F(FrontDoorTest, RefusesAmbiguousRequestsAndClosesTheConnection) {
  StartCounting();
  const std::string hidden = "GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n";
  const auto post = [&](const std::string& lines, const std::string& body) {
    return "POST / HTTP/1.1\r\nHost: a\r\n" + lines + "\r\n" + body + hidden;
  };
  const struct {
    std::string bytes;
    int status;
  } kRows[] = {
      {post("Transfer-Encoding: chunked\r\n", "0\r\n\r\n"), 411},
      {post("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"), 411},
      {post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n"), 400},
      {post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), 400},
      {post("Transfer-Encoding : chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n"), 400},
      {post("Transfer-Encoding:\r\n chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n"), 400},
      {post("X: y\rTransfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n"), 400},
      {post("Content-Length: 5\r\nContent-Length: 5\r\n", "hello"), 400},
      {post("Content-Length: 5\r\nContent-Length: 0\r\n", "hello"), 400},
      {post("Content-Length: 5, 5\r\n", "hello"), 400},
      {post("Content-Length: +5\r\n", "hello"), 400},
      {post("Content-Length: -1\r\n", "hello"), 400},
      {post("Content-Length: 0x5\r\n", "hello"), 400},
      {post("Content-Length: 18446744073709551621\r\n", "hello"), 413},
      {post("Content-Length:\r\n", "hello"), 400},
      {post("", "hello"), 411},
      {post("Host: a\r\nContent-Length: 0\r\n", ""), 400},
      {post("Host: b\r\nContent-Length: 0\r\n", ""), 400},
      {post("X: y\r\n folded\r\nContent-Length: 0\r\n", ""), 400},
      {"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello" + hidden, 400},
      {"GET / HTTP/1.1\nHost: a\n\n" + hidden, 400},
      {"GET / HTTP/1.1\r\nHost: a\n\r\n" + hidden, 400},
      {"\r\n" + hidden, 400},
      {"GET / HTTP/1.1\r\n\r\n" + hidden, 400},
      {"GET / HTTP/1.0\r\nHost: a\r\n\r\n" + hidden, 505},
      {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
      {"GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n" + hidden, 400},
      {"GET a HTTP/1.1\r\nHost: a\r\n\r\n" + hidden, 400},
      {"GET /../etc/passwd HTTP/1.1\r\nHost: a\r\n\r\n" + hidden, 400},
      {"GET /%2e%2e/etc HTTP/1.1\r\nHost: a\r\n\r\n" + hidden, 400},
      {"GET /a\\b HTTP/1.1\r\nHost: a\r\n\r\n" + hidden, 400},
      {"GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n" + hidden, 400},
      {std::string("GET /a\0b HTTP/1.1\r\nHost: a\r\n\r\n", 30) + hidden, 400},
      {"GET /" + std::string(2048, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n" + hidden, 414},
      {"CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n" + hidden, 400},
      {"PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n" + hidden, 405},
      {"POST / HTTP/1.1\r\nHost: a\r\nExpect: x\r\nContent-Length: 0\r\n\r\n" + hidden, 417},
      {"GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(17'000, 'x'), 431},
      {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 262145\r\n\r\n", 413},
      {"\x16\x03\x01\x02", 400},
      {"rubbish\n", 400},
  };
  for (const auto& row : kRows) {
    const std::string answer = Exchange(row.bytes);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 " + std::to_string(row.status) + " ")) << row.bytes;
    EXPECT_THAT(answer, HasSubstr("\r\nConnection: close\r\n")) << row.bytes;
    EXPECT_EQ(Count(answer, "\r\nContent-Length: "), 1u) << row.bytes;
  }
  EXPECT_EQ(handled_, 0);
}

TEST_F(FrontDoorTest, RefusesOtherMethodsAndListsTheAllowedOnes) {
  StartCounting();
  EXPECT_THAT(Exchange("DELETE / HTTP/1.1\r\nHost: a\r\n\r\n"),
              HasSubstr("\r\nAllow: GET, HEAD, POST\r\n"));
}

TEST_F(FrontDoorTest, PipelinedRequestsAreAnsweredInOrder) {
  StartCounting();
  const std::string answer = Exchange(
      "POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab"
      "GET /2 HTTP/1.1\r\nHost: a\r\n\r\n"
      "GET /3 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
      "GET /4 HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(Count(answer, "HTTP/1.1 200 OK"), 3u);
  EXPECT_LT(answer.find("POST /1 ab;"), answer.find("GET /2 ;"));
  EXPECT_LT(answer.find("GET /2 ;"), answer.find("GET /3 ;"));
  EXPECT_NE(answer.find("GET /3 ;"), std::string::npos);
  EXPECT_EQ(handled_, 3);
}

TEST_F(FrontDoorTest, ARequestMayArriveByteByByte) {
  StartCounting();
  RawConnection connection(server_->port());
  const std::string request = "POST /y HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello";
  for (const char c : request) connection.Send(std::string_view(&c, 1));
  EXPECT_THAT(connection.ReadUntil(";"), HasSubstr("POST /y hello;"));
}

TEST_F(FrontDoorTest, SendsContinueToClientsThatExpectIt) {
  StartCounting();
  RawConnection connection(server_->port());
  connection.Send(
      "POST /y HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(connection.ReadUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  connection.Send("hello");
  EXPECT_THAT(connection.ReadUntil(";"), HasSubstr("POST /y hello;"));
}

TEST_F(FrontDoorTest, AClientThatOnlyStoppedSendingStillGetsItsAnswer) {
  StartCounting();
  RawConnection connection(server_->port());
  connection.Send(kGet);
  connection.FinishSending();
  EXPECT_THAT(connection.ReadToEnd(), HasSubstr("GET /x ;"));
}

TEST_F(FrontDoorTest, ASlowHeadIsCut) {
  StartCounting({.header_timeout = milliseconds(50)});
  EXPECT_EQ(Exchange(""), "");
  EXPECT_EQ(Exchange("GET / HTTP/1.1\r\nHost: a\r\n"), "");
  EXPECT_EQ(handled_, 0);
}

TEST_F(FrontDoorTest, ASlowBodyIsCut) {
  StartCounting({.body_timeout = milliseconds(50)});
  EXPECT_EQ(Exchange("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhell"), "");
  EXPECT_EQ(handled_, 0);
}

TEST_F(FrontDoorTest, BytesThatArriveDoNotPutOffADeadline) {
  StartCounting({.header_timeout = milliseconds(200), .body_timeout = milliseconds(200)});
  EXPECT_TRUE(IsCutWhileItDrips("GET / HTTP/1.1\r\nHost: a\r\nX: "));
  EXPECT_TRUE(IsCutWhileItDrips("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n"));
  EXPECT_EQ(handled_, 0);
}

TEST_F(FrontDoorTest, AnIdleConnectionIsClosed) {
  // Long enough for the request to arrive on a busy machine.
  StartCounting({.header_timeout = milliseconds(2'000)});
  EXPECT_THAT(Exchange(kGet), HasSubstr("GET /x ;"));
}

TEST_F(FrontDoorTest, ASilentTlsHandshakeIsCut) {
  StartTls(Echo, {.handshake_timeout = milliseconds(50)});
  EXPECT_EQ(Exchange(""), "");
}

TEST_F(FrontDoorTest, PlainHttpOnATlsPortIsNotHandled) {
  StartTls([this](const Request&, const Respond& respond) {
    ++handled_;
    respond({});
  });
  EXPECT_THAT(Exchange(kGet), ::testing::Not(HasSubstr("HTTP/1.1")));
  EXPECT_EQ(handled_, 0);
}

// A connection's place becomes free only once the server has dropped the other one.
TEST_F(FrontDoorTest, ClosesConnectionsOfPeersThatDoNotRead) {
  const std::string large(64 * 1024 * 1024, 'x');
  StartPlain(
      [&](const Request& request, const Respond& respond) {
        respond({.body = request.target == "/large" ? large : "small"});
      },
      {.max_connections = 1, .response_timeout = milliseconds(2'000)});
  RawConnection deaf(server_->port());
  deaf.Send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
  std::string answer;
  ASSERT_TRUE(testing::WaitUntil([&] {
    answer = Exchange("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    return !answer.starts_with("HTTP/1.1 503");
  }));
  EXPECT_THAT(answer, HasSubstr("small"));
  EXPECT_LT(deaf.ReadToEnd().size(), large.size());
}

TEST_F(FrontDoorTest, RefusesConnectionsAboveTheCapWithAResponse) {
  StartTls(Echo, {.max_connections = 2});
  Client first = MakeClient();
  ASSERT_TRUE(first.Send({}));
  {
    Client second = MakeClient();
    ASSERT_TRUE(second.Send({}));
    const Result<Response> third = MakeClient().Send({});
    ASSERT_TRUE(third) << third.error().message;
    EXPECT_EQ(third->status, 503);
    EXPECT_EQ(Find(third->headers, "Retry-After"), "5");
    EXPECT_EQ(Find(third->headers, "Connection"), "close");
    EXPECT_EQ(first.Send({})->status, 200);
  }
  EXPECT_TRUE(testing::WaitUntil([&] { return MakeClient().Send({})->status == 200; }));
}

TEST_F(FrontDoorTest, RunningOutOfDescriptorsIsSurvived) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizers' check of an object's type opens a pipe, and fails without one";
#endif
  StartCounting({.threads = 1});
  RawConnection before(server_->port());
  before.Send(kGet);
  before.ReadUntil(";");
  ::testing::internal::CaptureStderr();  // uses descriptors itself
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const int lowest_free = ::dup(0);
  ASSERT_GE(lowest_free, 0);
  ::close(lowest_free);
  const rlimit one_left{static_cast<rlim_t>(lowest_free) + 1, limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &one_left), 0);
  RawConnection waiting(server_->port());  // takes the last descriptor: the server cannot accept it
  waiting.Send(kGet);
  for (int i = 0; i < 3; ++i) {  // meanwhile the server's only thread has tried to accept it
    before.Send(kGet);
    EXPECT_THAT(before.ReadUntil(";"), HasSubstr("GET /x ;"));
  }
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_THAT(waiting.ReadUntil(";"), HasSubstr("GET /x ;"));
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("accept: Too many open files"));
}

TEST_F(FrontDoorTest, APortInUseIsNamed) {
  StartCounting();
  const auto second = Server::Start({.port = server_->port()}, Echo);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kAlreadyExists);
  EXPECT_EQ(second.error().message, "listen on 127.0.0.1 port " + std::to_string(server_->port()) +
                                        ": Address already in use");
}

TEST_F(FrontDoorTest, UnusableOptionsAreNamed) {
  const std::filesystem::path nowhere = Certs().ca.parent_path() / "none.pem";
  const struct {
    ServerOptions options;
    std::string expected;
  } kRows[] = {
      {{.address = "0.0.0.0"}, "without a certificate only a loopback address"},
      {{.address = "localhost"}, "localhost: not an IP address"},
      {{.address = "192.0.2.1",
        .certificate_file = Certs().certificate,
        .private_key_file = Certs().key},
       "listen on 192.0.2.1 port 0: Cannot assign requested address"},
      {{.certificate_file = nowhere, .private_key_file = Certs().key}, nowhere.string()},
      {{.certificate_file = Certs().certificate, .private_key_file = nowhere}, nowhere.string()},
      {{.certificate_file = Certs().key, .private_key_file = Certs().key},
       "holds no certificate, but a private key"},
      {{.certificate_file = Certs().ca, .private_key_file = Certs().key}, "server.key"},
  };
  for (const auto& row : kRows) {
    const auto server = Server::Start(row.options, Echo);
    ASSERT_FALSE(server) << row.expected;
    EXPECT_EQ(server.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(server.error().message, HasSubstr(row.expected));
  }
}

TEST_F(FrontDoorTest, StopClosesIdleConnectionsAndIsIdempotent) {
  StartCounting();
  RawConnection idle(server_->port());
  idle.Send(kGet);
  idle.ReadUntil(";");
  RawConnection half(server_->port());
  half.Send("GET / HT");
  server_->Stop(std::chrono::hours(1));
  server_->Stop(std::chrono::hours(1));
  EXPECT_EQ(idle.ReadToEnd(), "");
  EXPECT_EQ(half.ReadToEnd(), "");
}

}  // namespace
}  // namespace fieldcost::http
