// A module's code, followed to its return.

#include <cstddef>
#include <cstdint>

#include "agent/unwind/return_path.h"
#include "common/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace unwind = fieldcost::unwind;
  constexpr std::uint64_t kAddress = 0x1000;
  unwind::Code code{.address = kAddress, .bytes = {data, data + size}};
  for (std::uint64_t i = 0; i < size && i < 64; ++i) {
    unwind::IsAfterCall(code, kAddress + i);
    code.is_go = i % 4 >= 2;
    const auto path = unwind::FindReturnPath(code, kAddress + i, i % 2 == 1);
    if (!path) continue;
    const unwind::StackPlace place = path->return_address;
    FIELDCOST_CHECK(place.base == unwind::kRsp || place.base == unwind::kRbp);
    FIELDCOST_CHECK(place.base != unwind::kRsp || place.offset >= 0);
  }
  return 0;
}
