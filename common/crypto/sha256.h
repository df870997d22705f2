#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace fieldcost::crypto {

inline constexpr std::size_t kSha256Bytes = 32;

// SHA-256 (FIPS 180-4), kSha256Bytes raw bytes.
std::string Sha256(std::string_view bytes);
// The same as 64 lower-case hexadecimal digits.
std::string HexSha256(std::string_view bytes);

// SHA-256 computed incrementally. Movable; use from one thread at a time.
class Sha256Stream {
 public:
  Sha256Stream();
  ~Sha256Stream();
  Sha256Stream(Sha256Stream&&) noexcept;
  Sha256Stream& operator=(Sha256Stream&&) noexcept;

  void Update(std::string_view bytes);
  // The hash of everything added, 32 raw bytes. REQUIRES: no other call follows.
  std::string Finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// HMAC-SHA-256 (RFC 2104), 32 raw bytes: keyed hashes of agent identities.
std::string HmacSha256(std::string_view key, std::string_view bytes);

}  // namespace fieldcost::crypto
