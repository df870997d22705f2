#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace fieldcost::crypto {

// SipHash-2-4 with 64 bits (Aumasson, Bernstein 2012): a short keyed hash for very many short
// texts, far faster than HMAC-SHA-256. For tables in which attackers must not be able to look up
// texts or provoke collisions. 64 bits are too few for authentication. Movable; use from one thread
// at a time.
class SipHash {
 public:
  // REQUIRES, also for SetKey(): the key has 16 bytes.
  explicit SipHash(std::string_view key);
  ~SipHash();
  SipHash(SipHash&&) noexcept;
  SipHash& operator=(SipHash&&) noexcept;

  void SetKey(std::string_view key);
  // The eight bytes of the result as a little-endian number.
  std::uint64_t operator()(std::string_view bytes);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fieldcost::crypto
