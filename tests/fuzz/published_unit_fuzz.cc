// Keys and values of the store's table of published units as found on disk.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "aggregator/store/published_codec.h"
#include "common/base/check.h"

namespace {

using namespace fieldcost::store;

void ReadKey(std::string_view untrusted_bytes) {
  PublishedKey key;
  if (DecodeUnitKey(untrusted_bytes, key)) {
    std::string again;
    AppendUnitKey(key, again);
    FIELDCOST_CHECK(again == untrusted_bytes);
  }
  const auto parts = SplitEntryKey(untrusted_bytes);
  if (!parts) return;
  FIELDCOST_CHECK(untrusted_bytes == (parts->withdrawal
                                          ? MarkEntryKey(parts->unit_key, *parts->withdrawal)
                                          : UnitEntryKey(parts->unit_key)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  ReadKey(bytes);
  if (const auto unit = DecodePublishedUnit(bytes)) {
    FIELDCOST_CHECK(Validate(*unit).has_value());
    const auto again = EncodePublishedUnit(*unit);
    FIELDCOST_CHECK(again.has_value());
    FIELDCOST_CHECK(DecodePublishedUnit(*again).value() == *unit);
  }
  if (const auto mark = DecodeMark(bytes, size)) {
    FIELDCOST_CHECK(DecodeMark(EncodeMark(*mark), size).value() == *mark);
  }
  return 0;
}
