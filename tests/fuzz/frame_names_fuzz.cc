// Symbols, modules and rename rules, as found in binaries and given by users.

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/check.h"
#include "common/tree/identity.h"
#include "common/tree/rename.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fieldcost;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::size_t half = text.find('\n');
  const std::string first = text.substr(0, half);
  const std::string second = half == std::string::npos ? "" : text.substr(half + 1);
  const tree::Frame frame = tree::MakeFrame({.module = first,
                                             .symbol = second,
                                             .is_local = size % 2 == 0,
                                             .source_file = first,
                                             .build_id = first,
                                             .offset = size});
  FIELDCOST_CHECK(tree::Validate(frame).has_value());
  // Normalising the module's name again never lengthens it.
  FIELDCOST_CHECK(tree::ModuleName(frame.module).size() <= frame.module.size());
  if (auto rules = tree::RenameRules::Parse(std::span(&first, 1))) {
    (void)rules->Apply(frame);
    FIELDCOST_CHECK(rules->Unmatched().size() <= 1);
  }
  return 0;
}
