// Rows of periods as downloaded, and as the contents of their frames.

#include <cstdint>
#include <string_view>

#include "common/base/check.h"
#include "common/wire/period_fragment.h"
#include "common/wire/zstd_frame.h"

namespace {

using namespace fieldcost;

void Read(std::string_view untrusted_bytes) {
  const auto rows = wire::DecodePeriodFragment(untrusted_bytes);
  if (!rows.has_value()) return;
  const auto again = wire::EncodePeriodFragment(*rows);
  FIELDCOST_CHECK(again.has_value());
  FIELDCOST_CHECK(wire::DecodePeriodFragment(*again).value() == *rows);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Read(bytes);
  if (const auto frame = wire::Compress(bytes, 1)) Read(*frame);
  return 0;
}
