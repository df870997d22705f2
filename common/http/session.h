#pragma once

// Private to connections.cc and session.cc.

#include <array>
#include <atomic>
#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <unordered_map>
#include <utility>

#include "common/http/address_limits.h"
#include "common/http/connections.h"
#include "common/http/strict_head.h"

namespace fieldcost::http {

class Session;

inline constexpr std::chrono::seconds kBusyRetry{5};

// An error that will pass: with Retry-After.
Response TryLater(int status, std::chrono::seconds when, std::string_view why);

// See ServerCounters.
struct DoorCounters {
  std::atomic<std::uint64_t> connections{0};
  std::atomic<std::uint64_t> requests{0};
  std::atomic<std::uint64_t> handshake_failures{0};
  std::atomic<std::uint64_t> refused_heads{0};
  std::atomic<std::uint64_t> deadlines{0};
  std::atomic<std::uint64_t> over_capacity{0};
  std::atomic<std::uint64_t> over_address_limit{0};
};

// Held by the owner and by every Respond that is still around.
struct Connections::Core {
  using TlsContext = boost::asio::ssl::context;

  Core(ServerOptions server_options, Handler request_handler)
      : options(std::move(server_options)),
        handler(std::move(request_handler)),
        addresses({.max_connections = options.max_connections_per_address,
                   .requests_per_second = options.requests_per_second_per_address,
                   .request_burst = options.request_burst_per_address}) {}

  const ServerOptions options;
  const Handler handler;
  boost::asio::io_context io;
  DoorCounters counters;

  mutable std::mutex mutex;  // guards the rest
  std::condition_variable ended;
  std::shared_ptr<TlsContext> tls;  // for new connections; older ones keep the settings they have
  std::unordered_map<Session*, std::shared_ptr<Session>> sessions;
  std::size_t serving = 0;  // sessions that are served, not turned away
  AddressLimits addresses;

  bool with_tls() const { return !options.certificate_file.empty(); }
};

// One connection. All members are used on its strand only.
class Session : public std::enable_shared_from_this<Session> {
 public:
  // A connection that is not served only gets this answer, and is closed.
  using TurnedAway = std::optional<Response>;

  Session(Connections::Core& core, boost::asio::ip::tcp::socket socket,
          Connections::Core::TlsContext& tls, const ClientNetwork& from, TurnedAway turned_away)
      : core_(core),
        stream_(std::move(socket), tls),
        deadline_(stream_.get_executor()),
        answered_(stream_.get_executor()),
        from_(from),
        served_(!turned_away),
        answer_(std::move(turned_away)) {}

  // `core` is handed on to the Respond functions.
  boost::asio::awaitable<void> Run(std::shared_ptr<Connections::Core> core);
  // From any thread. Not by force: only if no request is in progress.
  void Stop(bool by_force);
  // From any thread.
  void Deliver(std::uint64_t request_number, Response response);
  boost::asio::any_io_executor executor() { return stream_.get_executor(); }
  bool served() const { return served_; }
  const ClientNetwork& from() const { return from_; }
  void Close();

 private:
  using Deadline = std::chrono::steady_clock::time_point;
  struct Io {
    boost::system::error_code error;
    std::size_t size = 0;
  };

  boost::asio::ip::tcp::socket& socket() { return stream_.next_layer(); }
  void Arm(std::chrono::milliseconds timeout);
  void ArmUntil(Deadline deadline);
  boost::asio::awaitable<Io> ReadSome();
  boost::asio::awaitable<Io> Write(boost::asio::const_buffer bytes);
  boost::asio::awaitable<bool> Handshake();
  boost::asio::awaitable<tl::expected<Head, Refusal>> ReceiveHead();
  boost::asio::awaitable<bool> ReceiveBody(const Head& head, std::string& body);
  boost::asio::awaitable<bool> ServeOne(const std::shared_ptr<Connections::Core>& core,
                                        const std::string& peer);
  boost::asio::awaitable<Response> Handle(const std::shared_ptr<Connections::Core>& core,
                                          Request request);
  std::optional<Response> Charge();
  boost::asio::awaitable<bool> Send(Response response, bool close, bool head_only);
  boost::asio::awaitable<void> Linger();

  static constexpr std::size_t kReadBytes = 16 * 1024;

  Connections::Core& core_;
  // Without TLS only its next_layer() is used.
  boost::asio::ssl::stream<boost::asio::ip::tcp::socket> stream_;
  boost::asio::steady_timer deadline_;  // closes the connection
  boost::asio::steady_timer answered_;  // cancelled when answer_ has come
  const ClientNetwork from_;
  const bool served_;
  bool stopping_ = false;
  bool closed_ = false;
  bool busy_ = false;  // between a request's head and the end of its response
  bool owing_ = true;  // the peer owes us something: a deadline that passes is its fault
  bool first_ = true;  // no request yet
  std::uint64_t request_number_ = 0;
  std::optional<Response> answer_;
  std::string received_;  // not used up yet
  std::array<char, kReadBytes> chunk_;
};

}  // namespace fieldcost::http
