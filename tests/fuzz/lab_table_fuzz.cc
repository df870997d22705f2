// Lab tables named by a user, and as the contents of their frames.

#include <cstdint>
#include <string_view>

#include "common/base/check.h"
#include "common/wire/lab_table.h"
#include "common/wire/zstd_frame.h"

namespace {

using namespace fieldcost;

void Read(std::string_view untrusted_bytes) {
  const bool looks = wire::LooksLikeLabTable(untrusted_bytes);
  const auto table = wire::DecodeLabTable(untrusted_bytes);
  if (!table.has_value()) return;
  FIELDCOST_CHECK(looks);
  const auto again = wire::EncodeLabTable(*table);
  FIELDCOST_CHECK(again.has_value());
  FIELDCOST_CHECK(wire::DecodeLabTable(*again).value() == *table);
  FIELDCOST_CHECK(wire::MergeLabTables(std::span(&*table, 1)).value() == *table);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Read(bytes);
  if (const auto frame = wire::Compress(bytes, 1)) Read(*frame);
  return 0;
}
