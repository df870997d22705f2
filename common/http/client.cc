#include "common/http/client.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
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

constexpr std::uint16_t kHttpPort = 80;
constexpr std::uint16_t kProxyPort = 3128;
constexpr std::size_t kMaxHeaderBytes = 16 * 1024;
constexpr int kMaxInterimResponses = 8;  // 1xx before the final one
constexpr std::size_t kPieceBytes = 16 * 1024;
constexpr milliseconds kAskEvery{100};  // between calls of may_go_on

// A connection; without TLS only its next_layer() is used.
using Stream = ssl::stream<tcp::socket>;
using Parser = beast::http::response_parser<beast::http::string_body>;

// An error as one line, without the source location that Boost adds.
std::string Why(const error_code& error) { return EscapeControl(error.message()); }

struct Deadline {
  steady_clock::time_point at;
  milliseconds timeout;  // for messages

  explicit Deadline(milliseconds from_now)
      : at(steady_clock::now() + from_now), timeout(from_now) {}
};

// Returns the number of written bytes that the peer has not acknowledged or, with SIOCOUTQNSD, that
// have not even been sent.
int BytesInKernel(tcp::socket& socket, unsigned long which) {
  int bytes = 0;
  return ::ioctl(socket.native_handle(), which, &bytes) == 0 ? bytes : 0;
}

// Sets whether closing drops data that the kernel has not sent. Otherwise the kernel would continue
// to send it, even after our process has ended.
void DropOnClose(tcp::socket& socket, bool drop) {
  const ::linger option{.l_onoff = drop ? 1 : 0, .l_linger = 0};
  // Set directly, because Asio ignores its own option when a destructor closes the socket.
  ::setsockopt(socket.native_handle(), SOL_SOCKET, SO_LINGER, &option, sizeof option);
}

// The result of one operation. "Too late" has its own value, because Asio has several errors for
// it.
struct Outcome {
  error_code error;
  bool too_late = false;
  bool stopped = false;  // by may_go_on
  explicit operator bool() const { return !error && !too_late && !stopped; }
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

// Moves the response out of the parser. REQUIRES: its header is complete.
Response ResponseOf(Parser& parser) {
  auto message = parser.release();
  Response response{.status = static_cast<int>(message.result_int()),
                    .body = std::move(message.body())};
  for (const auto& field : message) {
    response.headers.emplace_back(field.name_string(), field.value());
  }
  return response;
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
  std::optional<Error> stopped;  // by may_go_on, during this request
  bool sent_all = false;         // the last byte of this request
  std::optional<Response> incomplete;

  ~State() { Disconnect(); }

  bool MayGoOn() {
    if (stopped || !options.may_go_on) return !stopped;
    if (Status status = options.may_go_on(); !status) stopped = std::move(status).error();
    return !stopped;
  }

  // Starts an operation and waits for it until the deadline or until `go_on` fails; then closes the
  // socket to abort it. A name look-up cannot be aborted in this way: it lasts as long as the
  // system's resolver tries.
  template <typename Start, typename Cancel, typename GoOn>
  Outcome Await(const Deadline& deadline, Start start, Cancel cancel, GoOn go_on) {
    if (!go_on()) return {.stopped = true};
    std::optional<error_code> done;
    start([&done](const error_code& error, const auto&...) { done = error; });
    Outcome outcome;
    while (outcome) {
      const auto look =
          options.may_go_on ? std::min(deadline.at, steady_clock::now() + kAskEvery) : deadline.at;
      io.restart();
      io.run_until(look);
      if (done) return {.error = *done};
      outcome.too_late = steady_clock::now() >= deadline.at;
      outcome.stopped = !outcome.too_late && !go_on();
    }
    cancel();
    io.restart();
    io.run();
    return outcome;
  }
  template <typename Start, typename GoOn>
  Outcome AwaitOn(tcp::socket& socket, const Deadline& deadline, Start start, GoOn go_on) {
    const auto cancel = [&socket] {
      error_code ignored;
      socket.close(ignored);
    };
    return Await(deadline, std::move(start), cancel, std::move(go_on));
  }
  template <typename Start>
  Outcome AwaitOn(tcp::socket& socket, const Deadline& deadline, Start start) {
    return AwaitOn(socket, deadline, std::move(start), [this] { return MayGoOn(); });
  }

  Status ChooseServer();
  Status Connect();
  Status ConnectSocket(tcp::socket& socket, const Deadline& deadline);
  Status OpenTunnel(tcp::socket& socket, const Deadline& deadline);
  Outcome SendAll(std::string_view message, const Deadline& deadline);
  Result<Response> Exchange(const Request& request, std::string_view head,
                            std::uint64_t max_body_bytes, bool& unanswered);
  template <typename GoOn>
  Outcome ReadResponse(Parser& parser, std::uint64_t max_body_bytes, const Deadline& deadline,
                       GoOn go_on);
  void Disconnect();
};

void Client::State::Disconnect() {
  if (stream) {
    tcp::socket& socket = stream->next_layer();
    if (BytesInKernel(socket, SIOCOUTQ) == 0) DropOnClose(socket, false);
    error_code ignored;
    socket.close(ignored);
  }
  stream.reset();
  received.clear();
}

Status Client::State::ChooseServer() {
  // Only an address, because a name may lead anywhere.
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
      [&] { resolver.cancel(); }, [this] { return MayGoOn(); });
  if (!resolved) return StepError(step + ": look up " + target.host, resolved, deadline);
  const Outcome connected =
      AwaitOn(socket, deadline, [&](auto done) { asio::async_connect(socket, addresses, done); });
  if (!connected) return StepError(step, connected, deadline);
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  DropOnClose(socket, true);
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

// Sends in pieces, with the last byte as a separate piece: without it the others are useless.
Outcome Client::State::SendAll(std::string_view message, const Deadline& deadline) {
  tcp::socket& socket = stream->next_layer();
  while (!message.empty()) {
    const bool is_last = message.size() == 1;
    const asio::const_buffer piece(message.data(),
                                   is_last ? 1 : std::min(message.size() - 1, kPieceBytes));
    const Outcome sent = AwaitOn(socket, deadline, [&](auto done) {
      sent_all = sent_all || is_last;
      plain ? asio::async_write(socket, piece, done) : asio::async_write(*stream, piece, done);
    });
    if (!sent) return sent;
    message.remove_prefix(piece.size());
  }
  return {};
}

// Reads the header first, because the limit of the body depends on the status: the text of an error
// may be longer than the file that was requested.
template <typename GoOn>
Outcome Client::State::ReadResponse(Parser& parser, std::uint64_t max_body_bytes,
                                    const Deadline& deadline, GoOn go_on) {
  tcp::socket& socket = stream->next_layer();
  Outcome got = AwaitOn(
      socket, deadline,
      [&](auto done) {
        plain ? beast::http::async_read_header(socket, received, parser, done)
              : beast::http::async_read_header(*stream, received, parser, done);
      },
      go_on);
  if (!got || parser.is_done()) return got;
  if (parser.get().result_int() / 100 == 2 && max_body_bytes < options.max_response_bytes) {
    // The parser compares an announced length with its limit only while it reads the header.
    if (parser.content_length().value_or(0) > max_body_bytes) {
      return {.error = beast::http::make_error_code(beast::http::error::body_limit)};
    }
    parser.body_limit(max_body_bytes);
  }
  return AwaitOn(
      socket, deadline,
      [&](auto done) {
        plain ? beast::http::async_read(socket, received, parser, done)
              : beast::http::async_read(*stream, received, parser, done);
      },
      go_on);
}

// Sets `unanswered` if it failed because the connection was closed before any byte of a response.
Result<Response> Client::State::Exchange(const Request& request, std::string_view head,
                                         std::uint64_t max_body_bytes, bool& unanswered) {
  Deadline deadline(options.request_timeout);
  tcp::socket& socket = stream->next_layer();
  std::string message(head);
  message += request.body;
  const Outcome sent = SendAll(message, deadline);
  if (sent.too_late || sent.stopped) return StepError("send", sent, deadline);
  // Once fully sent it cannot be recalled, so wait for the response.
  const auto wait_for_answer = [&] {
    if (stopped || MayGoOn()) return true;
    deadline.at = std::min(deadline.at, steady_clock::now() + options.answer_after_stop);
    return BytesInKernel(socket, SIOCOUTQNSD) == 0;
  };
  // A server that refuses a request may respond and close before it has read all of it: read its
  // response even if not everything could be sent.
  for (int interim = 0; interim <= kMaxInterimResponses; ++interim) {
    Parser parser;
    parser.header_limit(kMaxHeaderBytes);
    parser.body_limit(options.max_response_bytes);
    if (request.method == "HEAD") parser.skip(true);
    const Outcome got = ReadResponse(parser, max_body_bytes, deadline, wait_for_answer);
    if (!got) {
      unanswered = !got.too_late && !got.stopped && !parser.got_some() && interim == 0;
      if (!sent && !got.too_late && !got.stopped) return StepError("send", sent, deadline);
      const Error error = ReceiveError(got, deadline);
      if (parser.is_header_done() && parser.get().result_int() / 100 == 2 &&
          error.code != ErrorCode::kTooLarge) {
        incomplete = ResponseOf(parser);
      }
      return error;
    }
    const bool keep = parser.keep_alive() && sent;
    Response response = ResponseOf(parser);
    if (response.status < 200) continue;
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

Result<Response> Client::Send(const Request& request, std::uint64_t max_body_bytes) {
  const std::string what = fmt::format("{} {}{}", EscapeControl(request.method), state_->origin,
                                       EscapeControl(request.target));
  state_->stopped.reset();
  state_->sent_all = false;
  state_->incomplete.reset();
  try {
    Result<std::string> head = RequestHead(request, state_->server.Authority());
    if (!head) return Within(head.error(), what);
    for (;;) {
      const bool kept = state_->stream != nullptr;
      if (!kept) {
        if (const Status connected = state_->Connect(); !connected) {
          return Within(state_->stopped.value_or(connected.error()), what);
        }
      }
      bool unanswered = false;
      Result<Response> response = state_->Exchange(request, *head, max_body_bytes, unanswered);
      if (response) return response;
      state_->Disconnect();
      if (state_->stopped) {
        return Within(
            *state_->stopped,
            what + (state_->sent_all ? ": all of it had been sent, and no answer has come" : ""));
      }
      if (!kept || !unanswered) return Within(response.error(), what);
    }
  } catch (const std::exception& error) {
    state_->Disconnect();
    return Fail(ErrorCode::kInternal, "{}: {}", what, error.what());
  }
}

const std::optional<Response>& Client::incomplete() const { return state_->incomplete; }
bool Client::has_sent_all() const { return state_->sent_all; }

const std::string& Client::server_name() const { return state_->server.host; }
const std::string& Client::origin() const { return state_->origin; }

}  // namespace fieldcost::http
