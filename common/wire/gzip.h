#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost::wire {

// The content of exactly one gzip member (RFC 1952). kTooLarge as soon as there is more of it than
// `max_decoded_bytes`; kCorrupt for anything else, also behind the member.
Result<std::string> Gunzip(std::string_view untrusted_bytes, std::size_t max_decoded_bytes);

// One gzip member without a name or time: the same for the same bytes and version of zlib.
// kInternal if the library fails.
Result<std::string> Gzip(std::string_view bytes);

}  // namespace fieldcost::wire
