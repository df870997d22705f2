#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "common/base/result.h"
#include "common/http/message.h"

namespace fieldcost::http {

struct ServerOptions {
  std::string address = "127.0.0.1";       // textual IP address
  std::uint16_t port = 0;                  // 0 = any free one, see Server::port()
  std::filesystem::path certificate_file;  // PEM chain; empty = plain HTTP, loopback address only
  std::filesystem::path private_key_file;  // PEM
  unsigned threads = 2;
  std::size_t max_body_bytes = 256 * 1024;
  std::size_t max_header_bytes = 16 * 1024;
  std::size_t max_connections = 1024;
  std::chrono::milliseconds handshake_timeout{10'000};
  std::chrono::milliseconds header_timeout{10'000};  // also the idle time of a kept connection
  std::chrono::milliseconds body_timeout{30'000};
  std::chrono::milliseconds response_timeout{30'000};
};

// Answers a request by calling `respond` once, from any thread, now or later. Must not throw and
// should not block for long: it runs on one of the server's threads.
using Respond = std::function<void(Response)>;
using Handler = std::function<void(Request request, Respond respond)>;

// Strict HTTP/1.1 server over TLS 1.3. Refuses itself (400/411/413/431/505, then closes) what Beast
// 1.81 lets pass: any Transfer-Encoding, anything but exactly one numeric Content-Length on POST,
// other than one Host, folded headers, bad targets. Each connection has its own strand and absolute
// deadlines for handshake, header, body and response; above max_connections new ones are answered
// 503 with Retry-After.
class Server {
 public:
  // Binds, listens and serves. kInvalidArgument: certificate, key or address unusable;
  // kAlreadyExists: the port is in use (message names address and port).
  static Result<std::unique_ptr<Server>> Start(ServerOptions options, Handler handler);

  // Stops as Stop(graceful = 0 ms) does.
  ~Server();

  std::uint16_t port() const;

  // Stops accepting, lets requests in progress finish for at most `grace`, closes all connections,
  // joins all threads. Idempotent; not from a handler.
  void Stop(std::chrono::milliseconds grace);

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fieldcost::http
