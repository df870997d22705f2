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
#include "common/http/http_message.h"

namespace fieldcost::http {

struct ClientOptions {
  // "https://host[:port]"; or "http://address[:port]" with a loopback address (127.0.0.0/8, [::1]),
  // which is reached without TLS and without a proxy.
  std::string url;
  std::filesystem::path ca_file;                      // PEM; empty = the system's trust store
  std::chrono::milliseconds connect_timeout{10'000};  // name look-up, connect and TLS handshake
  std::chrono::milliseconds request_timeout{60'000};  // from first byte sent to last received
  std::size_t max_response_bytes = 16 * 1024 * 1024;  // headers at most 16 KiB
  std::string proxy_url;                              // "http://host:port" (CONNECT); empty = none
  // Called before connecting, before each piece of a request (its last byte is a separate piece),
  // and ten times per second while waiting. An error aborts the request, and nothing of it leaves
  // the machine afterwards: data that the kernel has not yet sent is dropped. If the whole request
  // has been sent, Send() still waits for the response for `answer_after_stop`. Null = never
  // called.
  std::function<Status()> may_go_on;
  std::chrono::milliseconds answer_after_stop{3'000};
};

// HTTPS client for one server: HTTP/1.1 over TLS 1.3. Keeps its connection between requests, and
// reconnects once if the kept connection turns out to be closed before any response (all of our
// requests are safe to repeat). Not thread-safe.
class Client {
 public:
  static constexpr std::uint64_t kNoBodyLimit = UINT64_MAX;

  // kInvalidArgument for an invalid URL or an unreadable CA file; the message names it.
  static Result<Client> Create(ClientOptions options);
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  ~Client();

  // Any HTTP status is a success here. kUnavailable: cannot connect (what, where, why);
  // kUnauthenticated: the server's certificate was not accepted; kDeadlineExceeded; kTooLarge;
  // kCorrupt: the response is not HTTP; or the error of may_go_on. A successful response (2xx) is
  // cut off (kTooLarge) at `max_body_bytes`, if that is less than max_response_bytes.
  Result<Response> Send(const Request& request, std::uint64_t max_body_bytes = kNoBodyLimit);

  // The response to the last Send() if that failed in the middle of a successful response (2xx):
  // the connection was closed, the deadline passed, or may_go_on stopped it. Its body has the first
  // bytes; the rest can be requested with Range.
  const std::optional<Response>& incomplete() const;

  // Whether the last byte of the last Send()'s request was sent. If not, no server has received the
  // complete request.
  bool has_sent_all() const;

  // The server as its certificate names it: a lower-case host name, or an address in its shortest
  // form, without brackets.
  const std::string& server_name() const;
  // "https://host:port" (or "http://") as connected to.
  const std::string& origin() const;

 private:
  struct State;
  explicit Client(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fieldcost::http
