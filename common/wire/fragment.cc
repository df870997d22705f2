// A fragment of the catalogue (FRAGMENTS.md has the grammar; fragment_rows.cc has the rows):
//
//   file     := one zstd frame of Fragment, in blocks of one large column each
//   Fragment := format_version = 1, RowTable of keys only, hardware*, row_hardware*, columns, bits
#include "common/wire/fragment.h"

#include "common/base/byte_order.h"
#include "common/base/check.h"
#include "common/crypto/sha256.h"
#include "common/wire/fragment_rows.h"
#include "common/wire/number_columns.h"
#include "common/wire/wire.pb.h"
#include "common/wire/zstd_frame.h"

namespace fieldcost::wire {
namespace {

using stats::StatRow;

// Level 9 takes five times as long as this one and saves 2 % (measured on synthetic rows).
constexpr int kFragmentCompressionLevel = 3;

constexpr DecompressionLimits kFragmentLimits = {.max_compressed_bytes = kMaxFragmentBytes,
                                                 .max_decoded_bytes = kMaxFragmentDecodedBytes};

Result<std::vector<StatRow>> DecodeRows(std::string_view untrusted_bytes, std::size_t max_rows) {
  Decompressor decompressor;
  FIELDCOST_ASSIGN(const std::string_view bytes,
                   decompressor.Decompress(untrusted_bytes, kFragmentLimits));
  proto::Fragment fragment;
  FIELDCOST_TRY(ParseMessage(bytes, fragment));
  if (fragment.format_version() != kFragmentFormatVersion) {
    return Fail(ErrorCode::kUnsupported, "fragment format version {}, only {} is understood",
                fragment.format_version(), kFragmentFormatVersion);
  }
  return ReadFragmentRows(fragment, max_rows);
}

}  // namespace

Result<std::string> EncodeFragment(const std::vector<StatRow>& sorted_rows) {
  constexpr std::string_view kContext = "encoding a fragment";
  if (sorted_rows.size() > kMaxFragmentRows) {
    return Fail(ErrorCode::kTooLarge, "{}: {} rows, at most {} are accepted", kContext,
                sorted_rows.size(), kMaxFragmentRows);
  }
  if (const Status status = CheckFragmentRows(sorted_rows); !status) {
    return Within(Fail(ErrorCode::kInvalidArgument, "{}", status.error().message), kContext);
  }
  proto::Fragment fragment;
  fragment.set_format_version(kFragmentFormatVersion);
  RowTableWriter writer(*fragment.mutable_table());
  WriteFragmentRows(sorted_rows, writer, fragment);
  if (writer.string_count() > kMaxStrings || fragment.ByteSizeLong() > kMaxFragmentDecodedBytes) {
    return Fail(ErrorCode::kTooLarge, "{}: {} strings and {} bytes are too many", kContext,
                writer.string_count(), fragment.ByteSizeLong());
  }
  const std::string message = SerializeMessage(fragment);
  FIELDCOST_ASSIGN(std::string body,
                   CompressInBlocks(message, ColumnBoundaries(fragment, message.size()),
                                    kFragmentCompressionLevel));
  if (body.size() > kMaxFragmentBytes) {
    return Fail(ErrorCode::kTooLarge, "{}: {} compressed bytes, at most {} are accepted", kContext,
                body.size(), kMaxFragmentBytes);
  }
  return body;
}

Result<std::vector<StatRow>> DecodeFragment(std::string_view untrusted_bytes,
                                            std::size_t max_rows) {
  Result<std::vector<StatRow>> rows = DecodeRows(untrusted_bytes, max_rows);
  if (!rows) return Within(std::move(rows).error(), "decoding a fragment");
  return rows;
}

std::uint32_t FragmentIndexOf(std::string_view soname, std::string_view symbol,
                              unsigned fragment_bits) {
  FIELDCOST_CHECK(fragment_bits <= kMaxFragmentBits);
  std::string name(soname);
  name += '!';
  name += symbol;
  const std::string hash = crypto::Sha256(name);
  const auto first = static_cast<std::uint32_t>(
      ReadBigEndian(std::string_view(hash).substr(0, kMaxFragmentBits / 8)));
  return first >> (kMaxFragmentBits - fragment_bits);
}

}  // namespace fieldcost::wire
