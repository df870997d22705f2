// The text of /proc/PID/maps.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "agent/unwind/module_map.h"
#include "common/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fieldcost::unwind::ModuleMap map(1);
  fieldcost::unwind::AddMapsText(std::string_view(reinterpret_cast<const char*>(data), size), map);
  std::uint64_t end = 0;
  for (const fieldcost::unwind::Mapping& mapping : map.mappings()) {
    FIELDCOST_CHECK(mapping.start >= end && mapping.end > mapping.start);
    FIELDCOST_CHECK(map.Find(mapping.start) == &mapping && map.Find(mapping.end - 1) == &mapping);
    end = mapping.end;
  }
  return 0;
}
