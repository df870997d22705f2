#include "common/http/connections.h"

#include <fmt/chrono.h>

#include <array>
#include <atomic>
#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>
#include <condition_variable>
#include <ctime>
#include <exception>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

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

constexpr std::size_t kReadBytes = 16 * 1024;
constexpr std::size_t kWriteBytes = 1024 * 1024;  // each such part has its own response_timeout
constexpr std::size_t kMaxRefusing = 64;          // connections above the cap that still get a 503
constexpr std::size_t kMaxDrainBytes = 4 * 1024 * 1024;  // thrown away after a refusal
constexpr milliseconds kLingerTimeout{2'000};
constexpr std::string_view kRetryAfterSeconds = "5";

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

Response Busy(std::string_view why) {
  Response response = JsonError(503, Name(ErrorCode::kUnavailable), why);
  response.headers.emplace_back("Retry-After", kRetryAfterSeconds);
  return response;
}

std::string HttpDate() {
  return fmt::format("{:%a, %d %b %Y %H:%M:%S} GMT", fmt::gmtime(std::time(nullptr)));
}

class Session;

}  // namespace

// Held by the owner and by every Respond that is still around.
struct Connections::Core {
  Core(ServerOptions server_options, Handler request_handler)
      : options(std::move(server_options)), handler(std::move(request_handler)) {}

  ServerOptions options;
  Handler handler;
  asio::io_context io;
  ssl::context tls{ssl::context::tls_server};

  std::mutex mutex;  // guards the rest
  std::condition_variable ended;
  std::unordered_map<Session*, std::shared_ptr<Session>> sessions;
  std::size_t serving = 0;  // sessions below the cap

  bool with_tls() const { return !options.certificate_file.empty(); }
};

namespace {

using Core = Connections::Core;

// One connection. All members are used on its strand only.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(Core& core, tcp::socket socket, bool over_cap)
      : core_(core),
        stream_(std::move(socket), core.tls),
        deadline_(stream_.get_executor()),
        answered_(stream_.get_executor()),
        over_cap_(over_cap) {}

  // `core` is handed on to the Respond functions.
  asio::awaitable<void> Run(std::shared_ptr<Core> core);
  // From any thread. Not by force: only if no request is in progress.
  void Stop(bool by_force) {
    asio::post(stream_.get_executor(), [self = shared_from_this(), by_force] {
      self->stopping_ = true;
      if (by_force || !self->busy_) self->Close();
    });
  }
  // From any thread.
  void Deliver(std::uint64_t request_number, Response response) {
    asio::dispatch(stream_.get_executor(), [self = shared_from_this(), request_number,
                                            response = std::move(response)]() mutable {
      if (request_number != self->request_number_ || self->answer_) return;
      self->answer_ = std::move(response);
      self->answered_.cancel();
    });
  }
  asio::any_io_executor executor() { return stream_.get_executor(); }
  bool over_cap() const { return over_cap_; }
  void Close();

 private:
  struct Io {
    boost::system::error_code error;
    std::size_t size = 0;
  };

  tcp::socket& socket() { return stream_.next_layer(); }
  void Arm(milliseconds timeout);
  asio::awaitable<Io> ReadSome();
  asio::awaitable<Io> Write(asio::const_buffer bytes);
  asio::awaitable<tl::expected<Head, Refusal>> ReceiveHead();
  asio::awaitable<bool> ReceiveBody(const Head& head, std::string& body);
  asio::awaitable<Response> Handle(const std::shared_ptr<Core>& core, Request request);
  asio::awaitable<bool> Send(Response response, bool close, bool head_only);
  asio::awaitable<void> Linger();

  Core& core_;
  ssl::stream<tcp::socket> stream_;  // without TLS only its next_layer() is used
  asio::steady_timer deadline_;      // closes the connection
  asio::steady_timer answered_;      // cancelled when answer_ has come
  const bool over_cap_;
  bool stopping_ = false;
  bool closed_ = false;
  bool busy_ = false;  // between a request's head and the end of its response
  std::uint64_t request_number_ = 0;
  std::optional<Response> answer_;
  std::string received_;  // not used up yet
  std::array<char, kReadBytes> chunk_;
};

// Behind the copies of one Respond. If all are gone and none was called, the request fails at once.
class Responder {
 public:
  Responder(std::shared_ptr<Core> core, std::weak_ptr<Session> session, std::uint64_t number)
      : core_(std::move(core)), session_(std::move(session)), number_(number) {}
  ~Responder() { Answer(Busy("the request was dropped")); }
  Responder(const Responder&) = delete;
  Responder& operator=(const Responder&) = delete;
  void Answer(Response response) {
    if (done_.exchange(true)) return;
    if (const std::shared_ptr<Session> session = session_.lock()) {
      session->Deliver(number_, std::move(response));
    }
  }

 private:
  std::shared_ptr<Core> core_;  // keeps the session's executor alive
  std::weak_ptr<Session> session_;
  std::uint64_t number_;
  std::atomic<bool> done_{false};
};

void Session::Close() {
  closed_ = true;
  boost::system::error_code ignored;
  socket().close(ignored);
  deadline_.cancel();
  answered_.cancel();
}

void Session::Arm(milliseconds timeout) {
  deadline_.expires_after(timeout);
  deadline_.async_wait([self = shared_from_this()](boost::system::error_code error) {
    // A wait that was already due when the timer was set anew is not the new deadline.
    if (!error && self->deadline_.expiry() <= steady_clock::now()) self->Close();
  });
}

asio::awaitable<Session::Io> Session::ReadSome() {
  const asio::mutable_buffer into = asio::buffer(chunk_);
  if (core_.with_tls()) {
    const auto [error, size] = co_await stream_.async_read_some(into, kAwait);
    co_return Io{error, size};
  }
  const auto [error, size] = co_await socket().async_read_some(into, kAwait);
  co_return Io{error, size};
}

asio::awaitable<Session::Io> Session::Write(asio::const_buffer bytes) {
  if (core_.with_tls()) {
    const auto [error, size] = co_await asio::async_write(stream_, bytes, kAwait);
    co_return Io{error, size};
  }
  const auto [error, size] = co_await asio::async_write(socket(), bytes, kAwait);
  co_return Io{error, size};
}

// A refusal with status 0 means: close without an answer.
asio::awaitable<tl::expected<Head, Refusal>> Session::ReceiveHead() {
  Arm(core_.options.header_timeout);
  HeadScan scan;
  for (;;) {
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

asio::awaitable<bool> Session::ReceiveBody(const Head& head, std::string& body) {
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

asio::awaitable<Response> Session::Handle(const std::shared_ptr<Core>& core, Request request) {
  ++request_number_;
  answer_.reset();
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
  if (!answer_ && !closed_) {
    (void)co_await answered_.async_wait(kAwait);
  }
  ++request_number_;  // an answer that comes now is too late
  if (answer_) co_return *std::exchange(answer_, std::nullopt);
  stopping_ = true;  // closes after this response
  co_return Busy("no answer in time");
}

asio::awaitable<bool> Session::Send(Response response, bool close, bool head_only) {
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
  Arm(core_.options.response_timeout);
  const Io head_written = co_await Write(asio::buffer(text));
  if (head_written.error) co_return false;
  while (!body.empty()) {
    const std::string_view part = body.substr(0, kWriteBytes);
    Arm(core_.options.response_timeout);
    const Io written = co_await Write(asio::buffer(part.data(), part.size()));
    if (written.error) co_return false;
    body.remove_prefix(part.size());
  }
  co_return true;
}

// Ends the connection in a way that lets the peer read the last response: closing a socket with
// unread bytes would reset it (RFC 9112 §9.6).
asio::awaitable<void> Session::Linger() {
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

asio::awaitable<void> Session::Run(std::shared_ptr<Core> core) {
  boost::system::error_code error;
  const tcp::endpoint peer = socket().remote_endpoint(error);
  if (error) co_return;
  socket().set_option(tcp::no_delay(true), error);
  if (core_.with_tls()) {
    Arm(core_.options.handshake_timeout);
    const auto [handshake_error] =
        co_await stream_.async_handshake(ssl::stream_base::server, kAwait);
    if (handshake_error) co_return;
  }
  if (over_cap_) {
    (void)co_await Send(Busy("too many connections"), true, false);
    co_await Linger();
    co_return;
  }
  while (!stopping_ && !closed_) {
    tl::expected<Head, Refusal> head = co_await ReceiveHead();
    if (closed_) co_return;
    busy_ = true;
    if (!head) {
      if (head.error().status == 0) co_return;
      (void)co_await Send(Refused(head.error()), true, false);
      break;
    }
    Request request{.method = std::move(head->method),
                    .target = std::move(head->target),
                    .headers = std::move(head->headers),
                    .peer_address = peer.address().to_string()};
    const bool received = co_await ReceiveBody(*head, request.body);
    if (!received || closed_) co_return;
    const bool head_only = request.method == "HEAD";
    Response response = co_await Handle(core, std::move(request));
    if (closed_) co_return;
    const bool close = head->close || stopping_;
    const bool sent = co_await Send(std::move(response), close, head_only);
    if (!sent) co_return;
    busy_ = false;
    if (close) break;
  }
  if (!closed_) co_await Linger();
}

}  // namespace

Connections::Connections(ServerOptions options, Handler handler)
    : core_(std::make_shared<Core>(std::move(options), std::move(handler))) {}

Connections::~Connections() = default;

Status Connections::Prepare() {
  if (!core_->with_tls()) return {};
  return ConfigureTlsServer(core_->tls.native_handle(), core_->options.certificate_file,
                            core_->options.private_key_file);
}

asio::io_context& Connections::io() { return core_->io; }

void Connections::Serve(UniqueFd accepted) {
  tcp::socket socket(asio::make_strand(core_->io));
  boost::system::error_code error;
  // The protocol is only looked at to open a socket, not for one that is open.
  socket.assign(tcp::v4(), accepted.get(), error);
  if (error) return;
  accepted.Release();
  std::shared_ptr<Session> session;
  {
    const std::lock_guard lock(core_->mutex);
    const bool over_cap = core_->serving >= core_->options.max_connections;
    if (over_cap && core_->sessions.size() - core_->serving >= kMaxRefusing) return;
    session = std::make_shared<Session>(*core_, std::move(socket), over_cap);
    core_->sessions.emplace(session.get(), session);
    if (!over_cap) ++core_->serving;
  }
  asio::co_spawn(session->executor(), session->Run(core_),
                 [session, core = core_.get()](std::exception_ptr failure) {
                   try {
                     if (failure) std::rethrow_exception(failure);
                   } catch (const std::exception& thrown) {
                     LogError("http server: connection: {}", thrown.what());
                   }
                   session->Close();
                   const std::lock_guard lock(core->mutex);
                   core->sessions.erase(session.get());
                   if (!session->over_cap()) --core->serving;
                   core->ended.notify_all();
                 });
}

void Connections::CloseWhenDone() {
  const std::lock_guard lock(core_->mutex);
  for (const auto& [raw, session] : core_->sessions) session->Stop(false);
}

void Connections::Stop(milliseconds grace) {
  Core& core = *core_;
  CloseWhenDone();
  std::unique_lock lock(core.mutex);
  if (core.ended.wait_for(lock, grace, [&] { return core.sessions.empty(); })) return;
  for (const auto& [raw, session] : core.sessions) session->Stop(true);
  core.ended.wait(lock, [&] { return core.sessions.empty(); });
}

}  // namespace fieldcost::http
