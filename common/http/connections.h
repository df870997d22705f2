#pragma once

#include <sys/socket.h>

#include <chrono>
#include <memory>
#include <optional>

#include "common/base/file.h"
#include "common/base/result.h"
#include "common/http/server.h"

namespace boost::asio {
class io_context;
}  // namespace boost::asio

namespace fieldcost::http {

// The server's connections: from an accepted socket to its end. Each is a coroutine on a strand of
// its own. The owner runs io() on its threads. Thread-safe.
class Connections {
 public:
  // Uses all of the options but `address`, `port` and `threads`.
  Connections(ServerOptions options, Handler handler);
  ~Connections();

  // Loads certificate and key, for the connections that come from now on. On an error nothing
  // changes; it is one to replace a valid certificate by one that is not. To be called before the
  // first Serve().
  Status LoadCertificate();
  // See Server. REQUIRES: LoadCertificate() has succeeded.
  std::optional<CertificateValidity> Validity() const;
  ServerCounters counters() const;
  boost::asio::io_context& io();

  // Takes over a connected, non-blocking TCP socket. Above max_connections it is answered 503,
  // above what its address may have 429; if too many are being answered so already, it is closed.
  void Serve(UniqueFd accepted, const sockaddr_storage& peer);

  // Each connection that is open now closes after the response it is at, or at once if it has none.
  void CloseWhenDone();

  // Ends connections that are idle, gives the others `grace` to finish, then ends them as well.
  // Returns when there are none left. REQUIRES: io() is running; no Serve() from now on.
  void Stop(std::chrono::milliseconds grace);

  struct Core;  // connections_core.h

 private:
  std::shared_ptr<Core> core_;
};

}  // namespace fieldcost::http
