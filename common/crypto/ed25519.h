#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost::crypto {

// Ed25519 (RFC 8032) over OpenSSL's EVP interface. Values; const operations are thread-safe.

struct PublicKey {
  std::array<std::uint8_t, 32> bytes{};
  auto operator<=>(const PublicKey&) const = default;

  std::string Hex() const;
  std::string_view view() const;  // the 32 raw bytes
};

// Reads 64 hex digits. kInvalidArgument otherwise.
Result<PublicKey> ParsePublicKey(std::string_view untrusted_hex);

// The seed is wiped from memory at the end.
class PrivateKey {
 public:
  PrivateKey(const PrivateKey&) = default;
  PrivateKey& operator=(const PrivateKey&) = default;
  ~PrivateKey();

  static PrivateKey Generate();
  // REQUIRES: seed.size() == 32 (RFC 8032 §5.1.5 secret).
  static PrivateKey FromSeed(std::string_view seed);

  // Reads a key file (64 hex digits, newline; mode must deny group and others), or creates one with
  // mode 0600 if missing. Several programs may do so at once: all get the same key.
  // kPermissionDenied: not readable, or readable by others; kCorrupt: not 64 hex digits; kNotFound:
  // its directory does not exist.
  static Result<PrivateKey> LoadOrCreate(const std::filesystem::path& path);

  const PublicKey& public_key() const { return public_key_; }
  std::string Sign(std::string_view message) const;  // 64 raw bytes

 private:
  PrivateKey() = default;
  std::array<std::uint8_t, 32> seed_{};
  PublicKey public_key_;
};

// True if `untrusted_signature` (64 raw bytes) is the key's signature of `message`.
bool Verify(const PublicKey& key, std::string_view message, std::string_view untrusted_signature);

}  // namespace fieldcost::crypto
