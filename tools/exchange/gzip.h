#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost::exchange {

// The contents of one or more gzip members (RFC 1952), concatenated; `members` receives their
// number. Like gzip, ignores zero bytes after the last one. Returns kTooLarge as soon as the
// content exceeds `max_decoded_bytes`, kCorrupt for anything else.
Result<std::string> Gunzip(std::string_view untrusted_bytes, std::size_t max_decoded_bytes,
                           std::size_t* members = nullptr);

// Returns one gzip member without name and time; equal bytes and zlib versions give equal results.
// kInternal if the library fails.
Result<std::string> Gzip(std::string_view bytes);

}  // namespace fieldcost::exchange
