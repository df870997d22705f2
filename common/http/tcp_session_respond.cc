// The response part of TcpSession: from the handler to the peer.
#include <fmt/chrono.h>

#include <algorithm>
#include <ctime>
#include <exception>
#include <string_view>
#include <utility>

#include "common/base/log.h"
#include "common/http/message_text.h"
#include "common/http/tcp_session.h"

namespace fieldcost::http {
namespace {

namespace asio = boost::asio;
using std::chrono::steady_clock;

constexpr std::size_t kWriteBytes = 1024 * 1024;  // each such part has its own response_timeout

std::string HttpDate() {
  return fmt::format("{:%a, %d %b %Y %H:%M:%S} GMT", fmt::gmtime(std::time(nullptr)));
}

// Shared by all copies of a Respond. If all are destroyed without a call, the request fails.
class Responder {
 public:
  Responder(std::shared_ptr<Connections::Core> core, std::weak_ptr<TcpSession> session,
            std::uint64_t number)
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
  std::shared_ptr<Connections::Core> core_;  // keeps the session's executor alive
  std::weak_ptr<TcpSession> session_;
  std::uint64_t number_;
  std::atomic<bool> done_{false};
};

}  // namespace

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
  Enter(State::kResponding);  // a response that arrives now is too late
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

}  // namespace fieldcost::http
