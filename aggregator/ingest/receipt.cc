// Receipts of accepted batches, in lower-case hex. u64 is little endian.
//
//   receipt := version:u8 = 1 refused mac[32]
//   refused := 0x00 varint*                  ; for each row the distance to the previous, less 1
//            | 0x01 byte*                    ; bit i of byte j: row 8 * j + i; the last is not 0
//                                            ; whichever is shorter; LEB128 below 2^14
//   mac     := HMAC-SHA-256(secret, "fieldcost receipt v1" 0x00 key[32] epoch:u64 sequence:u64
//                                   sha256(body)[32] refused)
#include "aggregator/ingest/receipt.h"

#include <algorithm>

#include "aggregator/ingest/server_secret.h"
#include "common/base/byte_order.h"
#include "common/base/check.h"
#include "common/base/text.h"
#include "common/crypto/sha256.h"
#include "common/stats/varint.h"
#include "common/wire/wire_limits.h"

namespace fieldcost::ingest {
namespace {

constexpr char kFormatVersion = 1;
constexpr std::string_view kDomain = "fieldcost receipt v1";
constexpr char kList = 0;
constexpr char kBitmap = 1;
constexpr std::size_t kMacBytes = 32;
static_assert(2 * (2 + wire::kMaxBatchRows / 8 + kMacBytes) <= wire::kMaxReceiptBytes);

Error Malformed(std::string_view what) {
  return Fail(ErrorCode::kInvalidArgument, "the receipt is malformed: {}", what);
}

Result<std::vector<std::uint32_t>> DecodeList(std::string_view untrusted_bytes) {
  constexpr unsigned kMaxShift = 14;  // rows are below 2^14, so three bytes are more than enough
  std::vector<std::uint32_t> rows;
  std::uint32_t next = 0;
  std::uint32_t gap = 0;
  unsigned shift = 0;
  for (const char byte : untrusted_bytes) {
    gap |= (static_cast<std::uint32_t>(byte) & 0x7f) << shift;
    if ((static_cast<unsigned char>(byte) & 0x80) != 0) {
      shift += 7;
      if (shift > kMaxShift) return Malformed("a number is too long");
      continue;
    }
    if (gap >= wire::kMaxBatchRows || next + gap >= wire::kMaxBatchRows) {
      return Malformed("a row beyond the limit");
    }
    rows.push_back(next + gap);
    next += gap + 1;
    gap = 0;
    shift = 0;
  }
  if (shift != 0) return Malformed("cut off");
  return rows;
}

Result<std::vector<std::uint32_t>> DecodeBitmap(std::string_view untrusted_bytes) {
  if (untrusted_bytes.size() > wire::kMaxBatchRows / 8) return Malformed("a row beyond the limit");
  std::vector<std::uint32_t> rows;
  for (std::size_t i = 0; i < untrusted_bytes.size(); ++i) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      if (((static_cast<unsigned char>(untrusted_bytes[i]) >> bit) & 1) == 0) continue;
      rows.push_back(static_cast<std::uint32_t>(8 * i + bit));
    }
  }
  return rows;
}

}  // namespace

std::string EncodeRefusedRows(std::span<const std::uint32_t> refused_rows) {
  std::string list(1, kList);
  std::string bitmap(1, kBitmap);
  std::uint32_t next = 0;
  for (const std::uint32_t row : refused_rows) {
    FIELDCOST_CHECK(row >= next && row < wire::kMaxBatchRows);
    stats::AppendVarint(row - next, list);
    next = row + 1;
    bitmap.resize(std::max<std::size_t>(bitmap.size(), 2 + row / 8));
    bitmap[1 + row / 8] = static_cast<char>(bitmap[1 + row / 8] | (1 << (row % 8)));
  }
  return list.size() <= bitmap.size() ? list : bitmap;
}

Result<std::vector<std::uint32_t>> DecodeRefusedRows(std::string_view untrusted_bytes) {
  if (untrusted_bytes.empty()) return Malformed("too short");
  const std::string_view rest = untrusted_bytes.substr(1);
  if (untrusted_bytes[0] == kList) return DecodeList(rest);
  if (untrusted_bytes[0] == kBitmap) return DecodeBitmap(rest);
  return Malformed("neither list nor bitmap");
}

Result<Receipts> Receipts::LoadOrCreate(const std::filesystem::path& path) {
  FIELDCOST_ASSIGN(std::string secret, LoadOrCreateSecret(path));
  return Receipts(std::move(secret));
}

std::string Receipts::Mac(const BatchIdentity& batch, std::string_view refused) const {
  FIELDCOST_CHECK(batch.body_sha256.size() == kMacBytes);
  std::string input(kDomain);
  input += '\0';
  input += batch.agent.view();
  AppendLittleEndian64(batch.epoch.value(), input);
  AppendLittleEndian64(batch.sequence.value(), input);
  input += batch.body_sha256;
  input += refused;
  return crypto::HmacSha256(secret_, input);
}

std::string Receipts::Issue(const BatchIdentity& batch,
                            std::span<const std::uint32_t> refused_rows) const {
  const std::string refused = EncodeRefusedRows(refused_rows);
  const std::string bytes = kFormatVersion + refused + Mac(batch, refused);
  return HexEncode(bytes);
}

Result<std::vector<std::uint32_t>> Receipts::Open(std::string_view untrusted_hex,
                                                  const BatchIdentity& batch) const {
  if (untrusted_hex.size() > wire::kMaxReceiptBytes) return Malformed("too long");
  const auto untrusted_bytes = HexDecode(untrusted_hex);
  if (!untrusted_bytes) return Malformed("not hexadecimal");
  if (untrusted_bytes->size() < 2 + kMacBytes) return Malformed("too short");
  if (untrusted_bytes->front() != kFormatVersion) return Malformed("unknown version");
  const std::string_view refused =
      std::string_view(*untrusted_bytes).substr(1, untrusted_bytes->size() - 1 - kMacBytes);
  FIELDCOST_ASSIGN(std::vector<std::uint32_t> refused_rows, DecodeRefusedRows(refused));
  const std::string_view mac = std::string_view(*untrusted_bytes).substr(1 + refused.size());
  if (!EqualInConstantTime(mac, Mac(batch, refused))) {
    return Fail(ErrorCode::kPermissionDenied, "the receipt is not this server's for this batch");
  }
  return refused_rows;
}

std::string Receipts::Fingerprint() const {
  return crypto::HmacSha256(secret_, "fieldcost receipts");
}

}  // namespace fieldcost::ingest
