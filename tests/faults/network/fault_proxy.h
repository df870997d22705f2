#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <thread>

#include "common/base/file.h"
#include "tests/common/http/raw_connection.h"

namespace fieldcost::faults {

// The fault injected into one connection through the proxy. The proxy sees bytes, not requests:
// inside TLS it cannot read them, or change them unnoticed.
struct Fault {
  enum class Kind {
    kNone,
    kLatency,     // every piece of either direction arrives `delay` later
    kByteByByte,  // both directions in packets of one byte
    kReset,       // resets both ends after passing `after_bytes` in one direction
    kTruncate,    // the same with an orderly shutdown
    kStall,       // the same, but the connection stays open and nothing moves any more
    kReplay,      // after the connection has ended, sends the client's bytes again on a new one
  };
  Kind kind = Kind::kNone;
  bool on_answers = false;  // count the server's bytes, not the client's
  std::size_t after_bytes = 0;
  std::chrono::milliseconds delay{0};
};

// A single-threaded TCP proxy on its own loopback port, in front of a server on another one.
class FaultProxy {
 public:
  // `choose` receives the connection's number (0, 1, ...) and runs on the proxy's thread.
  FaultProxy(std::uint16_t server_port, std::function<Fault(std::uint64_t)> choose);
  ~FaultProxy();
  FaultProxy(const FaultProxy&) = delete;
  FaultProxy& operator=(const FaultProxy&) = delete;

  std::uint16_t port() const { return listener_.port(); }

  // How often each fault was injected.
  struct Counters {
    std::atomic<unsigned> connections{0};
    std::atomic<unsigned> delays{0};
    std::atomic<unsigned> single_bytes{0};
    std::atomic<unsigned> resets{0};
    std::atomic<unsigned> truncations{0};
    std::atomic<unsigned> stalls{0};
    std::atomic<unsigned> replays{0};
  };
  const Counters& counters() const { return counters_; }

 private:
  using SteadyClock = std::chrono::steady_clock;
  struct Direction {
    std::string pending;  // read but not yet sent
    std::size_t passed = 0;
    bool ended = false;      // the sender has ended its side
    bool cut = false;        // inject the fault once `pending` is sent
    bool forwarded = false;  // the end was passed on
    SteadyClock::time_point send_at{};
  };
  struct Link {
    UniqueFd client;
    UniqueFd server;
    Fault fault;
    Direction up;    // from the client
    Direction down;  // from the server
    std::string captured;
    bool stalled = false;
    bool discarding = false;  // truncated: discard further data
    bool over = false;
  };

  void Run();
  void Accept();
  void Receive(Link& link, bool from_server);
  void Send(Link& link, bool from_server);
  void Strike(Link& link);
  void Replay(const std::string& captured);

  const std::uint16_t server_port_;
  const std::function<Fault(std::uint64_t)> choose_;
  http::RawListener listener_;
  UniqueFd stop_read_;
  UniqueFd stop_write_;
  std::list<Link> links_;
  Counters counters_;
  std::thread thread_;
};

}  // namespace fieldcost::faults
