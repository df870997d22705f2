// A program's or library's file, from which the agent determines whether the program, and which of
// its calls, can be measured, and which functions the library exports.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "agent/reach/exported_functions.h"
#include "agent/reach/imports.h"
#include "agent/reach/reach.h"
#include "common/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using fieldcost::reach::Reach;
  constexpr std::size_t kMaxDetailBytes = 4096;
  std::size_t bytes_read = 0;
  const auto explanation =
      fieldcost::reach::ExplainElf([&](std::uint64_t offset, void* to, std::size_t wanted) {
        if (offset >= size) return std::size_t{0};
        const std::size_t got = std::min<std::size_t>(wanted, size - offset);
        std::memcpy(to, data + offset, got);
        bytes_read += got;
        return got;
      });
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto imports = fieldcost::reach::ReadImports(fieldcost::ReaderOf(bytes));
  FIELDCOST_CHECK(imports.size() <= fieldcost::reach::kMaxImports);
  for (const auto& function : imports) {
    FIELDCOST_CHECK(function.untrusted_symbol.size() <= kMaxDetailBytes);
  }
  if (const auto exports = fieldcost::reach::ReadExports(fieldcost::ReaderOf(bytes))) {
    FIELDCOST_CHECK(exports->untrusted_names.size() + exports->untrusted_never_measured.size() <=
                    fieldcost::reach::kMaxExports);
    for (const std::string& name : exports->untrusted_names) {
      FIELDCOST_CHECK(name.size() <= kMaxDetailBytes);
    }
  }
  FIELDCOST_CHECK(explanation.untrusted_detail.size() < kMaxDetailBytes);
  // Each of its few tables is read at most twice.
  FIELDCOST_CHECK(bytes_read <= 8 * size);
  switch (explanation.reach) {
    case Reach::kAble:
    case Reach::kStatic:
    case Reach::kOtherMachine:
    case Reach::kOtherLibc:
    case Reach::kSanitizer:
    case Reach::kNotProgram:
      break;
    default:
      FIELDCOST_CHECK(false);  // possible only for a running process
  }
  return 0;
}
