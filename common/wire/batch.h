#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ascii.h"
#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/stats/stat_row.h"
#include "common/wire/epoch.h"
#include "common/wire/wire_limits.h"

namespace fieldcost::wire {

using Sequence = StrongId<struct SequenceTag, std::uint64_t>;  // 1, 2, 3, ... within an epoch

// HTTP request headers that carry the envelope of a batch, all text lower-case hex or decimal.
inline constexpr char kAgentHeader[] = "Fieldcost-Agent";          // Ed25519 public key, 64 hex
inline constexpr char kEpochHeader[] = "Fieldcost-Epoch";          // decimal
inline constexpr char kSequenceHeader[] = "Fieldcost-Sequence";    // decimal
inline constexpr char kSignatureHeader[] = "Fieldcost-Signature";  // 128 hex
// The service that the request is for, which is part of the signed bytes: ServiceId().
inline constexpr char kServiceHeader[] = "Fieldcost-Service";
inline constexpr std::size_t kMaxHostBytes = 253;
inline constexpr std::size_t kMaxServiceBytes = kMaxHostBytes + 1 + kSha256Digits;
inline constexpr char kBatchContentType[] = "application/vnd.fieldcost.batch.v1";

// The name of a root file (metadata.h): the SHA-256 of its bytes in hex. A service has one per root
// that it has ever published.
std::string RootFingerprint(std::string_view root_file);

// Names a service so that a request signed for it is invalid at any other: the host name by which
// the agent knows it, as in its certificate (http::Client::server_name), and the fingerprint of the
// root that the agent has pinned, since several services may share a host name.
std::string ServiceId(std::string_view host, std::string_view root_fingerprint);

// The bytes that an agent signs for a batch: domain text, 0 byte, public key (32), epoch and
// sequence (u64 little endian each), sha256 of the body as sent (32), the service's id to the end.
std::string BatchSigningInput(std::string_view service, std::string_view agent_public_key,
                              Epoch epoch, Sequence sequence, std::string_view body_sha256);

// One row of a batch as its agent made it.
struct BatchRow {
  stats::ApiKey api;
  stats::Metric metric = stats::Metric::kWallTime;
  std::uint32_t week = 0;
  // True in the first batch of the epoch in which this agent reports this API and metric, in any
  // week and class: only then it counts as an independent contribution.
  bool first_contribution = false;
  stats::CostHistogram histogram;
  bool operator==(const BatchRow&) const = default;
};

struct BatchContent {
  std::uint32_t field_policy_version = 0;
  stats::HardwareClass hardware;
  std::vector<BatchRow> rows;
  bool operator==(const BatchContent&) const = default;
};

// Encodes and compresses. kTooLarge if a limit of wire_limits.h is passed. Deterministic.
Result<std::string> EncodeBatch(const BatchContent& content);

// Size of the encoding before compression, which kBatchTargetBytes limits.
std::size_t EncodedBatchBytes(const BatchContent& content);

// The number of leading rows that fit into a batch whose encoding has at most `max_bytes` before
// compression; at least one, however large it is. REQUIRES: there are rows.
std::size_t RowsThatFit(const BatchContent& content, std::size_t max_bytes);

// The inverse of EncodeBatch(), for the agent's own batches. Errors as for BatchDecoder::Decode();
// also kCorrupt if a row is malformed.
Result<BatchContent> DecodeBatch(std::string_view body);

// A row as received: texts and numbers within the format's limits and indices resolved, but neither
// its key nor its histogram validated, nor whether its metric is known.
struct UntrustedRow {
  stats::ApiKey api;
  std::uint32_t metric_number = 0;
  std::uint32_t week = 0;
  bool first_contribution = false;
  // Set if the row itself is malformed (bucket index out of range or twice): refuse this row only.
  bool malformed = false;
  stats::CostHistogram histogram;
};

// Decodes batches; keeps its buffers between calls, so that decoding does not allocate per batch in
// the steady state. Not thread-safe: use one decoder per thread.
class BatchDecoder {
 public:
  BatchDecoder();
  ~BatchDecoder();
  BatchDecoder(const BatchDecoder&) = delete;
  BatchDecoder& operator=(const BatchDecoder&) = delete;

  // Decompresses and parses. kCorrupt or kTooLarge if the batch as a whole is unusable: not zstd,
  // ratio or size beyond the limits, not the format, columns of different lengths, an index out of
  // range, a text beyond kMaxSymbolBytes, too many rows. kUnsupported for another format version.
  // On success the accessors below refer to this batch until the next call; after a failure there
  // are no rows.
  Status Decode(std::string_view untrusted_body);
  // The two halves of Decode(). REQUIRES: Parse() follows a Decompress() that succeeded; the
  // accessors may be used after both.
  Status Decompress(std::string_view untrusted_body);
  Status Parse();

  std::uint32_t field_policy_version() const;
  const stats::HardwareClass& hardware() const;
  std::size_t row_count() const;
  std::size_t decoded_bytes() const;  // of the whole batch, decompressed
  // Fills `row` (reusing its memory). REQUIRES: index < row_count().
  void GetRow(std::size_t index, UntrustedRow& row) const;
  // The same for a row of one's own batch; false if it is malformed.
  bool GetRow(std::size_t index, BatchRow& row) const;

 private:
  struct State;
  // Returns `status`; if it is an error, drops the buffers, which a hostile batch may have made
  // large.
  Status Finish(Status status);
  std::unique_ptr<State> state_;
};

// kCorrupt with the reason unless the symbol is UTF-8 without spaces and invisible characters, the
// other texts are printable ASCII without spaces, non-empty where they must be (soname, symbol),
// within the limits, without '/' or '!' in the soname, and the build-id is hex of whole bytes.
Status ValidateApiKey(const stats::ApiKey& untrusted_key);
// Its two halves: soname, package version and build-id; symbol and symbol version.
Status ValidateModule(const stats::ApiKey& untrusted_key);
Status ValidateSymbol(const stats::ApiKey& untrusted_key);
// kCorrupt unless the texts are printable ASCII without spaces within the limits, the architecture
// is not empty, and the numbers are plausible. The published "all classes" is not a machine's
// class.
Status ValidateHardwareClass(const stats::HardwareClass& untrusted_class);

// The aggregator's answer to a batch, sent as the body of a 200 (JSON, see BATCHES.md).
struct BatchAnswer {
  struct Reject {
    std::uint32_t row = 0;  // index in the batch
    std::string reason;
    bool operator==(const Reject&) const = default;
  };
  std::uint32_t accepted_rows = 0;
  std::vector<Reject> rejects;  // at most kMaxListedRejects; reasons are one line of ASCII
  std::uint32_t rejected_rows = 0;
  // The receipt for withdrawing this batch later (BATCHES.md): lower-case hex, opaque to the agent,
  // at most kMaxReceiptBytes; empty if the server issues none.
  std::string receipt;
  // The rows are kept, but not summed until the agent has sent more batches.
  bool held = false;
  bool operator==(const BatchAnswer&) const = default;
};
// Cuts off what exceeds the limits and replaces bytes that a reason may not contain.
std::string EncodeAnswer(const BatchAnswer& answer);
// kCorrupt or kTooLarge unless it is such an answer. Unknown members are ignored.
Result<BatchAnswer> DecodeAnswer(std::string_view untrusted_json);

}  // namespace fieldcost::wire
