#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tests/common/http/raw_connection.h"

namespace fieldcost::faults {

// As http::RawConnection, inside TLS; trusts every server. Aborts the test program if the handshake
// fails.
class TlsConnection {
 public:
  explicit TlsConnection(std::uint16_t port, std::string_view source = "127.0.0.1");
  TlsConnection(TlsConnection&&) noexcept;
  TlsConnection& operator=(TlsConnection&&) noexcept;
  ~TlsConnection();
  // As one record of its own, if it is not longer than one may be. False: the peer takes no more.
  bool Send(std::string_view bytes);
  // No more bytes will be sent.
  void FinishSending();
  // What comes until the peer closes or resets.
  std::string ReadToEnd();
  // What comes next, at most so much; nothing at the end.
  std::string ReadSome(std::size_t max_bytes);
  int fd() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fieldcost::faults
