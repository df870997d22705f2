#include "common/http/http_server.h"

#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <exception>
#include <future>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/log.h"
#include "common/http/connections.h"

namespace fieldcost::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using std::chrono::milliseconds;

constexpr milliseconds kAcceptPause{100};  // after EMFILE and the like

// For connections that are not served (turned away, evicted, just accepted), and for the listener.
constexpr rlim_t kDoorDescriptors = 96;
constexpr rlim_t kMinConnections = 16;

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

Result<asio::ip::address> ParseAddress(const std::string& text) {
  boost::system::error_code error;
  const asio::ip::address address = asio::ip::make_address(text, error);
  if (!error) return address;
  return Fail(ErrorCode::kInvalidArgument, "listen on {}: not an IP address", text);
}

void Bind(tcp::acceptor& acceptor, const tcp::endpoint& endpoint,
          boost::system::error_code& error) {
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
}

Error CannotListen(const std::string& address, std::uint16_t port,
                   const boost::system::error_code& error) {
  const ErrorCode code = error == asio::error::address_in_use  ? ErrorCode::kAlreadyExists
                         : error == asio::error::access_denied ? ErrorCode::kPermissionDenied
                                                               : ErrorCode::kInvalidArgument;
  return Fail(code, "listen on {} port {}: {}", address, port, error.message());
}

}  // namespace

Result<std::uint16_t> CheckListen(const std::string& address, std::uint16_t port) {
  FIELDCOST_ASSIGN(const asio::ip::address parsed, ParseAddress(address));
  asio::io_context io;
  tcp::acceptor acceptor(io);
  boost::system::error_code error;
  Bind(acceptor, {parsed, port}, error);
  if (!error) port = acceptor.local_endpoint(error).port();
  if (error) return CannotListen(address, port, error);
  return port;
}

Status ReserveDescriptors(ServerOptions& options) {
  const rlim_t others = options.reserved_descriptors + kDoorDescriptors;
  const rlim_t wanted = options.max_connections + others;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return {};
  const rlim_t had = std::exchange(limit.rlim_cur, std::min(wanted, limit.rlim_max));
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = had;
  if (limit.rlim_cur >= wanted) return {};
  if (limit.rlim_cur < others + std::min<rlim_t>(kMinConnections, options.max_connections)) {
    return Fail(
        ErrorCode::kInvalidArgument,
        "only {} open files are allowed, but {} are needed for {} connections, and at least "
        "{}; allow more: LimitNOFILE= of the unit, or ulimit -n",
        limit.rlim_cur, wanted, options.max_connections, others + kMinConnections);
  }
  LogWarning(
      "http server: at most {} connections instead of {}, since only {} open files are allowed; "
      "LimitNOFILE= of the unit, or ulimit -n, allows more",
      limit.rlim_cur - others, options.max_connections, limit.rlim_cur);
  options.max_connections = limit.rlim_cur - others;
  return {};
}

struct Server::State {
  State(ServerOptions server_options, Handler handler)
      : options(server_options), connections(std::move(server_options), std::move(handler)) {}

  Status Listen();
  asio::awaitable<void> Accept();
  void RunThreads();

  ServerOptions options;
  Connections connections;
  tcp::acceptor acceptor{asio::make_strand(connections.io())};  // used on its strand only
  std::uint16_t port = 0;
  std::promise<void> accepting;  // fulfilled when Accept() has ended
  std::vector<std::thread> threads;
};

Status Server::State::Listen() {
  boost::system::error_code error;
  FIELDCOST_ASSIGN(const asio::ip::address address, ParseAddress(options.address));
  if (options.certificate_file.empty() && !address.is_loopback()) {
    return Fail(ErrorCode::kInvalidArgument,
                "listen on {}: without a certificate only a loopback address is allowed",
                options.address);
  }
  FIELDCOST_TRY(connections.LoadCertificate());
  Bind(acceptor, {address, options.port}, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (!error) acceptor.non_blocking(true, error);
  if (!error) port = acceptor.local_endpoint(error).port();
  if (!error) return {};
  return CannotListen(options.address, options.port, error);
}

// Ends when the acceptor is closed.
asio::awaitable<void> Server::State::Accept() {
  asio::steady_timer pause(acceptor.get_executor());
  bool failing = false;
  while (acceptor.is_open()) {
    (void)co_await acceptor.async_wait(tcp::acceptor::wait_read, kAwait);
    if (!acceptor.is_open()) break;
    sockaddr_storage peer{};
    socklen_t peer_size = sizeof peer;
    UniqueFd accepted(::accept4(acceptor.native_handle(), reinterpret_cast<sockaddr*>(&peer),
                                &peer_size, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (accepted.valid()) {
      failing = false;
      connections.Serve(std::move(accepted), peer);
    } else if (errno != ECONNABORTED && errno != EAGAIN && errno != EINTR) {
      // No descriptors or memory left: connections wait in the queue until there are some again.
      const int number = errno;
      if (!std::exchange(failing, true)) {
        LogError("http server: accept: {}", std::generic_category().message(number));
      }
      pause.expires_after(kAcceptPause);
      (void)co_await pause.async_wait(kAwait);
    }
  }
}

void Server::State::RunThreads() {
  asio::co_spawn(acceptor.get_executor(), Accept(), [this](const std::exception_ptr& failure) {
    try {
      if (failure) std::rethrow_exception(failure);
    } catch (const std::exception& error) {
      LogError("http server: no more connections are accepted: {}", error.what());
    }
    accepting.set_value();
  });
  for (unsigned i = 0; i < std::max(1u, options.threads); ++i) {
    threads.emplace_back([this] {
      const auto work = asio::make_work_guard(connections.io());
      for (;;) {
        try {
          connections.io().run();
          return;
        } catch (const std::exception& error) {
          LogError("http server: {}", error.what());
        }
      }
    });
  }
}

Result<std::unique_ptr<Server>> Server::Start(ServerOptions options, Handler handler) {
  try {
    FIELDCOST_TRY(ReserveDescriptors(options));
    auto state = std::make_unique<State>(std::move(options), std::move(handler));
    FIELDCOST_TRY(state->Listen());
    state->RunThreads();
    return std::unique_ptr<Server>(new Server(std::move(state)));
  } catch (const std::exception& error) {
    return Fail(ErrorCode::kInternal, "start the HTTP server: {}", error.what());
  }
}

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}

Server::~Server() { Stop(milliseconds(0)); }

std::uint16_t Server::port() const { return state_->port; }

Status Server::ReloadCertificate() {
  try {
    return state_->connections.LoadCertificate();
  } catch (const std::exception& error) {
    return Fail(ErrorCode::kInternal, "load the certificate: {}", error.what());
  }
}

std::optional<CertificateValidity> Server::certificate_validity() const {
  return state_->connections.Validity();
}

ServerCounters Server::counters() const { return state_->connections.counters(); }

void Server::Stop(milliseconds grace) {
  if (state_->threads.empty()) return;
  // Called before new clients are turned away: from then on, responses must contain "close".
  state_->connections.CloseWhenDone();
  asio::post(state_->acceptor.get_executor(), [state = state_.get()] {
    boost::system::error_code ignored;
    state->acceptor.close(ignored);
  });
  state_->accepting.get_future().wait();
  state_->connections.Stop(grace);
  state_->connections.io().stop();
  for (std::thread& thread : state_->threads) thread.join();
  state_->threads.clear();
}

}  // namespace fieldcost::http
