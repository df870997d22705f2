#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost::probe_server {

// Passwords: argon2id of libsodium, 64 MiB and 2 passes, about 90 ms each. Thread-safe; callers
// limit how many run at once.

inline constexpr std::size_t kMinPasswordLetters = 12;
inline constexpr std::size_t kMaxPasswordBytes = 512;

// Whether somebody may choose it. kInvalidArgument. Pure.
Status CheckPassword(std::string_view untrusted_password);

// What is stored: algorithm, costs, salt and hash as text. kUnavailable: no memory.
Result<std::string> HashPassword(std::string_view password);

// Whether it is the password. Without a hash (nobody of that name) it takes the same time, and the
// answer is no.
bool VerifyPassword(std::string_view stored_hash, std::string_view untrusted_password);

}  // namespace fieldcost::probe_server
