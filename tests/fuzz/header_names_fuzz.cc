// The text of a C header.

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/check.h"
#include "tools/cli/costs/header_names.h"

using namespace fieldcost;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const std::string& function : cli::DeclaredFunctions(text)) {
    FIELDCOST_CHECK(!function.empty() && text.find(function) != std::string_view::npos);
  }
  return 0;
}
