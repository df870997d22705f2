#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "common/base/mutex.h"
#include "common/http/address_limits.h"
#include "common/http/certificate.h"
#include "common/http/connections.h"

namespace boost::asio::ssl {
class context;
}  // namespace boost::asio::ssl

namespace fieldcost::http {

class Session;

// See ServerCounters.
struct DoorCounters {
  std::atomic<std::uint64_t> connections{0};
  std::atomic<std::uint64_t> requests{0};
  std::atomic<std::uint64_t> handshake_failures{0};
  std::atomic<std::uint64_t> refused_heads{0};
  std::atomic<std::uint64_t> deadlines{0};
  std::atomic<std::uint64_t> over_capacity{0};
  std::atomic<std::uint64_t> over_address_limit{0};
  std::atomic<std::uint64_t> evicted{0};
};

struct TlsSettings {
  std::shared_ptr<boost::asio::ssl::context> context;
  std::optional<CertificateValidity> validity;  // nullopt without TLS
};

// State shared by all connections of a server. Owned jointly by the server's owner and every
// remaining Respond.
struct Connections::Core {
  Core(ServerOptions server_options, Handler request_handler);
  ~Core();

  const ServerOptions options;
  const Handler handler;
  const std::unique_ptr<boost::asio::io_context> io;
  DoorCounters counters;

  mutable Mutex mutex;
  CondVar ended;
  // For new connections; older ones keep the settings they have.
  TlsSettings tls FIELDCOST_GUARDED_BY(mutex);
  struct Entry {
    std::shared_ptr<Session> session;
    ClientNetwork from;
    bool has_place = false;  // served; neither turned away nor evicted
    std::optional<std::list<Session*>::iterator> silent;
  };
  std::unordered_map<Session*, Entry> sessions FIELDCOST_GUARDED_BY(mutex);
  // With a place, but no request yet; oldest first.
  std::list<Session*> silent FIELDCOST_GUARDED_BY(mutex);
  std::size_t serving FIELDCOST_GUARDED_BY(mutex) = 0;  // sessions that have a place
  AddressLimits addresses FIELDCOST_GUARDED_BY(mutex);
  const bool limits_addresses;

  // Called when a session has received a complete request head. Returns false if its place was
  // given to another connection: it must then end without a response.
  bool Heard(Session* session) FIELDCOST_EXCLUDES(mutex);

  bool with_tls() const { return !options.certificate_file.empty(); }
};

// Loads the certificate and key named by the options; without TLS an empty context.
Result<TlsSettings> LoadTls(const ServerOptions& options);

inline constexpr std::chrono::seconds kBusyRetry{5};

// The response for a temporary error, with Retry-After.
Response TryLater(int status, std::chrono::seconds when, std::string_view why);

}  // namespace fieldcost::http
