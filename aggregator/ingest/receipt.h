#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/crypto/ed25519.h"
#include "common/wire/batch.h"

namespace fieldcost::ingest {

inline constexpr char kReceiptSecret[] = "receipt.secret";  // its file's and binding's name

// Identifies a batch, down to the bytes of its body.
struct BatchIdentity {
  crypto::PublicKey agent;
  wire::Epoch epoch;
  wire::Sequence sequence;
  std::string body_sha256;  // 32 raw bytes
};

// Receipts for accepted batches. A receipt proves to this server, without a record of the batch,
// that it accepted exactly this body, and which rows it refused. RECEIPTS.md has the bytes.
// Immutable.
class Receipts {
 public:
  // Uses the secret in the file; see LoadOrCreateSecret().
  static Result<Receipts> LoadOrCreate(const std::filesystem::path& path);
  explicit Receipts(std::string secret) : secret_(std::move(secret)) {}

  // Lower-case hex of at most wire::kMaxReceiptBytes; the same for the same arguments.
  // REQUIRES: `refused_rows` ascend strictly, each below wire::kMaxBatchRows.
  std::string Issue(const BatchIdentity& batch, std::span<const std::uint32_t> refused_rows) const;

  // Returns the refused rows. kInvalidArgument if the text does not have the form of a receipt;
  // kPermissionDenied if the receipt was not issued by this server for this batch.
  Result<std::vector<std::uint32_t>> Open(std::string_view untrusted_hex,
                                          const BatchIdentity& batch) const;

  // Identifies the secret without revealing it; see Store::Bind().
  std::string Fingerprint() const;

 private:
  std::string Mac(const BatchIdentity& batch, std::string_view refused) const;
  std::string secret_;
};

// The refused rows inside a receipt: as a list or as a bitmap, whichever is shorter.
std::string EncodeRefusedRows(std::span<const std::uint32_t> refused_rows);
// kInvalidArgument unless it is a set of rows below wire::kMaxBatchRows.
Result<std::vector<std::uint32_t>> DecodeRefusedRows(std::string_view untrusted_bytes);

}  // namespace fieldcost::ingest
