#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "common/base/file.h"
#include "common/http/address_limits.h"
#include "common/http/connections.h"
#include "common/http/http_message.h"

namespace boost::asio::ssl {
class context;
}  // namespace boost::asio::ssl

namespace fieldcost::http {

// The only response to a connection that is turned away; it is then closed. nullopt: served.
using TurnedAway = std::optional<Response>;

// One connection, from handshake to close. Thread-safe.
class Session {
 public:
  // Closes the socket and returns null if memory is exhausted. Keeps no reference to `tls`.
  static std::shared_ptr<Session> Make(Connections::Core& core, boost::asio::ssl::context& tls,
                                       UniqueFd accepted, const ClientNetwork& from,
                                       TurnedAway turned_away);
  virtual ~Session() = default;

  // Calls `ended` once, on a server thread, when the connection is closed. `core` is passed on to
  // the Respond functions.
  virtual void Start(std::shared_ptr<Connections::Core> core, std::function<void()> ended) = 0;
  // Closes the connection; unless forced, a request in progress gets its response first.
  virtual void Stop(bool by_force) = 0;
};

}  // namespace fieldcost::http
