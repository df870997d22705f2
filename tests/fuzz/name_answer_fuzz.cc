// The response of a name-reading process, which a malicious file may have taken over.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "agent/symbols/name_messages.h"
#include "common/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fieldcost::symbols;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto frames = FramesIn(bytes)) {
    FIELDCOST_CHECK(frames->size() <= DwarfModule::kMostInlined + 1);
    for (const SourceFrame& frame : *frames) {
      FIELDCOST_CHECK(frame.function.size() <= kMostNameBytes && frame.file.size() <= size);
    }
  }
  MessageReader reader(bytes);
  std::size_t texts = 0;
  while (reader.ok() && !reader.IsAtEnd()) texts += reader.Text(kMostNameBytes).size();
  FIELDCOST_CHECK(texts <= size);
  return 0;
}
