// Tests the client's errors, and its handling of responses that our server never sends.
#include "common/http/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <string>
#include <thread>

#include "common/http/tls.h"
#include "tests/common/http/http_fixture.h"
#include "tests/common/http/raw_connection.h"
#include "tests/support/process.h"

namespace fieldcost::http {
namespace {

using std::chrono::milliseconds;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ClientTest : public HttpFixture {};

TEST_F(ClientTest, ARefusedConnectionNamesTheRequestTheAddressAndTheReason) {
  StartTls(Echo);
  Client client = MakeClient();
  server_->Stop(milliseconds(0));
  const Result<Response> response = client.Send({.method = "POST", .target = "/v1/batches"});
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(response.error().message, "POST https://127.0.0.1:" + std::to_string(server_->port()) +
                                          "/v1/batches: connect: Connection refused");
}

TEST_F(ClientTest, TheServersNameIsThatOfItsCertificate) {
  EXPECT_EQ(*CertificateNames(Certs().certificate),
            (std::vector<std::string>{"localhost", "127.0.0.1"}));
  const Result<std::vector<std::string>> none = CertificateNames(Certs().key);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr(Certs().key.string()));
  const auto name = [](const char* url) { return Client::Create({.url = url})->server_name(); };
  EXPECT_EQ(name("https://FieldCost.Example:8443"), "fieldcost.example");
  EXPECT_EQ(name("https://127.0.0.1"), "127.0.0.1");
  EXPECT_EQ(name("https://[0:0::1]:7"), "::1");
}

TEST_F(ClientTest, AnotherCaIsNotTrusted) {
  StartTls(Echo);
  const testing::TempDir directory;
  ClientOptions options = Options();
  options.ca_file = testing::MakeCertificates(directory.path()).ca;
  const Result<Response> response = Client::Create(options)->Send({});
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kUnauthenticated);
  EXPECT_THAT(response.error().message, HasSubstr("TLS handshake: the server's certificate: "));
}

TEST_F(ClientTest, ATestCaIsUnknownToTheSystemsTrustStore) {
  StartTls(Echo);
  ClientOptions options = Options();
  options.ca_file.clear();
  const Result<Response> response = Client::Create(options)->Send({});
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kUnauthenticated);
  EXPECT_THAT(response.error().message, HasSubstr("ca_file = \"ca.pem\""));
}

TEST_F(ClientTest, ACertificateForAnotherAddressIsNotTrusted) {
  StartTls(Echo, {.address = "127.0.0.2"});
  ClientOptions options = Options();
  options.url = "https://127.0.0.2:" + std::to_string(server_->port());
  const Result<Response> response = Client::Create(options)->Send({});
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kUnauthenticated);
  EXPECT_THAT(response.error().message, HasSubstr("IP address mismatch"));
}

TEST_F(ClientTest, TheServerSpeaksTls13Only) {
  StartTls(Echo);
  const auto connect = [&](const std::string& version) {
    return testing::RunProcess(
        {.arguments = {"openssl", "s_client", "-connect",
                       "127.0.0.1:" + std::to_string(server_->port()), version, "-CAfile",
                       Certs().ca.string(), "-verify_return_error"}});
  };
  const testing::ProcessResult current = connect("-tls1_3");
  EXPECT_EQ(current.exit_status, 0) << current.errors;
  EXPECT_THAT(current.output, HasSubstr("TLSv1.3"));
  EXPECT_THAT(current.output, ::testing::Not(HasSubstr("New Session Ticket")));
  const testing::ProcessResult old = connect("-tls1_2");
  EXPECT_NE(old.exit_status, 0);
  EXPECT_THAT(old.errors, HasSubstr("alert protocol version"));
}

TEST_F(ClientTest, UnusableOptionsAreNamed) {
  const Result<Client> plain = Client::Create({.url = "http://example.org"});
  ASSERT_FALSE(plain);
  EXPECT_EQ(plain.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(plain.error().message, HasSubstr("http://example.org"));
  const std::filesystem::path nowhere = Certs().ca.parent_path() / "none.pem";
  for (const std::filesystem::path& file : {nowhere, Certs().key}) {
    const Result<Client> client = Client::Create({.url = "https://example.org", .ca_file = file});
    ASSERT_FALSE(client) << file;
    EXPECT_EQ(client.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(client.error().message, HasSubstr(file.string()));
  }
  const Result<Client> proxy =
      Client::Create({.url = "https://example.org", .proxy_url = "https://proxy:1"});
  ASSERT_FALSE(proxy);
  EXPECT_THAT(proxy.error().message, HasSubstr("https://proxy:1"));
}

TEST_F(ClientTest, WithoutTlsOnlyALoopbackAddressIsReached) {
  StartPlain(Echo);
  const std::string port = std::to_string(server_->port());
  // Loopback addresses bypass the proxy.
  Client local =
      Client::Create({.url = "http://127.0.0.1:" + port, .proxy_url = "http://192.0.2.1:9"})
          .value();
  EXPECT_EQ(local.origin(), "http://127.0.0.1:" + port);
  for (int i = 0; i < 3; ++i) {
    const Result<Response> response = local.Send({.method = "POST", .body = "hello"});
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->body, "hello");
  }
  EXPECT_EQ(server_->counters().connections, 1U);
  EXPECT_TRUE(Client::Create({.url = "http://127.9.9.9"}));
  EXPECT_TRUE(Client::Create({.url = "http://[::1]:80/"}));
  for (const char* url : {"http://localhost", "http://192.0.2.1", "http://0.0.0.0",
                          "http://[2001:db8::1]", "http://[::]", "http://127.0.0.1.example.org",
                          "http://127.1", "http://user@127.0.0.1", "http://127.0.0.1/x"}) {
    const Result<Client> refused = Client::Create({.url = url});
    ASSERT_FALSE(refused) << url;
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument) << url;
  }
}

TEST_F(ClientTest, TimesOutOnASilentServerInTheHandshake) {
  const RawListener silent;
  ClientOptions options{.url = "https://127.0.0.1:" + std::to_string(silent.port()),
                        .ca_file = Certs().ca,
                        .connect_timeout = milliseconds(2'000)};
  const Result<Response> response = Client::Create(options)->Send({});
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kDeadlineExceeded);
  EXPECT_THAT(response.error().message, EndsWith("TLS handshake: not done within 2000 ms"));
}

TEST_F(ClientTest, TimesOutWithoutAResponseAndTheNextRequestSucceeds) {
  Respond kept;
  StartTls([&](const Request& request, Respond respond) {
    if (request.target == "/kept") {
      kept = std::move(respond);
    } else {
      respond({.body = "answer to " + request.target});
    }
  });
  ClientOptions options = Options();
  options.request_timeout = milliseconds(2'000);
  Client client = Client::Create(options).value();
  const Result<Response> none = client.Send({.target = "/kept"});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kDeadlineExceeded);
  EXPECT_THAT(none.error().message, HasSubstr("/kept: receive: not done within 2000 ms"));
  const Result<Response> next = client.Send({.target = "/next"});
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_EQ(next->body, "answer to /next");
  server_.reset();
}

// One request for each possible number of checks that permit sending before one refuses.
TEST_F(ClientTest, ItLooksBeforeEachPieceAndBeforeTheLastByte) {
  std::atomic<int> handled{0};
  StartTls([&](Request request, const Respond& respond) {
    ++handled;
    Echo(std::move(request), respond);
  });
  const std::string body(40'000, 'x');
  for (int yes = 0;; ++yes) {
    int looks = 0;
    ClientOptions options = Options();
    options.may_go_on = [&]() -> Status {
      if (looks++ < yes) return {};
      return Fail(ErrorCode::kPermissionDenied, "not any more");
    };
    Client client = Client::Create(options).value();
    const Result<Response> response = client.Send({.method = "POST", .body = body});
    if (response) {
      EXPECT_TRUE(client.has_sent_all());
      EXPECT_EQ(response->body, body) << "the request has left, so a response may come";
      // Look-up, connection, handshake, three pieces, the last byte.
      EXPECT_GE(yes, 7);
      break;
    }
    EXPECT_EQ(response.error().code, ErrorCode::kPermissionDenied) << response.error().message;
    EXPECT_THAT(response.error().message, EndsWith(": not any more"));
    EXPECT_FALSE(client.has_sent_all());
  }
  server_->Stop(milliseconds(60'000));
  EXPECT_EQ(handled, 1);
}

TEST_F(ClientTest, ItLooksWhileItWaits) {
  const RawListener silent;
  int looks = 0;
  const ClientOptions options{.url = "https://127.0.0.1:" + std::to_string(silent.port()),
                              .ca_file = Certs().ca,
                              .connect_timeout = milliseconds(3'600'000),
                              .may_go_on = [&]() -> Status {
                                if (++looks < 6) return {};
                                return Fail(ErrorCode::kPermissionDenied, "not any more");
                              }};
  Client client = Client::Create(options).value();
  const Result<Response> response = client.Send({});
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kPermissionDenied) << response.error().message;
}

TEST_F(ClientTest, WaitsALittleLongerForTheResponseOfASentRequest) {
  std::atomic<bool> has_arrived{false};
  Respond kept;
  StartTls([&](const Request&, Respond respond) {
    kept = std::move(respond);
    has_arrived = true;
  });
  ClientOptions options = Options();
  options.request_timeout = milliseconds(3'600'000);
  options.answer_after_stop = milliseconds(1);
  options.may_go_on = [&]() -> Status {
    if (!has_arrived) return {};
    return Fail(ErrorCode::kPermissionDenied, "not any more");
  };
  Client client = Client::Create(options).value();
  const Result<Response> response = client.Send({.method = "POST", .body = "here"});
  ASSERT_FALSE(response);
  EXPECT_TRUE(client.has_sent_all());
  EXPECT_THAT(response.error().message,
              HasSubstr("all of it had been sent, and no answer has come"));
  server_.reset();
}

// Otherwise the kernel would send the rest after the request is abandoned.
TEST_F(ClientTest, DropsWhatTheKernelHasNotSentYet) {
  RawListener reader;
  const int least = 1;  // a few KiB, less than a piece
  ASSERT_EQ(::setsockopt(reader.fd(), SOL_SOCKET, SO_RCVBUF, &least, sizeof least), 0);
  int looks = 0;
  Client client = Client::Create({.url = "http://127.0.0.1:" + std::to_string(reader.port()),
                                  .may_go_on = [&]() -> Status {
                                    if (++looks < 20) return {};
                                    return Fail(ErrorCode::kPermissionDenied, "not any more");
                                  }})
                      .value();
  const std::string body(4'000'000, 'x');
  const Result<Response> response = client.Send({.method = "POST", .body = body});
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kPermissionDenied) << response.error().message;
  EXPECT_FALSE(client.has_sent_all());
  const UniqueFd peer = reader.Accept();
  std::array<char, 65536> chunk;
  ssize_t got = 0;
  while ((got = ::recv(peer.get(), chunk.data(), chunk.size(), 0)) > 0) {
  }
  EXPECT_EQ(got, -1) << "an orderly end would mean that all was sent";
  EXPECT_EQ(errno, ECONNRESET);
}

TEST_F(ClientTest, AServerWithoutTlsIsAHandshakeError) {
  StartPlain(Echo);
  const Result<Response> response = MakeClient().Send({});
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(response.error().message, HasSubstr(": TLS handshake: "));
}

TEST_F(ClientTest, RequestsThatCannotBeSentAreRefusedBeforeConnecting) {
  Client client = Client::Create({.url = "https://127.0.0.1:1", .ca_file = Certs().ca}).value();
  for (const Request& request :
       {Request{.target = "/ HTTP/1.1\r\nX: y"}, Request{.headers = {{"X", "a\r\nb"}}}}) {
    const Result<Response> response = client.Send(request);
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(response.error().message.find('\n'), std::string::npos);
  }
}

// openssl s_server -HTTP responds with the bytes of any file.
class OddAnswerTest : public HttpFixture {
 protected:
  Result<Response> SendTo(const std::string& answer,
                          std::uint64_t max_body_bytes = Client::kNoBodyLimit) {
    const testing::TempDir directory;
    EXPECT_TRUE(WriteFileAtomically(directory.path() / "answer", answer, 0600));
    testing::BackgroundProcess server(
        {.arguments = {"openssl", "s_server", "-HTTP", "-accept", "127.0.0.1:0", "-cert",
                       Certs().certificate.string(), "-key", Certs().key.string()},
         .directory = directory.path()});
    std::string line;
    EXPECT_TRUE(server.WaitForLine("ACCEPT", &line));
    ClientOptions options{.url = "https://127.0.0.1:" + line.substr(line.rfind(':') + 1),
                          .ca_file = Certs().ca,
                          .max_response_bytes = 1000};
    return Client::Create(options).value().Send({.target = "/answer"}, max_body_bytes);
  }
};

TEST_F(OddAnswerTest, ChunkedAndInterimAnswersAreUnderstood) {
  const Result<Response> chunked = SendTo(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
  ASSERT_TRUE(chunked) << chunked.error().message;
  EXPECT_EQ(chunked->body, "abcde");
  const Result<Response> interim = SendTo(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nX: y\r\n\r\n"
      "HTTP/1.1 404 Gone\r\nContent-Length: 2\r\n\r\nno");
  ASSERT_TRUE(interim) << interim.error().message;
  EXPECT_EQ(interim->status, 404);
  EXPECT_EQ(interim->body, "no");
}

TEST_F(OddAnswerTest, ReportsNonHttpResponsesAsCorrupt) {
  for (const char* answer : {"rubbish\r\n\r\n", "SSH-2.0-x\r\n", "HTTP/1.1 2x0 OK\r\n\r\n",
                             "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
                             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"}) {
    const Result<Response> response = SendTo(answer);
    ASSERT_FALSE(response) << answer;
    EXPECT_EQ(response.error().code, ErrorCode::kCorrupt) << response.error().message;
    EXPECT_THAT(response.error().message, StartsWith("GET https://127.0.0.1:"));
  }
}

TEST_F(OddAnswerTest, RefusesTruncatedResponses) {
  for (const char* answer :
       {"", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"}) {
    const Result<Response> response = SendTo(answer);
    ASSERT_FALSE(response) << answer;
    EXPECT_EQ(response.error().code, ErrorCode::kUnavailable) << response.error().message;
    EXPECT_THAT(response.error().message, HasSubstr("closed before the end")) << answer;
  }
}

TEST_F(OddAnswerTest, LargeHeadersAndBodiesAreRefused) {
  for (const std::string& answer :
       {"HTTP/1.1 200 OK\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n" + std::string(1001, 'x'),
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n" + std::string(1001, 'x') +
            "\r\n0\r\n\r\n"}) {
    const Result<Response> response = SendTo(answer);
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, ErrorCode::kTooLarge) << response.error().message;
  }
}

TEST_F(OddAnswerTest, ARequestsOwnLimitCutsEveryKindOfBodyButNoErrorText) {
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  const std::vector<std::string> of_five_bytes = {
      ok + "Content-Length: 5\r\n\r\nabcde",
      ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
      ok + "Connection: close\r\n\r\nabcde"};
  for (const std::string& answer : of_five_bytes) {
    SCOPED_TRACE(answer);
    const Result<Response> cut = SendTo(answer, 4);
    ASSERT_FALSE(cut);
    EXPECT_EQ(cut.error().code, ErrorCode::kTooLarge) << cut.error().message;
    const Result<Response> whole = SendTo(answer, 5);
    ASSERT_TRUE(whole) << whole.error().message;
    EXPECT_EQ(whole->body, "abcde");
  }
  const Result<Response> error =
      SendTo("HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nabcde", 4);
  ASSERT_TRUE(error) << error.error().message;
  EXPECT_EQ(error->status, 404);
}

constexpr std::string_view kEstablished = "HTTP/1.1 200 Connection established\r\n\r\n";

// A proxy that responds to one CONNECT with `answer`; after kEstablished it forwards both ways.
class OneTimeProxy {
 public:
  explicit OneTimeProxy(std::string answer)
      : thread_([this, answer = std::move(answer)] { Run(answer); }) {}
  ~OneTimeProxy() { Join(); }
  void Join() {
    if (thread_.joinable()) thread_.join();
  }
  std::uint16_t port() const { return listener_.port(); }
  const std::string& request() const { return request_; }  // after Join()

 private:
  void Run(const std::string& answer);
  RawListener listener_;
  std::string request_;
  std::thread thread_;
};

void OneTimeProxy::Run(const std::string& answer) {
  const UniqueFd client = listener_.Accept();
  char c = 0;
  while (!request_.ends_with("\r\n\r\n") && ::recv(client.get(), &c, 1, 0) == 1) request_ += c;
  ::send(client.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
  if (answer != kEstablished) return;
  const std::size_t colon = request_.find(':');
  RawConnection server(static_cast<std::uint16_t>(std::stoi(request_.substr(colon + 1))));
  std::array<char, 65536> chunk;
  pollfd polled[2] = {{client.get(), POLLIN, 0}, {server.fd(), POLLIN, 0}};
  while (::poll(polled, 2, -1) > 0) {
    for (int i = 0; i < 2; ++i) {
      if (polled[i].revents == 0) continue;
      const ssize_t got = ::recv(polled[i].fd, chunk.data(), chunk.size(), 0);
      if (got <= 0) return;
      ::send(polled[1 - i].fd, chunk.data(), static_cast<std::size_t>(got), MSG_NOSIGNAL);
    }
  }
}

TEST_F(ClientTest, AProxysTunnelCarriesTlsToTheServerItself) {
  StartTls(Echo);
  OneTimeProxy proxy{std::string(kEstablished)};
  {
    ClientOptions options = Options();
    options.proxy_url = "http://127.0.0.1:" + std::to_string(proxy.port());
    Client client = Client::Create(options).value();
    for (int i = 0; i < 2; ++i) {
      const Result<Response> response = client.Send({.method = "POST", .body = "through"});
      ASSERT_TRUE(response) << response.error().message;
      EXPECT_EQ(response->body, "through");
    }
  }
  proxy.Join();
  const std::string authority = "127.0.0.1:" + std::to_string(server_->port());
  EXPECT_EQ(proxy.request(),
            "CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n");
}

TEST_F(ClientTest, AProxyThatRefusesIsNamedWithItsAnswer) {
  const struct {
    const char* answer;
    ErrorCode code;
    const char* expected;
  } kRows[] = {
      {"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n",
       ErrorCode::kUnavailable, "the proxy answers 407"},
      {"HTTP/1.1 200 OK\r\n\r\nmore", ErrorCode::kCorrupt, "more than its answer"},
      {"rubbish\r\n\r\n", ErrorCode::kCorrupt, "not an HTTP response"},
  };
  for (const auto& row : kRows) {
    OneTimeProxy proxy(row.answer);
    const std::string authority = "127.0.0.1:" + std::to_string(proxy.port());
    Client client = Client::Create({.url = "https://127.0.0.1:9",
                                    .ca_file = Certs().ca,
                                    .proxy_url = "http://" + authority})
                        .value();
    const Result<Response> response = client.Send({});
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, row.code) << response.error().message;
    EXPECT_THAT(response.error().message, HasSubstr("connect through proxy " + authority));
    EXPECT_THAT(response.error().message, HasSubstr(row.expected));
  }
}

}  // namespace
}  // namespace fieldcost::http
