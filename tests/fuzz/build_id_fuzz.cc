// A library's file, from which the agent reads the build id.

#include "common/base/build_id.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/check.h"
#include "common/base/read_at.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kMaxHexDigits = 64;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string id = fieldcost::BuildIdIn(fieldcost::ReaderOf(bytes));
  FIELDCOST_CHECK(id.size() <= kMaxHexDigits && id.size() % 2 == 0);
  FIELDCOST_CHECK(id.find_first_not_of("0123456789abcdef") == std::string::npos);
  return 0;
}
