#include "common/http/session.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <array>
#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>
#include <ctime>
#include <exception>
#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "common/base/check.h"
#include "common/base/log.h"
#include "common/http/message_text.h"
#include "common/http/strict_head.h"
#include "common/http/tls.h"

namespace fieldcost::http {
namespace {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
using asio::ip::tcp;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using Core = Connections::Core;

constexpr std::size_t kReadBytes = 16 * 1024;
constexpr std::size_t kWriteBytes = 1024 * 1024;  // each such part has its own response_timeout
constexpr std::size_t kMaxDrainBytes = 4 * 1024 * 1024;  // thrown away after a refusal
constexpr milliseconds kLingerTimeout{2'000};

// Completions are values: (error) or (error, size).
constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

Response Refused(const Refusal& refusal) {
  Response response =
      JsonError(refusal.status,
                Name(refusal.status == 413 || refusal.status == 431 ? ErrorCode::kTooLarge
                                                                    : ErrorCode::kInvalidArgument),
                refusal.reason);
  if (refusal.status == 405) response.headers.emplace_back("Allow", "GET, HEAD, POST");
  return response;
}

std::string HttpDate() {
  return fmt::format("{:%a, %d %b %Y %H:%M:%S} GMT", fmt::gmtime(std::time(nullptr)));
}

// A connection goes from each state to the next one, with these exceptions: one that is turned away
// goes from kHandshake to kTurningAway and kLingering; a kept one from kResponding to kIdle, or to
// kHead if more has come already; and everything may go to kClosed, which is the end.
enum class State {
  kHandshake,    // of TLS; without it nothing has happened yet
  kTurningAway,  // the only response is sent
  kFirstHead,    // the peer has asked for nothing yet
  kIdle,         // between two requests
  kHead,         // part of a head has come
  kBody,         // a whole head has
  kAnswering,    // the handler has the request
  kResponding,
  kLingering,  // all is sent, the peer may still read
  kClosed,
};

// The peer owes us something: a deadline that passes is its fault.
constexpr bool IsPeersTurn(State state) {
  return state != State::kIdle && state != State::kAnswering && state != State::kLingering &&
         state != State::kClosed;
}

// What has begun is finished before the connection is closed, unless by force.
constexpr bool IsBusy(State state) {
  return state == State::kBody || state == State::kAnswering || state == State::kResponding ||
         state == State::kLingering;
}

// All members are used on its strand only.
class TcpSession final : public Session, public std::enable_shared_from_this<TcpSession> {
 public:
  TcpSession(Core& core, tcp::socket socket, const ClientNetwork& from, TurnedAway turned_away)
      : core_(core),
        stream_(std::move(socket), *core.tls.context),
        deadline_(stream_.get_executor()),
        answered_(stream_.get_executor()),
        from_(from),
        turned_away_(std::move(turned_away)) {}

  void Start(std::shared_ptr<Core> core, std::function<void()> ended) override;
  void Stop(bool by_force) override;
  // Is called from any thread.
  void Deliver(std::uint64_t request_number, Response response);

 private:
  using Deadline = steady_clock::time_point;
  struct Io {
    boost::system::error_code error;
    std::size_t size = 0;
  };

  tcp::socket& socket() { return stream_.next_layer(); }
  bool closed() const { return state_ == State::kClosed; }
  // Nothing leads out of kClosed.
  void Enter(State state) {
    if (!closed()) state_ = state;
  }
  void Close();
  void Arm(milliseconds timeout);
  void ArmUntil(Deadline deadline);
  asio::awaitable<void> Run(std::shared_ptr<Core> core);
  asio::awaitable<Io> ReadSome();
  asio::awaitable<Io> Write(asio::const_buffer bytes);
  asio::awaitable<bool> Handshake();
  asio::awaitable<tl::expected<Head, Refusal>> ReceiveHead();
  asio::awaitable<bool> ReceiveBody(const Head& head, std::string& body);
  asio::awaitable<bool> ServeOne(const std::shared_ptr<Core>& core, const std::string& peer);
  asio::awaitable<Response> Handle(const std::shared_ptr<Core>& core, Request request);
  std::optional<Response> Charge();
  asio::awaitable<bool> Send(Response response, bool close, bool head_only);
  asio::awaitable<void> Linger();

  Core& core_;
  ssl::stream<tcp::socket> stream_;  // without TLS only its next_layer() is used
  asio::steady_timer deadline_;      // closes the connection
  asio::steady_timer answered_;      // cancelled when answer_ has come
  const ClientNetwork from_;
  TurnedAway turned_away_;
  State state_ = State::kHandshake;
  bool stopping_ = false;             // closes after the response in progress
  std::uint64_t request_number_ = 0;  // of the request whose head came last; 1 = the first
  std::optional<Response> answer_;    // the handler's, in kAnswering
  std::string received_;              // not used up yet
  std::array<char, kReadBytes> chunk_;
};

// Stands behind one Respond's copies. If all are gone and none was called, the request fails.
class Responder {
 public:
  Responder(std::shared_ptr<Core> core, std::weak_ptr<TcpSession> session, std::uint64_t number)
      : core_(std::move(core)), session_(std::move(session)), number_(number) {}
  ~Responder() { Answer(TryLater(503, kBusyRetry, "the request was dropped")); }
  Responder(const Responder&) = delete;
  Responder& operator=(const Responder&) = delete;
  void Answer(Response response) {
    if (done_.exchange(true)) return;
    if (const std::shared_ptr<TcpSession> session = session_.lock()) {
      session->Deliver(number_, std::move(response));
    }
  }

 private:
  std::shared_ptr<Core> core_;  // keeps the session's executor alive
  std::weak_ptr<TcpSession> session_;
  std::uint64_t number_;
  std::atomic<bool> done_{false};
};

void TcpSession::Start(std::shared_ptr<Core> core, std::function<void()> ended) {
  const auto done = [self = shared_from_this(),
                     ended = std::move(ended)](const std::exception_ptr& failure) {
    try {
      if (failure) std::rethrow_exception(failure);
    } catch (const std::exception& thrown) {
      LogError("http server: connection: {}", thrown.what());
    }
    self->Close();
    ended();
  };
  asio::co_spawn(stream_.get_executor(), Run(std::move(core)), done);
}

void TcpSession::Stop(bool by_force) {
  asio::post(stream_.get_executor(), [self = shared_from_this(), by_force] {
    self->stopping_ = true;
    if (by_force || !IsBusy(self->state_)) self->Close();
  });
}

void TcpSession::Deliver(std::uint64_t request_number, Response response) {
  asio::dispatch(stream_.get_executor(), [self = shared_from_this(), request_number,
                                          response = std::move(response)]() mutable {
    const bool is_late =
        self->state_ != State::kAnswering || request_number != self->request_number_;
    if (is_late || self->answer_) return;
    self->answer_ = std::move(response);
    self->answered_.cancel();
  });
}

void TcpSession::Close() {
  state_ = State::kClosed;
  boost::system::error_code ignored;
  socket().close(ignored);
  deadline_.cancel();
  answered_.cancel();
}

void TcpSession::Arm(milliseconds timeout) { ArmUntil(steady_clock::now() + timeout); }

void TcpSession::ArmUntil(Deadline deadline) {
  deadline_.expires_at(deadline);
  deadline_.async_wait([self = shared_from_this()](boost::system::error_code error) {
    // A wait that was already due when the timer was set anew is not the new deadline.
    if (error || self->deadline_.expiry() > steady_clock::now()) return;
    if (IsPeersTurn(self->state_)) ++self->core_.counters.deadlines;
    self->Close();
  });
}

asio::awaitable<bool> TcpSession::Handshake() {
  Arm(core_.options.handshake_timeout);
  const auto [error] = co_await stream_.async_handshake(ssl::stream_base::server, kAwait);
  if (!error) co_return true;
  if (!closed()) ++core_.counters.handshake_failures;
  co_return false;
}

asio::awaitable<TcpSession::Io> TcpSession::ReadSome() {
  const asio::mutable_buffer into = asio::buffer(chunk_);
  if (core_.with_tls()) {
    const auto [error, size] = co_await stream_.async_read_some(into, kAwait);
    co_return Io{error, size};
  }
  const auto [error, size] = co_await socket().async_read_some(into, kAwait);
  co_return Io{error, size};
}

asio::awaitable<TcpSession::Io> TcpSession::Write(asio::const_buffer bytes) {
  if (core_.with_tls()) {
    const auto [error, size] = co_await asio::async_write(stream_, bytes, kAwait);
    co_return Io{error, size};
  }
  const auto [error, size] = co_await asio::async_write(socket(), bytes, kAwait);
  co_return Io{error, size};
}

// A refusal with status 0 means: close without an answer.
asio::awaitable<tl::expected<Head, Refusal>> TcpSession::ReceiveHead() {
  Arm(core_.options.header_timeout);
  HeadScan scan;
  for (;;) {
    Enter(request_number_ == 0 ? State::kFirstHead
          : received_.empty()  ? State::kIdle
                               : State::kHead);
    const HeadScan::Outcome outcome = scan.Scan(received_);
    if (scan.scanned > core_.options.max_header_bytes) {
      co_return tl::unexpected(Refusal{431, "headers are too large"});
    }
    if (outcome == HeadScan::Outcome::kMalformed) {
      co_return tl::unexpected(Refusal{400, "this is not HTTP"});
    }
    if (outcome == HeadScan::Outcome::kComplete) break;
    const Io read = co_await ReadSome();
    if (read.error) co_return tl::unexpected(Refusal{0, ""});
    received_.append(chunk_.data(), read.size);
  }
  auto head =
      ParseHead(std::string_view(received_).substr(0, scan.scanned), core_.options.max_body_bytes);
  received_.erase(0, scan.scanned);
  co_return head;
}

asio::awaitable<bool> TcpSession::ReceiveBody(const Head& head, std::string& body) {
  Arm(core_.options.body_timeout);
  if (head.expects_continue && received_.size() < head.content_length) {
    constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    const Io written = co_await Write(asio::buffer(kContinue.data(), kContinue.size()));
    if (written.error) co_return false;
  }
  while (received_.size() < head.content_length) {
    const Io read = co_await ReadSome();
    if (read.error) co_return false;
    received_.append(chunk_.data(), read.size);
  }
  body = received_.substr(0, head.content_length);
  received_.erase(0, head.content_length);
  co_return true;
}

asio::awaitable<Response> TcpSession::Handle(const std::shared_ptr<Core>& core, Request request) {
  ++core_.counters.requests;
  Enter(State::kAnswering);
  deadline_.cancel();
  answered_.expires_after(core_.options.response_timeout);
  try {
    auto responder = std::make_shared<Responder>(core, weak_from_this(), request_number_);
    core_.handler(std::move(request), [responder = std::move(responder)](Response response) {
      responder->Answer(std::move(response));
    });
  } catch (const std::exception& error) {
    LogError("http server: a handler threw: {}", error.what());
    answer_ = JsonError(500, Name(ErrorCode::kInternal), "internal error");
  } catch (...) {
    LogError("http server: a handler threw");
    answer_ = JsonError(500, Name(ErrorCode::kInternal), "internal error");
  }
  if (!answer_ && !closed()) {
    (void)co_await answered_.async_wait(kAwait);
  }
  Enter(State::kResponding);  // an answer that comes now is too late
  if (answer_) co_return *std::exchange(answer_, std::nullopt);
  stopping_ = true;  // closes after this response
  co_return TryLater(503, kBusyRetry, "no answer in time");
}

asio::awaitable<bool> TcpSession::Send(Response response, bool close, bool head_only) {
  std::string date = HttpDate();
  Result<std::string> head = ResponseHead(response, {.close = close, .date = date});
  if (!head) {
    LogError("http server: a handler's response: {}", head.error().message);
    response = JsonError(500, Name(ErrorCode::kInternal), "internal error");
    head = ResponseHead(response, {.close = close, .date = std::move(date)});
  }
  std::string text = *std::move(head);
  std::string_view body = response.body;
  if (head_only || !HasBody(response.status)) body = {};
  // A short body goes out with its head in one TLS record.
  if (body.size() <= kReadBytes) text += std::exchange(body, {});
  const Deadline whole = steady_clock::now() + core_.options.whole_response_timeout;
  const auto arm = [&] {
    ArmUntil(std::min(whole, steady_clock::now() + core_.options.response_timeout));
  };
  arm();
  const Io head_written = co_await Write(asio::buffer(text));
  if (head_written.error) co_return false;
  while (!body.empty()) {
    const std::string_view part = body.substr(0, kWriteBytes);
    arm();
    const Io written = co_await Write(asio::buffer(part.data(), part.size()));
    if (written.error) co_return false;
    body.remove_prefix(part.size());
  }
  co_return true;
}

// Ends the connection in a way that lets the peer read the last response: closing a socket with
// unread bytes would reset it (RFC 9112 §9.6).
asio::awaitable<void> TcpSession::Linger() {
  Enter(State::kLingering);
  Arm(kLingerTimeout);
  if (core_.with_tls()) (void)co_await stream_.async_shutdown(kAwait);
  boost::system::error_code error;
  socket().shutdown(tcp::socket::shutdown_send, error);
  std::size_t drained = 0;
  while (!error && drained < kMaxDrainBytes) {
    const auto [read_error, size] = co_await socket().async_read_some(asio::buffer(chunk_), kAwait);
    error = read_error;
    drained += size;
  }
}

// The refusal of one request too many.
std::optional<Response> TcpSession::Charge() {
  if (request_number_ == 1 || core_.addresses.off()) return std::nullopt;
  std::optional<std::chrono::seconds> retry_after;
  {
    const std::lock_guard lock(core_.mutex);
    retry_after = core_.addresses.Request(from_, steady_clock::now());
  }
  if (!retry_after) return std::nullopt;
  ++core_.counters.over_address_limit;
  return TryLater(429, *retry_after, "too many requests from this address");
}

// True if another request may follow.
asio::awaitable<bool> TcpSession::ServeOne(const std::shared_ptr<Core>& core,
                                           const std::string& peer) {
  tl::expected<Head, Refusal> head = co_await ReceiveHead();
  if (closed() || (!head && head.error().status == 0)) {
    Close();
    co_return false;
  }
  if (++request_number_ == 1 && !core_.Heard(this)) {
    Close();
    co_return false;
  }
  Enter(State::kBody);
  std::optional<Response> refusal = Charge();
  if (!refusal && !head) {
    ++core_.counters.refused_heads;
    refusal = Refused(head.error());
  }
  if (refusal) {
    Enter(State::kResponding);
    (void)co_await Send(*std::move(refusal), true, false);
    co_return false;
  }
  Request request{.method = std::move(head->method),
                  .target = std::move(head->target),
                  .headers = std::move(head->headers),
                  .peer_address = peer};
  const bool received = co_await ReceiveBody(*head, request.body);
  if (!received || closed()) {
    Close();
    co_return false;
  }
  const bool head_only = request.method == "HEAD";
  Response response = co_await Handle(core, std::move(request));
  if (closed()) co_return false;
  const bool close = head->close || stopping_;
  const bool sent = co_await Send(std::move(response), close, head_only);
  if (!sent) {
    Close();
    co_return false;
  }
  co_return !close;
}

asio::awaitable<void> TcpSession::Run(std::shared_ptr<Core> core) {
  boost::system::error_code error;
  const tcp::endpoint peer = socket().remote_endpoint(error);
  if (error) co_return;
  socket().set_option(tcp::no_delay(true), error);
  if (core_.with_tls()) {
    const bool shaken = co_await Handshake();
    if (!shaken) co_return;
  }
  if (turned_away_) {
    Enter(State::kTurningAway);
    (void)co_await Send(*std::exchange(turned_away_, std::nullopt), true, false);
  } else {
    const std::string address = peer.address().to_string();
    bool more = true;
    while (more && !stopping_ && !closed()) more = co_await ServeOne(core, address);
  }
  if (!closed()) co_await Linger();
}

}  // namespace

Connections::Core::Core(ServerOptions server_options, Handler request_handler)
    : options(std::move(server_options)),
      handler(std::move(request_handler)),
      io(std::make_unique<asio::io_context>()),
      addresses({.max_connections = options.max_connections_per_address,
                 .requests_per_second = options.requests_per_second_per_address,
                 .request_burst = options.request_burst_per_address}) {}

Connections::Core::~Core() = default;

std::shared_ptr<Session> Session::Make(Connections::Core& core, UniqueFd accepted,
                                       const ClientNetwork& from, TurnedAway turned_away) {
  FIELDCOST_CHECK(core.tls.context != nullptr);
  try {
    tcp::socket socket(asio::make_strand(*core.io));
    socket.assign(tcp::v4(), accepted.get());  // only looked at to open one: this one is open
    accepted.Release();
    return std::make_shared<TcpSession>(core, std::move(socket), from, std::move(turned_away));
  } catch (const std::exception& error) {  // no memory: the accept loop must survive it
    LogError("http server: connection: {}", error.what());
    return nullptr;
  }
}

Result<TlsSettings> LoadTls(const ServerOptions& options) {
  TlsSettings tls{.context = std::make_shared<ssl::context>(ssl::context::tls_server)};
  if (options.certificate_file.empty()) return tls;
  FIELDCOST_TRY(ConfigureTlsServer(tls.context->native_handle()));
  FIELDCOST_ASSIGN(tls.validity,
                   UseCertificate(tls.context->native_handle(), options.certificate_file,
                                  options.private_key_file));
  return tls;
}

}  // namespace fieldcost::http
