#pragma once

#include <string>
#include <string_view>

namespace fieldcost::crypto {

// SHA-256 (FIPS 180-4), 32 raw bytes.
std::string Sha256(std::string_view bytes);

// HMAC-SHA-256 (RFC 2104), 32 raw bytes: keyed hashes of agent identities.
std::string HmacSha256(std::string_view key, std::string_view bytes);

}  // namespace fieldcost::crypto
