// A library's file as the agent looks at it to see which build it is.

#include "agent/harvest/build_id.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "common/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kMaxHexDigits = 64;
  const std::string id = fieldcost::agent::BuildIdIn(
      [&](std::uint64_t offset, void* to, std::size_t wanted) -> std::size_t {
        if (offset >= size) return 0;
        const std::size_t got = std::min<std::size_t>(wanted, size - offset);
        std::memcpy(to, data + offset, got);
        return got;
      });
  FIELDCOST_CHECK(id.size() <= kMaxHexDigits && id.size() % 2 == 0);
  FIELDCOST_CHECK(id.find_first_not_of("0123456789abcdef") == std::string::npos);
  return 0;
}
