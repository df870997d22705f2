#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost::probe_server {

// Passwords: libsodium's argon2id with 64 MiB and 2 passes, about 90 ms each. Thread-safe; callers
// limit how many run concurrently.

inline constexpr std::size_t kMinPasswordLetters = 12;
inline constexpr std::size_t kMaxPasswordBytes = 512;

// Checks whether a user may choose this password. kInvalidArgument. Pure.
Status CheckPassword(std::string_view untrusted_password);

// Returns the text to store: algorithm, costs, salt and hash. kUnavailable: out of memory.
Result<std::string> HashPassword(std::string_view password);

// Whether the password matches. Without a hash (no user has the name), takes the same time and
// returns false.
bool VerifyPassword(std::string_view stored_hash, std::string_view untrusted_password);

}  // namespace fieldcost::probe_server
