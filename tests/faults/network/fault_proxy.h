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

// What one connection through the proxy suffers. It sees bytes, not requests: inside TLS it can
// neither read nor change them without being noticed.
struct Fault {
  enum class Kind {
    kNone,
    kLatency,     // every piece of either direction comes `delay` later
    kByteByByte,  // both directions in packets of one byte
    kReset,       // both ends get a reset once `after_bytes` of one direction were passed on
    kTruncate,    // the same with an orderly end
    kStall,       // the same, but the connection stays open and nothing moves any more
    kReplay,      // when the connection is over, the client's bytes are sent once more on a new one
  };
  Kind kind = Kind::kNone;
  bool on_answers = false;  // counts the server's bytes, not the client's
  std::size_t after_bytes = 0;
  std::chrono::milliseconds delay{0};
};

// A TCP proxy on a loopback port of its own in front of a server on another one, with one thread.
class FaultProxy {
 public:
  // `choose` gets the number of the connection (0, 1, ...) and runs on the proxy's thread.
  FaultProxy(std::uint16_t server_port, std::function<Fault(std::uint64_t)> choose);
  ~FaultProxy();
  FaultProxy(const FaultProxy&) = delete;
  FaultProxy& operator=(const FaultProxy&) = delete;

  std::uint16_t port() const { return listener_.port(); }

  // How often faults have happened.
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
    std::string pending;  // read, not sent yet
    std::size_t passed = 0;
    bool ended = false;      // the sender's end has been seen
    bool cut = false;        // the fault comes once `pending` is sent
    bool forwarded = false;  // the end has been passed on
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
    bool discarding = false;  // truncated: what comes now is thrown away
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
