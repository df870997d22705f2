#include "aggregator/probe_server/accounts/password.h"

#include <sodium.h>

#include <algorithm>
#include <array>

#include "common/base/check.h"
#include "common/crypto/random.h"

namespace fieldcost::probe_server {
namespace {

constexpr unsigned long long kPasses = 2;
constexpr std::size_t kMemoryBytes = std::size_t{64} << 20;

void InitialiseSodium() {
  static const bool ready = ::sodium_init() >= 0;
  FIELDCOST_CHECK(ready);
}

// A valid hash that matches no user's password.
const std::string& NobodysHash() {
  static const std::string hash = HashPassword(crypto::RandomBytes(32)).value_or("");
  return hash;
}

}  // namespace

Status CheckPassword(std::string_view untrusted_password) {
  const auto letters =
      std::count_if(untrusted_password.begin(), untrusted_password.end(),
                    [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
  if (static_cast<std::size_t>(letters) < kMinPasswordLetters ||
      untrusted_password.size() > kMaxPasswordBytes) {
    return Fail(ErrorCode::kInvalidArgument,
                "password: expected at least {} characters and at most {} bytes",
                kMinPasswordLetters, kMaxPasswordBytes);
  }
  return {};
}

Result<std::string> HashPassword(std::string_view password) {
  InitialiseSodium();
  std::array<char, crypto_pwhash_STRBYTES> hash{};
  if (::crypto_pwhash_str_alg(hash.data(), password.data(), password.size(), kPasses, kMemoryBytes,
                              crypto_pwhash_ALG_ARGON2ID13) != 0) {
    return Fail(ErrorCode::kUnavailable, "hash a password: out of memory, {} MiB are needed",
                kMemoryBytes >> 20);
  }
  return std::string(hash.data());
}

bool VerifyPassword(std::string_view stored_hash, std::string_view untrusted_password) {
  InitialiseSodium();
  const std::string hash(stored_hash.empty() ? std::string_view(NobodysHash()) : stored_hash);
  const bool is_it = ::crypto_pwhash_str_verify(hash.c_str(), untrusted_password.data(),
                                                untrusted_password.size()) == 0;
  return is_it && !stored_hash.empty();
}

}  // namespace fieldcost::probe_server
