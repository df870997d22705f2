#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/base/result.h"
#include "common/http/certificate.h"
#include "common/http/http_message.h"

namespace fieldcost::http {

struct ServerOptions {
  std::string address = "127.0.0.1";       // textual IP address
  std::uint16_t port = 0;                  // 0 = any free port; see Server::port()
  std::filesystem::path certificate_file;  // PEM chain; empty = plain HTTP, loopback address only
  std::filesystem::path private_key_file;  // PEM
  unsigned threads = 2;
  std::size_t max_body_bytes = 256 * 1024;
  std::size_t max_header_bytes = 16 * 1024;
  std::size_t max_connections = 1024;
  std::size_t reserved_descriptors = 128;  // for everything in the process except connections
  // Per client address (IPv6: per /64); 0 = no limit. Above it: 429 with Retry-After a few times,
  // then new connections are closed before their TLS handshake.
  std::size_t max_connections_per_address = 0;
  // Requests per client address, as a token bucket; 0 = no limit. Above it: 429 with Retry-After. A
  // connection without any request counts as one request.
  double requests_per_second_per_address = 0;
  std::size_t request_burst_per_address = 0;  // 0 = requests per second, at least one
  // A handshake takes two round trips. Shorter than for a request, since staying silent costs
  // nothing.
  std::chrono::milliseconds handshake_timeout{5'000};
  std::chrono::milliseconds header_timeout{10'000};  // also the idle time of a kept connection
  std::chrono::milliseconds body_timeout{30'000};
  // Limits the time until the handler responds, and then the time for each MiB of the response ...
  std::chrono::milliseconds response_timeout{30'000};
  // ... while the client must receive the whole response within this time.
  std::chrono::milliseconds whole_response_timeout{600'000};
};

// Handles a request by calling `respond` once, from any thread, now or later. Must not throw and
// should not block for long, because it runs on one of the server's threads.
using Respond = std::function<void(Response)>;
using Handler = std::function<void(Request request, Respond respond)>;

// Counts of connections and refusals since the start.
struct ServerCounters {
  std::uint64_t connections = 0;         // accepted
  std::uint64_t open_connections = 0;    // at present
  std::uint64_t requests = 0;            // handed to the handler
  std::uint64_t handshake_failures = 0;  // except those that were too slow
  std::uint64_t refused_heads = 0;       // malformed, smuggling, too large
  std::uint64_t deadlines = 0;           // closed for being slow; excludes idle connections
  std::uint64_t over_capacity = 0;       // 503 or closed: the global limit
  std::uint64_t over_address_limit = 0;  // 429 or closed: connections or requests of one address
  std::uint64_t evicted = 0;             // closed while silent, to make room for a new connection
};

// Ensures that connections never use up the `reserved_descriptors`: raises the process's soft limit
// of open files as far as the hard limit allows, and lowers max_connections, with a warning, to
// what remains. kInvalidArgument: too few remain; the message states what to do.
Status ReserveDescriptors(ServerOptions& options);

// Whether a server could listen there now, and at which port (0 = any free one): binds the address
// and releases it without accepting. kAlreadyExists: in use; kInvalidArgument, kPermissionDenied:
// not available to this process.
Result<std::uint16_t> CheckListen(const std::string& address, std::uint16_t port);

// Strict HTTP/1.1 server over TLS 1.3. Refuses (400/411/413/431/505, then closes) requests that
// Beast 1.81 would accept: any Transfer-Encoding, anything but exactly one numeric Content-Length
// on POST, no or several Hosts, folded headers, invalid targets. Each connection has its own strand
// and absolute deadlines for handshake, header, body and response. Above max_connections a new one
// replaces the oldest that has not yet sent a complete request head; if all have sent one, it gets
// 503 with Retry-After.
class Server {
 public:
  // Binds, listens and serves, after ReserveDescriptors(). kInvalidArgument: certificate, key or
  // address unusable (expired certificates are used); kAlreadyExists: the port is in use; the
  // message names address and port.
  static Result<std::unique_ptr<Server>> Start(ServerOptions options, Handler handler);

  // Calls Stop() with 0 ms of grace.
  ~Server();

  std::uint16_t port() const;

  // Reloads certificate and key for new connections. On an error (as Start()'s, or the new ones are
  // not currently valid while the old ones are) the old ones stay in force. Does nothing without
  // TLS. Thread-safe.
  Status ReloadCertificate();
  // The validity of the certificate in force; nullopt without TLS. Thread-safe.
  std::optional<CertificateValidity> certificate_validity() const;

  // Thread-safe.
  ServerCounters counters() const;

  // Stops accepting, lets requests in progress finish for at most `grace`, closes all connections,
  // and joins all threads. Idempotent. Must not be called from a handler.
  void Stop(std::chrono::milliseconds grace);

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fieldcost::http
