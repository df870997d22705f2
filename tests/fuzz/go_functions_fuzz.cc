// The function table in a Go program's file.

#include <cstddef>
#include <cstdint>
#include <span>

#include "agent/symbols/go_functions.h"
#include "common/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using fieldcost::symbols::GoFunctions;
  constexpr std::uint64_t kText = 0x401000;
  const std::span<const std::uint8_t> bytes(data, size);
  const auto functions = GoFunctions::Of(bytes, kText);
  if (!functions) return 0;
  FIELDCOST_CHECK(GoFunctions::Begins(bytes) && functions->functions() < size);
  for (std::uint64_t address = kText - 8; address < kText + 0x1000; address += 8) {
    FIELDCOST_CHECK(functions->Find(address).size() <= GoFunctions::kMostNameBytes);
  }
  FIELDCOST_CHECK(functions->Find(0).size() <= size);
  FIELDCOST_CHECK(functions->Find(UINT64_MAX).size() <= size);
  return 0;
}
