#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "common/base/file.h"
#include "tests/common/http/raw_connection.h"

namespace fieldcost::testing {

// A proxy (CONNECT) on loopback for one connection. At one step of a request it holds the
// connection, with as little of it in its own hands as sockets allow, until it is told to go on.
class HoldingProxy {
 public:
  enum class Step {
    kTcpConnect,     // nobody accepts
    kConnectAnswer,  // accepted, and CONNECT is not answered
    kHandshake,      // the client's first bytes are not passed on
    kFirstByte,      // the handshake is over for the client, nothing of the request is passed on
    kMiddle,         // some of the request is passed on
    kAnswer,         // all of the request is, and the answer is not
  };

  explicit HoldingProxy(Step step);
  ~HoldingProxy();
  HoldingProxy(const HoldingProxy&) = delete;
  HoldingProxy& operator=(const HoldingProxy&) = delete;

  std::uint16_t port() const { return listener_.port(); }
  // Until the client is at the step; for kTcpConnect nobody can tell.
  void WaitUntilHeld();
  // Passes everything on, for the rest of the connection. Returns when one end has closed it; at
  // once if it never was one.
  void Release();

 private:
  void Run();
  // Waits for bytes of the client's (then true) or for Release().
  bool WaitForClient(int client);
  void Hold();
  void Pump(int client, int server);

  const Step step_;
  http::RawListener listener_;
  UniqueFd in_the_way_;  // fills the listener's queue
  UniqueFd release_;     // an event
  std::mutex mutex_;
  std::condition_variable changed_;
  bool held_ = false;
  std::thread thread_;
};

}  // namespace fieldcost::testing
