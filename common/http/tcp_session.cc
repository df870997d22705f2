#include "common/http/tcp_session.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/write.hpp>
#include <exception>
#include <mutex>
#include <string_view>
#include <utility>

#include "common/base/check.h"
#include "common/base/log.h"

namespace fieldcost::http {
namespace {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
using asio::ip::tcp;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t kMaxDrainBytes = 4 * 1024 * 1024;  // discarded after a refusal
constexpr milliseconds kLingerTimeout{2'000};

Response Refused(const Refusal& refusal) {
  Response response =
      JsonError(refusal.status,
                Name(refusal.status == 413 || refusal.status == 431 ? ErrorCode::kTooLarge
                                                                    : ErrorCode::kInvalidArgument),
                refusal.reason);
  if (refusal.status == 405) response.headers.emplace_back("Allow", "GET, HEAD, POST");
  return response;
}

}  // namespace

TcpSession::TcpSession(Core& core, asio::ssl::context& tls, tcp::socket socket,
                       const ClientNetwork& from, TurnedAway turned_away)
    : core_(core),
      stream_(std::move(socket), tls),
      deadline_(stream_.get_executor()),
      answered_(stream_.get_executor()),
      from_(from),
      turned_away_(std::move(turned_away)) {}

bool TcpSession::IsPeersTurn(State state) {
  return state != State::kIdle && state != State::kAnswering && state != State::kLingering &&
         state != State::kClosed;
}

bool TcpSession::IsBusy(State state) {
  return state == State::kBody || state == State::kAnswering || state == State::kResponding ||
         state == State::kLingering;
}

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
    // A wait that was already due when the timer was reset does not belong to the new deadline.
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

asio::awaitable<tl::expected<Head, Refusal>> TcpSession::ReceiveHead() {
  Arm(core_.options.header_timeout);
  HeadScan scan;
  bool has_begun = !received_.empty();
  if (has_begun) first_byte_at_ = steady_clock::now();
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
    if (read.error) co_return tl::unexpected(Refusal{kCloseSilently, ""});
    if (!std::exchange(has_begun, true)) first_byte_at_ = steady_clock::now();
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

std::optional<Response> TcpSession::Charge() {
  if (request_number_ == 1 || !core_.limits_addresses) return std::nullopt;
  std::optional<std::chrono::seconds> retry_after;
  {
    const MutexLock lock(core_.mutex);
    retry_after = core_.addresses.Request(from_, steady_clock::now());
  }
  if (!retry_after) return std::nullopt;
  ++core_.counters.over_address_limit;
  return TryLater(429, *retry_after, "too many requests from this address");
}

std::optional<Response> TcpSession::Refuse(const tl::expected<Head, Refusal>& head) {
  std::optional<Response> refusal = Charge();
  if (!refusal && !head) {
    ++core_.counters.refused_heads;
    refusal = Refused(head.error());
  }
  return refusal;
}

asio::awaitable<bool> TcpSession::ServeOne(const std::shared_ptr<Core>& core,
                                           const std::string& peer) {
  // Receives the head, unless the connection ends first or its place is given to another.
  tl::expected<Head, Refusal> head = co_await ReceiveHead();
  const bool is_gone = closed() || (!head && head.error().status == kCloseSilently);
  if (is_gone || (++request_number_ == 1 && !core_.Heard(this))) {
    Close();
    co_return false;
  }
  Enter(State::kBody);
  std::optional<Response> refusal = Refuse(head);
  if (refusal) {
    Enter(State::kResponding);
    (void)co_await Send(*std::move(refusal), true, false);
    co_return false;
  }
  // Receives the body.
  Request request{.method = std::move(head->method),
                  .target = std::move(head->target),
                  .headers = std::move(head->headers),
                  .peer_address = peer,
                  .first_byte_at = first_byte_at_};
  const bool received = co_await ReceiveBody(*head, request.body);
  if (!received || closed()) {
    Close();
    co_return false;
  }
  // Responds.
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

std::shared_ptr<Session> Session::Make(Connections::Core& core, asio::ssl::context& tls,
                                       UniqueFd accepted, const ClientNetwork& from,
                                       TurnedAway turned_away) {
  try {
    tcp::socket socket(asio::make_strand(*core.io));
    socket.assign(tcp::v4(), accepted.get());  // used only to open a socket; this one is open
    accepted.Release();
    return std::make_shared<TcpSession>(core, tls, std::move(socket), from, std::move(turned_away));
  } catch (const std::exception& error) {  // out of memory: the accept loop must survive it
    LogError("http server: connection: {}", error.what());
    return nullptr;
  }
}

}  // namespace fieldcost::http
