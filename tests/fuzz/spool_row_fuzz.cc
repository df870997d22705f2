// Rows of the agent's database as found on disk: a key, a newline and a histogram.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "agent/spool/spool_row_codec.h"
#include "common/base/check.h"
#include "tests/fuzz/request_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fieldcost::spool;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto key = DecodeKey(fieldcost::fuzz::TakeLine(bytes))) {
    FIELDCOST_CHECK(DecodeKey(EncodeKey(*key)).value() == *key);
  }
  if (const auto histogram = DecodeHistogram(bytes)) {
    FIELDCOST_CHECK(fieldcost::stats::Validate(*histogram).has_value());
    FIELDCOST_CHECK(DecodeHistogram(EncodeHistogram(*histogram)).value() == *histogram);
  }
  return 0;
}
