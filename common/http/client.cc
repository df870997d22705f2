#include "common/http/client.h"

#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <exception>
#include <optional>
#include <utility>

#include "common/base/text.h"
#include "common/http/message_text.h"
#include "common/http/origin.h"
#include "common/http/tls.h"

namespace fieldcost::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace ssl = boost::asio::ssl;
using asio::ip::tcp;
using boost::system::error_code;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::uint16_t kHttpsPort = 443;
constexpr std::uint16_t kHttpPort = 80;
constexpr std::uint16_t kProxyPort = 3128;
constexpr std::size_t kMaxHeaderBytes = 16 * 1024;
constexpr int kMaxInterimResponses = 8;  // 1xx before the real one

// Ends a TLS connection hard when it goes away; no byte of ours is ever in doubt then. Without TLS
// only its next_layer() is used.
using Stream = ssl::stream<tcp::socket>;
using Parser = beast::http::response_parser<beast::http::string_body>;

// One line, without the source location that Boost adds.
std::string Why(const error_code& error) { return EscapeControl(error.message()); }

struct Deadline {
  steady_clock::time_point at;
  milliseconds timeout;  // for messages

  explicit Deadline(milliseconds from_now)
      : at(steady_clock::now() + from_now), timeout(from_now) {}
};

// What one operation came to. A value of its own for "too late": Asio has several.
struct Outcome {
  error_code error;
  bool too_late = false;
  explicit operator bool() const { return !error && !too_late; }
};

Error StepError(std::string_view step, const Outcome& outcome, const Deadline& deadline) {
  if (outcome.too_late) {
    return Fail(ErrorCode::kDeadlineExceeded, "{}: not done within {} ms", step,
                deadline.timeout.count());
  }
  return Fail(ErrorCode::kUnavailable, "{}: {}", step, Why(outcome.error));
}

Error ReceiveError(const Outcome& outcome, const Deadline& deadline) {
  using beast::http::error;
  if (outcome.error == error::body_limit || outcome.error == error::header_limit ||
      outcome.error == error::buffer_overflow) {
    return Fail(ErrorCode::kTooLarge, "receive: the response is larger than allowed");
  }
  if (outcome.error == error::end_of_stream || outcome.error == error::partial_message ||
      outcome.error == asio::error::eof || outcome.error == ssl::error::stream_truncated) {
    return Fail(ErrorCode::kUnavailable,
                "receive: connection closed before the end of the response");
  }
  if (outcome.error.category() == beast::http::make_error_code(error::bad_version).category()) {
    return Fail(ErrorCode::kCorrupt, "receive: not an HTTP response: {}", Why(outcome.error));
  }
  return StepError("receive", outcome, deadline);
}

}  // namespace

struct Client::State {
  ClientOptions options;
  Origin server;
  bool plain = false;  // no TLS: loopback
  std::optional<Origin> proxy;
  std::string origin;
  asio::io_context io{1};
  ssl::context tls{ssl::context::tls_client};
  std::unique_ptr<Stream> stream;  // null = not connected
  beast::flat_buffer received{kMaxHeaderBytes + 64 * 1024};

  // Starts an operation, waits for it until the deadline; then closes the socket to end it. What
  // cannot be ended so is a name look-up: it lasts as long as the system's resolver tries.
  template <typename Start, typename Cancel>
  Outcome Await(const Deadline& deadline, Start start, Cancel cancel) {
    std::optional<error_code> done;
    start([&done](const error_code& error, const auto&...) { done = error; });
    io.restart();
    io.run_until(deadline.at);
    if (done) return {.error = *done};
    cancel();
    io.restart();
    io.run();
    return {.too_late = true};
  }
  template <typename Start>
  Outcome AwaitOn(tcp::socket& socket, const Deadline& deadline, Start start) {
    return Await(deadline, std::move(start), [&socket] {
      error_code ignored;
      socket.close(ignored);
    });
  }

  Status ChooseServer();
  Status Connect();
  Status ConnectSocket(tcp::socket& socket, const Deadline& deadline);
  Status OpenTunnel(tcp::socket& socket, const Deadline& deadline);
  Result<Response> Exchange(const Request& request, std::string_view head, bool& unanswered);
  void Disconnect() {
    stream.reset();
    received.clear();
  }
};

Status Client::State::ChooseServer() {
  // An address, as a name may lead anywhere.
  if (auto local = ParseOrigin(options.url, "http", kHttpPort); local && local->is_address) {
    plain = asio::ip::make_address(local->host).is_loopback();
    server = *std::move(local);
  }
  if (plain) {
    origin = "http://" + server.Authority();
    return {};
  }
  FIELDCOST_ASSIGN(server, ParseOrigin(options.url, "https", kHttpsPort));
  origin = "https://" + server.Authority();
  if (!options.proxy_url.empty()) {
    FIELDCOST_ASSIGN(proxy, ParseOrigin(options.proxy_url, "http", kProxyPort));
  }
  return ConfigureTlsClient(tls.native_handle(), options.ca_file);
}

Status Client::State::ConnectSocket(tcp::socket& socket, const Deadline& deadline) {
  const Origin& target = proxy ? *proxy : server;
  const std::string step = proxy ? "connect to proxy " + target.Authority() : "connect";
  tcp::resolver::results_type addresses;
  tcp::resolver resolver(io);
  const Outcome resolved = Await(
      deadline,
      [&](auto done) {
        resolver.async_resolve(target.host, std::to_string(target.port),
                               tcp::resolver::numeric_service,
                               [&addresses, done](const error_code& error, auto results) mutable {
                                 addresses = std::move(results);
                                 done(error);
                               });
      },
      [&] { resolver.cancel(); });
  if (!resolved) return StepError(step + ": look up " + target.host, resolved, deadline);
  const Outcome connected =
      AwaitOn(socket, deadline, [&](auto done) { asio::async_connect(socket, addresses, done); });
  if (!connected) return StepError(step, connected, deadline);
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  return {};
}

// Asks the proxy for a tunnel to the server (RFC 9110 §9.3.6).
Status Client::State::OpenTunnel(tcp::socket& socket, const Deadline& deadline) {
  const std::string step = "connect through proxy " + proxy->Authority();
  const std::string request =
      fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n\r\n", server.Authority());
  Outcome outcome = AwaitOn(
      socket, deadline, [&](auto done) { asio::async_write(socket, asio::buffer(request), done); });
  if (!outcome) return StepError(step, outcome, deadline);
  Parser parser;
  parser.header_limit(kMaxHeaderBytes);
  parser.skip(true);
  beast::flat_buffer buffer(kMaxHeaderBytes);
  outcome = AwaitOn(socket, deadline, [&](auto done) {
    beast::http::async_read_header(socket, buffer, parser, done);
  });
  if (!outcome) return Within(ReceiveError(outcome, deadline), step);
  if (parser.get().result_int() / 100 != 2) {
    return Fail(ErrorCode::kUnavailable, "{}: the proxy answers {}", step,
                parser.get().result_int());
  }
  if (buffer.size() != 0) {
    return Fail(ErrorCode::kCorrupt, "{}: the proxy sends more than its answer", step);
  }
  return {};
}

Status Client::State::Connect() {
  Disconnect();
  const Deadline deadline(options.connect_timeout);
  tcp::socket socket(io);
  FIELDCOST_TRY(ConnectSocket(socket, deadline));
  if (proxy) FIELDCOST_TRY(OpenTunnel(socket, deadline));
  auto fresh = std::make_unique<Stream>(std::move(socket), tls);
  if (plain) {
    stream = std::move(fresh);
    return {};
  }
  FIELDCOST_TRY(ExpectServer(fresh->native_handle(), server));
  const Outcome outcome = AwaitOn(fresh->next_layer(), deadline, [&](auto done) {
    fresh->async_handshake(ssl::stream_base::client, done);
  });
  if (!outcome) {
    const std::string refused = VerificationFailure(fresh->native_handle());
    if (!refused.empty() && !outcome.too_late) {
      return Fail(ErrorCode::kUnauthenticated, "TLS handshake: the server's certificate: {}",
                  refused);
    }
    return StepError("TLS handshake", outcome, deadline);
  }
  stream = std::move(fresh);
  return {};
}

// `unanswered` tells whether it failed because the connection was closed before any byte came back.
Result<Response> Client::State::Exchange(const Request& request, std::string_view head,
                                         bool& unanswered) {
  const Deadline deadline(options.request_timeout);
  tcp::socket& socket = stream->next_layer();
  const std::array<asio::const_buffer, 2> message{asio::buffer(head.data(), head.size()),
                                                  asio::buffer(request.body)};
  const Outcome sent = AwaitOn(socket, deadline, [&](auto done) {
    plain ? asio::async_write(socket, message, done) : asio::async_write(*stream, message, done);
  });
  if (sent.too_late) return StepError("send", sent, deadline);
  // A server that refuses a request may answer and close before it has read all of it: look for its
  // answer even if not everything could be sent.
  for (int interim = 0; interim <= kMaxInterimResponses; ++interim) {
    Parser parser;
    parser.header_limit(kMaxHeaderBytes);
    parser.body_limit(options.max_response_bytes);
    if (request.method == "HEAD") parser.skip(true);
    const Outcome got = AwaitOn(socket, deadline, [&](auto done) {
      plain ? beast::http::async_read(socket, received, parser, done)
            : beast::http::async_read(*stream, received, parser, done);
    });
    if (!got) {
      unanswered = !got.too_late && !parser.got_some() && interim == 0;
      if (!sent && !got.too_late) return StepError("send", sent, deadline);
      return ReceiveError(got, deadline);
    }
    const bool keep = parser.keep_alive() && sent;
    auto message_in = parser.release();
    if (message_in.result_int() < 200) continue;
    Response response{.status = static_cast<int>(message_in.result_int()),
                      .body = std::move(message_in.body())};
    for (const auto& field : message_in) {
      response.headers.emplace_back(field.name_string(), field.value());
    }
    if (!keep || received.size() != 0) Disconnect();
    return response;
  }
  return Fail(ErrorCode::kCorrupt, "receive: too many interim responses");
}

Client::Client(std::unique_ptr<State> state) : state_(std::move(state)) {}
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;
Client::~Client() = default;

Result<Client> Client::Create(ClientOptions options) {
  try {
    auto state = std::make_unique<State>();
    state->options = std::move(options);
    FIELDCOST_TRY(state->ChooseServer());
    return Client(std::move(state));
  } catch (const std::exception& error) {
    return Fail(ErrorCode::kInternal, "make an HTTPS client: {}", error.what());
  }
}

Result<Response> Client::Send(const Request& request) {
  const std::string what = fmt::format("{} {}{}", EscapeControl(request.method), state_->origin,
                                       EscapeControl(request.target));
  try {
    Result<std::string> head = RequestHead(request, state_->server.Authority());
    if (!head) return Within(head.error(), what);
    for (;;) {
      const bool kept = state_->stream != nullptr;
      if (!kept) {
        if (const Status connected = state_->Connect(); !connected) {
          return Within(connected.error(), what);
        }
      }
      bool unanswered = false;
      Result<Response> response = state_->Exchange(request, *head, unanswered);
      if (response) return response;
      state_->Disconnect();
      if (!kept || !unanswered) return Within(response.error(), what);
    }
  } catch (const std::exception& error) {
    state_->Disconnect();
    return Fail(ErrorCode::kInternal, "{}: {}", what, error.what());
  }
}

const std::string& Client::origin() const { return state_->origin; }

}  // namespace fieldcost::http
