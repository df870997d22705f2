#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tests/common/http/raw_connection.h"

namespace fieldcost::faults {

// Like http::RawConnection, but inside TLS; trusts every server. Aborts the test program if the
// handshake fails.
class TlsConnection {
 public:
  explicit TlsConnection(std::uint16_t port, std::string_view source = "127.0.0.1");
  TlsConnection(TlsConnection&&) noexcept;
  TlsConnection& operator=(TlsConnection&&) noexcept;
  ~TlsConnection();
  // Sends `bytes` as one record unless they are too long for that. Returns false if the peer no
  // longer accepts data.
  bool Send(std::string_view bytes);
  // Signals that no more bytes will be sent.
  void FinishSending();
  // Returns everything until the peer closes or resets.
  std::string ReadToEnd();
  // Returns the next bytes, at most `max_bytes`; empty at the end.
  std::string ReadSome(std::size_t max_bytes);
  int fd() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fieldcost::faults
