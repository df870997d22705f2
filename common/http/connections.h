#pragma once

#include <sys/socket.h>

#include <chrono>
#include <memory>
#include <optional>

#include "common/base/file.h"
#include "common/base/result.h"
#include "common/http/http_server.h"

namespace boost::asio {
class io_context;
}  // namespace boost::asio

namespace fieldcost::http {

// The server's connections, from accepted socket to close. Each is a coroutine on its own strand.
// The owner runs io() on its threads. Thread-safe.
class Connections {
 public:
  // Uses all options except `address`, `port` and `threads`.
  Connections(ServerOptions options, Handler handler);
  ~Connections();

  // Loads certificate and key for new connections. On an error nothing changes; replacing a valid
  // certificate by an invalid one is an error. Must be called before the first Serve().
  Status LoadCertificate();
  // See Server. REQUIRES: LoadCertificate() has succeeded.
  std::optional<CertificateValidity> Validity() const;
  ServerCounters counters() const;
  boost::asio::io_context& io();

  // Takes ownership of a connected, non-blocking TCP socket. Above max_connections it gets 503,
  // above its address's limits 429; if too many connections are being refused already, it is
  // closed.
  void Serve(UniqueFd accepted, const sockaddr_storage& peer);

  // Closes each open connection after its current response, or immediately without one.
  void CloseWhenDone();

  // Closes idle connections, gives the others `grace` to finish, then closes them, too. Returns
  // when all are closed. REQUIRES: io() is running; Serve() is not called any more.
  void Stop(std::chrono::milliseconds grace);

  struct Core;  // connections_core.h

 private:
  std::shared_ptr<Core> core_;
};

}  // namespace fieldcost::http
