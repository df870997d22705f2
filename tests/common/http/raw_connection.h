#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/file.h"

namespace fieldcost::http {

// A TCP connection to a loopback port, for bytes that no proper client would send. Aborts the test
// program if it cannot connect, or if the peer is silent for half a minute.
class RawConnection {
 public:
  // Connects from `source`, another loopback address.
  explicit RawConnection(std::uint16_t port, std::string_view source = "127.0.0.1");
  // Sends as much as the peer accepts; nothing if the peer has closed.
  void Send(std::string_view bytes);
  // Closes the sending direction.
  void FinishSending();
  // Returns everything received until the peer closes or resets the connection.
  std::string ReadToEnd();
  // Returns everything received up to and including `end`; less if the peer closes before.
  std::string ReadUntil(std::string_view end);
  int fd() const { return fd_.get(); }

 private:
  bool ReadSome();
  UniqueFd fd_;
  std::string received_;
};

// A socket that listens on its own loopback port. The kernel completes connections, but they are
// idle until Accept() is called.
class RawListener {
 public:
  RawListener();
  std::uint16_t port() const { return port_; }
  UniqueFd Accept();
  int fd() const { return fd_.get(); }

 private:
  UniqueFd fd_;
  std::uint16_t port_ = 0;
};

}  // namespace fieldcost::http
