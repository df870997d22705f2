#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/file.h"

namespace fieldcost::http {

// A TCP connection to a loopback port, for bytes that no decent client would send. Aborts the test
// program if the connection cannot be made, or if the peer is silent for half a minute.
class RawConnection {
 public:
  // From `source`, another of the loopback addresses.
  explicit RawConnection(std::uint16_t port, std::string_view source = "127.0.0.1");
  // Sends as much as the peer takes; a peer that has closed takes nothing.
  void Send(std::string_view bytes);
  // No more bytes will be sent.
  void FinishSending();
  // What comes until the peer closes or resets.
  std::string ReadToEnd();
  // What comes up to and with `end`; less if the peer closes before.
  std::string ReadUntil(std::string_view end);
  int fd() const { return fd_.get(); }

 private:
  bool ReadSome();
  UniqueFd fd_;
  std::string received_;
};

// A socket that listens on a loopback port of its own. Nobody accepts unless Accept() is called:
// connections are made, and then nothing happens on them.
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
