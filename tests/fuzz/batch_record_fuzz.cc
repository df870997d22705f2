// The store's log record for a batch: as it is and, because a fuzzer rarely finds a valid frame,
// also as the contents of the frame of a batch without refused rows.

#include <cstdint>
#include <string>
#include <string_view>

#include "aggregator/store/batch_record.h"
#include "aggregator/store/dirty_table.h"
#include "aggregator/store/store_row_codec.h"
#include "common/base/check.h"
#include "common/wire/zstd_frame.h"

namespace {

using namespace fieldcost;

void ReadRecord(std::string_view untrusted_record) {
  static store::BatchRecordReader reader;
  static store::AcceptedRows rows;
  if (!reader.Read(untrusted_record, rows)) return;
  store::DirtyTable as_read;
  as_read.Add(rows);
  // The other form of the same rows adds up to the same sums.
  store::DirtyTable encoded;
  FIELDCOST_CHECK(encoded.AddRecord(rows.bytes()).has_value());
  FIELDCOST_CHECK(as_read.totals() == encoded.totals());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  ReadRecord(bytes);
  if (const auto frame = wire::Compress(bytes, 1)) ReadRecord(store::BatchRecordHead({}) + *frame);
  return 0;
}
