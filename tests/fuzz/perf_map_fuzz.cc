// A /tmp/perf-PID.map.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "agent/symbols/perf_map.h"
#include "common/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace symbols = fieldcost::symbols;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const symbols::PerfMap map = symbols::PerfMap::Of(text);
  FIELDCOST_CHECK(map.functions() <= size);
  for (std::uint64_t address = 0; address < 1 << 13; ++address) {
    FIELDCOST_CHECK(map.Find(address).size() <= symbols::PerfMap::kMostNameBytes);
  }
  return 0;
}
