// A batch in the log as received (stats/varint.h has varints).
//
//   batch := kind:u8 varint refused, (varint distance)[refused], body
//            ; kind 3
//            ; distance to the previous refused row, less 1; the first: its number
//            ; body: to the end, as in common/wire/batch.cc
#include "aggregator/store/batch_record.h"

#include <utility>

#include "aggregator/store/store_row_codec.h"
#include "common/wire/wire_limits.h"

namespace fieldcost::store {
namespace {

Error NotALoggedBatch() { return Fail(ErrorCode::kCorrupt, "a logged batch is malformed"); }

}  // namespace

std::string BatchRecordHead(std::span<const std::uint32_t> refused) {
  std::string bytes(1, static_cast<char>(RecordKind::kBatch));
  AppendVarint(refused.size(), bytes);
  std::uint32_t next = 0;
  for (const std::uint32_t row : refused) {
    AppendVarint(row - next, bytes);
    next = row + 1;
  }
  return bytes;
}

Status BatchRecordReader::ReadHead(std::string_view& untrusted_rest) {
  refused_.clear();
  FIELDCOST_ASSIGN(const RecordKind kind, RecordKindOf(untrusted_rest));
  if (kind != RecordKind::kBatch) return NotALoggedBatch();
  untrusted_rest.remove_prefix(1);
  stats::Uint128 count = 0;
  if (!TakeVarint(untrusted_rest, count) || count > wire::kMaxBatchRows) return NotALoggedBatch();
  std::uint64_t next = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    stats::Uint128 distance = 0;
    if (!TakeVarint(untrusted_rest, distance) || distance >= wire::kMaxBatchRows - next) {
      return NotALoggedBatch();
    }
    next += static_cast<std::uint64_t>(distance);
    refused_.push_back(static_cast<std::uint32_t>(next++));
  }
  return {};
}

Status BatchRecordReader::Read(std::string_view untrusted_record, AcceptedRows& rows) {
  std::string_view body = untrusted_record;
  rows.Clear();
  FIELDCOST_TRY(ReadHead(body));
  FIELDCOST_TRY(decoder_.Decode(body));
  FIELDCOST_TRY(wire::ValidateHardwareClass(decoder_.hardware()));
  key_.hardware = decoder_.hardware();
  auto refused = refused_.begin();
  for (std::size_t index = 0; index < decoder_.row_count(); ++index) {
    if (refused != refused_.end() && *refused == index) {
      ++refused;
      continue;
    }
    decoder_.GetRow(index, row_);
    if (row_.malformed || !stats::IsKnownMetric(row_.metric_number) || row_.histogram.empty()) {
      return NotALoggedBatch();
    }
    FIELDCOST_TRY(wire::ValidateApiKey(row_.api));
    FIELDCOST_TRY(stats::Validate(row_.histogram));
    std::swap(key_.api, row_.api);
    key_.metric = static_cast<stats::Metric>(row_.metric_number);
    key_.week = row_.week;
    rows.Add(key_, row_.histogram,
             row_.first_contribution ? Contribution::kFirst : Contribution::kNone);
  }
  if (refused != refused_.end()) return NotALoggedBatch();
  return {};
}

Result<std::string> AcceptedRowsOf(std::string_view untrusted_record) {
  FIELDCOST_ASSIGN(const RecordKind kind, RecordKindOf(untrusted_record));
  if (kind == RecordKind::kAdded) return std::string(untrusted_record);
  BatchRecordReader reader;
  AcceptedRows rows;
  FIELDCOST_TRY(reader.Read(untrusted_record, rows));
  return rows.bytes();
}

}  // namespace fieldcost::store
