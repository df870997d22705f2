// A module's file, from which a table of its call frame information is built.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "agent/unwind/cfi_table.h"
#include "common/base/check.h"
#include "common/base/read_at.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using fieldcost::unwind::CfiTable;
  const auto table = fieldcost::unwind::MakeCfiTable(
      fieldcost::ReaderOf(std::string_view(reinterpret_cast<const char*>(data), size)));
  if (!table) return 0;
  // No more than a file of this size can contain.
  constexpr std::size_t kMostBytesAByte = 64;
  constexpr std::size_t kFixed = 256 * 1024;
  FIELDCOST_CHECK(table->memory_bytes() <= kFixed + kMostBytesAByte * size);
  const std::uint64_t lowest = table->layout().lowest_address;
  for (std::uint64_t i = 0; i < 2 * size; ++i) {
    const CfiTable::Rule* const rule = table->Find(lowest + i);
    if (rule == nullptr) continue;
    FIELDCOST_CHECK(rule->cfa != CfiTable::Cfa::kNone);
    FIELDCOST_CHECK(rule->cfa_register < fieldcost::unwind::kRegisters);
    for (const CfiTable::Saved& saved : table->SavedOf(*rule)) {
      FIELDCOST_CHECK(saved.number < fieldcost::unwind::kRegisters);
    }
  }
  return 0;
}
