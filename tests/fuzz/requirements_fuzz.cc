#include <cstdint>
#include <string_view>

#include "common/base/check.h"
#include "tools/cli/lab/requirement_file.h"

// A file of requirements: it is either refused with one line of text, or each requirement has a
// name, globs and a limit.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fieldcost;
  const auto requirements =
      cli::ParseRequirements({reinterpret_cast<const char*>(data), size}, "input.toml");
  if (!requirements) {
    FIELDCOST_CHECK(requirements.error().message.find('\n') == std::string::npos);
    return 0;
  }
  FIELDCOST_CHECK(!requirements->empty());
  for (const analysis::Requirement& requirement : *requirements) {
    FIELDCOST_CHECK(!requirement.name.empty() && !requirement.globs.empty());
    FIELDCOST_CHECK(requirement.most <= std::uint64_t{1} << 53);
  }
  return 0;
}
