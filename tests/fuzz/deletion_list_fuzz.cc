// A tree's list of deletions: it is either refused, or written again as the same bytes.
#include <cstdint>
#include <string_view>

#include "aggregator/publish/deletion_list.h"
#include "common/base/check.h"
#include "common/wire/public_tree.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fieldcost;
  const std::string_view untrusted_text(reinterpret_cast<const char*>(data), size);
  const auto deletions = publish::ParseDeletions(untrusted_text);
  if (!deletions) return 0;
  FIELDCOST_CHECK(publish::EncodeDeletions(*deletions) == untrusted_text);
  for (const auto& [path, seconds] : *deletions) {
    FIELDCOST_CHECK(wire::ParsePublicPath('/' + path).has_value());
  }
  return 0;
}
