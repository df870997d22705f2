// Findings of the last check (a file that the editor's server reads), and the editor's settings.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/base/check.h"
#include "tools/lsp/check_result.h"
#include "tools/lsp/cxx_index.h"
#include "tools/lsp/protocol.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fieldcost::lsp;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto result = ParseCheckResult(bytes)) {
    for (const auto& [symbol, api] : result->flagged) {
      FIELDCOST_CHECK(symbol == api.symbol && symbol.size() <= size);
      FIELDCOST_CHECK(!FlaggedText(api, *result).empty());
    }
  }
  (void)ParseSettings(bytes);
  CxxIndex index;
  index.Add(bytes);
  return 0;
}
