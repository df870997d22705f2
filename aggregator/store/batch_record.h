#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/store/accepted_rows.h"
#include "common/base/result.h"
#include "common/wire/batch.h"

namespace fieldcost::store {

// A batch as received: it is logged in this form, so that nothing has to be encoded again.
struct ReceivedBatch {
  std::string_view body;                     // compressed; each of its rows has been checked
  std::span<const std::uint32_t> refused{};  // rows that must not be added, ascending
};

// The part of the batch's inbox record before the body.
std::string BatchRecordHead(std::span<const std::uint32_t> refused);

// Reads such records. Reuses its buffers; not thread-safe.
class BatchRecordReader {
 public:
  // Fills `rows` with the rows that were added when the record was written. kCorrupt, kTooLarge or
  // kUnsupported if the record, or a row that it adds, can never have been accepted.
  Status Read(std::string_view untrusted_record, AcceptedRows& rows);

 private:
  Status ReadHead(std::string_view& untrusted_rest);

  wire::BatchDecoder decoder_;
  wire::UntrustedRow row_;
  stats::RowKey key_;
  std::vector<std::uint32_t> refused_;
};

// The rows of an inbox record that adds rows, as AcceptedRows::bytes(). Errors as above.
Result<std::string> AcceptedRowsOf(std::string_view untrusted_record);

}  // namespace fieldcost::store
