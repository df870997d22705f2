// The history of a fragment's APIs (FRAGMENTS.md; fragment_rows.cc has the rows):
//
//   file           := one zstd frame of PeriodFragment, in blocks of one large column each
//   PeriodFragment := kind = "fieldcost periods", format_version = 1, rows: Fragment
#include "common/wire/period_fragment.h"

#include "common/wire/fragment_rows.h"
#include "common/wire/number_columns.h"
#include "common/wire/wire.pb.h"
#include "common/wire/zstd_frame.h"

namespace fieldcost::wire {
namespace {

using stats::StatRow;

constexpr std::string_view kPeriodKind = "fieldcost periods";
constexpr std::uint32_t kPeriodFormatVersion = 1;
constexpr int kCompressionLevel = 3;  // as of fragments

constexpr DecompressionLimits kLimits = {.max_compressed_bytes = kMaxFragmentBytes,
                                         .max_decoded_bytes = kMaxFragmentDecodedBytes};

// Checks what the rows must be beyond a fragment's.
Status CheckPeriods(const std::vector<StatRow>& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const StatRow& row = rows[i];
    if (row.key.hardware != stats::HardwareClass{}) {
      return Fail(ErrorCode::kCorrupt, "row {}: of one hardware class", i);
    }
    if (row.key.week == 0 || row.key.week != FirstWeekOfPeriod(row.key.week)) {
      return Fail(ErrorCode::kCorrupt, "row {}: week {} does not begin a period", i, row.key.week);
    }
    if (row.histogram.empty() || row.scalars.contributions == 0) {
      return Fail(ErrorCode::kCorrupt, "row {}: no calls or contributions", i);
    }
    if (row.weights != stats::AgentWeights{} || row.bounded != stats::BoundedSums{} ||
        row.fullest_quarter != stats::QuarterScalars{}) {
      return Fail(ErrorCode::kCorrupt, "row {}: weights, bounded sums or a fullest quarter", i);
    }
  }
  return {};
}

Result<std::string> Encode(const std::vector<StatRow>& sorted_rows) {
  if (sorted_rows.size() > kMaxFragmentRows) {
    return Fail(ErrorCode::kTooLarge, "{} rows, at most {} are accepted", sorted_rows.size(),
                kMaxFragmentRows);
  }
  for (const Status& status : {CheckFragmentRows(sorted_rows), CheckPeriods(sorted_rows)}) {
    if (!status) return Fail(ErrorCode::kInvalidArgument, "{}", status.error().message);
  }
  proto::PeriodFragment message;
  message.set_kind(std::string(kPeriodKind));
  message.set_format_version(kPeriodFormatVersion);
  proto::Fragment& rows = *message.mutable_rows();
  rows.set_format_version(kFragmentFormatVersion);
  RowTableWriter table(*rows.mutable_table());
  WriteFragmentRows(sorted_rows, table, rows);
  if (table.string_count() > kMaxStrings || message.ByteSizeLong() > kMaxFragmentDecodedBytes) {
    return Fail(ErrorCode::kTooLarge, "{} strings and {} bytes are too many", table.string_count(),
                message.ByteSizeLong());
  }
  const std::string bytes = SerializeMessage(message);
  FIELDCOST_ASSIGN(std::string frame, CompressInBlocks(bytes, ColumnBoundaries(rows, bytes.size()),
                                                       kCompressionLevel));
  if (frame.size() > kMaxFragmentBytes) {
    return Fail(ErrorCode::kTooLarge, "{} compressed bytes, at most {} are accepted", frame.size(),
                kMaxFragmentBytes);
  }
  return frame;
}

Result<std::vector<StatRow>> Decode(std::string_view untrusted_bytes, std::size_t max_rows) {
  Decompressor decompressor;
  FIELDCOST_ASSIGN(const std::string_view bytes, decompressor.Decompress(untrusted_bytes, kLimits));
  proto::PeriodFragment message;
  FIELDCOST_TRY(ParseMessage(bytes, message));
  if (message.kind() != kPeriodKind) return Fail(ErrorCode::kCorrupt, "not rows of periods");
  if (message.format_version() != kPeriodFormatVersion ||
      message.rows().format_version() != kFragmentFormatVersion) {
    return Fail(ErrorCode::kUnsupported, "format version {}, only {} is understood",
                message.format_version(), kPeriodFormatVersion);
  }
  FIELDCOST_ASSIGN(std::vector<StatRow> rows, ReadFragmentRows(message.rows(), max_rows));
  FIELDCOST_TRY(CheckPeriods(rows));
  return rows;
}

}  // namespace

Result<std::string> EncodePeriodFragment(const std::vector<StatRow>& sorted_rows) {
  Result<std::string> bytes = Encode(sorted_rows);
  if (!bytes) return Within(std::move(bytes).error(), "encoding periods");
  return bytes;
}

Result<std::vector<StatRow>> DecodePeriodFragment(std::string_view untrusted_bytes,
                                                  std::size_t max_rows) {
  Result<std::vector<StatRow>> rows = Decode(untrusted_bytes, max_rows);
  if (!rows) return Within(std::move(rows).error(), "decoding periods");
  return rows;
}

}  // namespace fieldcost::wire
