#pragma once

#include <array>
#include <atomic>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "common/http/connections_core.h"
#include "common/http/http_session.h"
#include "common/http/strict_head.h"

namespace fieldcost::http {

// A Session over TCP, with or without TLS: one coroutine on its own strand; members are accessed
// only on that strand. Private to the sources of this class and the code that creates sessions.
class TcpSession final : public Session, public std::enable_shared_from_this<TcpSession> {
 public:
  using Core = Connections::Core;
  using Socket = boost::asio::ip::tcp::socket;
  template <typename Value>
  using Awaitable = boost::asio::awaitable<Value>;

  TcpSession(Core& core, boost::asio::ssl::context& tls, Socket socket, const ClientNetwork& from,
             TurnedAway turned_away);

  void Start(std::shared_ptr<Core> core, std::function<void()> ended) override;
  void Stop(bool by_force) override;
  // Accepts the handler's response to the request with that number; drops a late or repeated one.
  // May be called from any thread.
  void Deliver(std::uint64_t request_number, Response response);

 private:
  // Each state leads to the next one, with these exceptions: a connection that is turned away goes
  // from kHandshake to kTurningAway and kLingering; a kept one from kResponding to kIdle, or to
  // kHead if more data has arrived; and every state may lead to kClosed, which is final.
  enum class State {
    kHandshake,    // of TLS; without TLS, the initial state
    kTurningAway,  // the only response is being sent
    kFirstHead,    // the peer has not sent any request yet
    kIdle,         // between two requests
    kHead,         // part of a head has arrived
    kBody,         // the complete head has arrived
    kAnswering,    // the handler has the request
    kResponding,
    kLingering,  // everything is sent; the peer may still be reading
    kClosed,
  };
  // Whether the server waits for the peer: if a deadline passes, the peer caused it.
  static bool IsPeersTurn(State state);
  // Whether a request in progress is finished before the connection is closed, unless forced.
  static bool IsBusy(State state);

  using Deadline = std::chrono::steady_clock::time_point;
  struct Io {
    boost::system::error_code error;
    std::size_t size = 0;
  };
  static constexpr std::size_t kReadBytes = 16 * 1024;
  // Completions are values: (error) or (error, size).
  static constexpr auto kAwait = boost::asio::as_tuple(boost::asio::use_awaitable);

  Socket& socket() { return stream_.next_layer(); }
  bool closed() const { return state_ == State::kClosed; }
  // Never leaves kClosed.
  void Enter(State state) {
    if (!closed()) state_ = state;
  }
  void Close();
  void Arm(std::chrono::milliseconds timeout);
  void ArmUntil(Deadline deadline);

  // Goes through the states.
  Awaitable<void> Run(std::shared_ptr<Core> core);
  Awaitable<bool> Handshake();
  // Serves one request; returns true if another may follow.
  Awaitable<bool> ServeOne(const std::shared_ptr<Core>& core, const std::string& peer);
  // The refusal of this request before its body is read, if any.
  std::optional<Response> Refuse(const tl::expected<Head, Refusal>& head);
  // The refusal of a request above the address's limit.
  std::optional<Response> Charge();
  // Ends the connection in a way that lets the peer read the last response: closing a socket with
  // unread bytes would reset it (RFC 9112 §9.6).
  Awaitable<void> Linger();
  Awaitable<Io> ReadSome();
  Awaitable<Io> Write(boost::asio::const_buffer bytes);

  // Receives one request. A head refused with kCloseSilently gets no response.
  static constexpr int kCloseSilently = 0;
  Awaitable<tl::expected<Head, Refusal>> ReceiveHead();
  Awaitable<bool> ReceiveBody(const Head& head, std::string& body);

  // Waits for the handler's response and sends it (tcp_session_respond.cc).
  Awaitable<Response> Handle(const std::shared_ptr<Core>& core, Request request);
  Awaitable<bool> Send(Response response, bool close, bool head_only);

  Core& core_;
  boost::asio::ssl::stream<Socket> stream_;  // without TLS, only its next_layer() is used
  boost::asio::steady_timer deadline_;       // closes the connection
  boost::asio::steady_timer answered_;       // cancelled when answer_ is set
  const ClientNetwork from_;
  TurnedAway turned_away_;
  State state_ = State::kHandshake;
  bool stopping_ = false;             // closes after the current response
  std::uint64_t request_number_ = 0;  // of the last request head; 1 = the first
  std::optional<Response> answer_;    // the handler's response, in kAnswering
  std::string received_;              // not yet consumed
  // When the first byte of the current request was read.
  std::chrono::steady_clock::time_point first_byte_at_;
  std::array<char, kReadBytes> chunk_;
};

}  // namespace fieldcost::http
