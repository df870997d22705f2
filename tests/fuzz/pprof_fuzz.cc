// Pprof profiles named by a user, with or without a gzip header.

#include <cstdint>
#include <string_view>

#include "common/base/check.h"
#include "common/wire/wire_limits.h"
#include "tests/tools/exchange/read_pprof.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fieldcost;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  static_cast<void>(exchange::ReadPprof(bytes, [](const auto& frames, std::uint64_t) -> Status {
    FIELDCOST_CHECK(frames.size() <= wire::kMaxStackFrames);
    return {};
  }));
  return 0;
}
