#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "common/base/file.h"
#include "common/http/address_limits.h"
#include "common/http/connections.h"
#include "common/http/message.h"

namespace fieldcost::http {

// A connection that is not served only gets this answer, and is closed.
using TurnedAway = std::optional<Response>;

// One connection, from its handshake to its end. Thread-safe.
class Session {
 public:
  // Nothing, and the socket is closed, if there is no memory for it. REQUIRES: core.mutex is held,
  // core.tls is set.
  static std::shared_ptr<Session> Make(Connections::Core& core, UniqueFd accepted,
                                       const ClientNetwork& from, TurnedAway turned_away);
  virtual ~Session() = default;

  // Calls `ended` once, when the connection is closed, from a thread of the server. `core` is
  // handed on to the Respond functions.
  virtual void Start(std::shared_ptr<Connections::Core> core, std::function<void()> ended) = 0;
  // Closes it; not by force: only if no request is in progress, else after its response.
  virtual void Stop(bool by_force) = 0;
};

}  // namespace fieldcost::http
