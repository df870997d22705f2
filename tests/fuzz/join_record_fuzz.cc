// The record of what existed before joining a service, in the user's state directory.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/base/check.h"
#include "tools/cli/join/join_record.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fieldcost::cli;
  const auto record = DecodeJoinRecord({reinterpret_cast<const char*>(data), size});
  if (!record) return 0;
  for (const auto& directory : record->made) FIELDCOST_CHECK(directory.is_absolute());
  const auto again = DecodeJoinRecord(EncodeJoinRecord(*record));
  FIELDCOST_CHECK(again && *again == *record);
  return 0;
}
