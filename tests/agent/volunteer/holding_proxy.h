#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "common/base/file.h"
#include "tests/common/http/raw_connection.h"

namespace fieldcost::testing {

// A proxy (CONNECT) on loopback for one connection. Holds the connection at one step of a request
// until Release(), and buffers as little of it as sockets allow.
class HoldingProxy {
 public:
  enum class Step {
    kTcpConnect,     // the connection is not accepted
    kConnectAnswer,  // accepted, but CONNECT gets no response
    kHandshake,      // the client's first bytes are not passed on
    kFirstByte,      // the client's handshake is complete, nothing of the request is passed on
    kMiddle,         // some of the request is passed on
    kAnswer,         // the request is passed on, the response is not
  };

  explicit HoldingProxy(Step step);
  ~HoldingProxy();
  HoldingProxy(const HoldingProxy&) = delete;
  HoldingProxy& operator=(const HoldingProxy&) = delete;

  std::uint16_t port() const { return listener_.port(); }
  // Waits until the client has reached the step; cannot detect kTcpConnect.
  void WaitUntilHeld();
  // Passes on the rest of the connection. Returns when one end has closed it, or immediately if
  // there was no connection.
  void Release();

 private:
  void Run();
  // Waits for bytes from the client (returns true) or for Release().
  bool WaitForClient(int client);
  void Hold();
  void Pump(int client, int server);

  const Step step_;
  http::RawListener listener_;
  UniqueFd in_the_way_;  // fills the listener's queue
  UniqueFd release_;     // an eventfd
  std::mutex mutex_;
  std::condition_variable changed_;
  bool held_ = false;
  std::thread thread_;
};

}  // namespace fieldcost::testing
