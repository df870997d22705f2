// The body of a batch, and what is signed of it (wire.proto, BATCHES.md). Integers are little
// endian.
//
//   body    := one zstd frame of Batch
//   Batch   := format_version = 1, field_policy_version,
//              hardware { architecture cpu_family log2_cores log2_memory_mib os_release },
//              RowTable, row_first_contribution*             ; one 0 or 1 per row
//   signed  := "fieldcost batch v1" 0x00 identity            ; Ed25519, in a header
//            | "fieldcost withdrawal v1" 0x00 identity
//            | "fieldcost enrolment v1" 0x00 key epoch sha256(token)[32] service
//   identity := key epoch sequence sha256(body)[32] service
//   key := the agent's, [32]; epoch, sequence := u64
//   service := host "/" sha256(root) in hex, to the end     ; ServiceId()
#include "common/wire/batch.h"

#include <algorithm>

#include "common/base/byte_order.h"
#include "common/base/check.h"
#include "common/base/text.h"
#include "common/crypto/sha256.h"
#include "common/wire/row_table.h"
#include "common/wire/wire.pb.h"
#include "common/wire/zstd_frame.h"

namespace fieldcost::wire {
namespace {

constexpr std::string_view kBatchDomain = "fieldcost batch v1";
constexpr std::string_view kWithdrawalDomain = "fieldcost withdrawal v1";
constexpr std::string_view kEnrolmentDomain = "fieldcost enrolment v1";
constexpr std::size_t kKeyBytes = 32;
constexpr int kBatchCompressionLevel = 6;

constexpr DecompressionLimits kBatchLimits = {.max_compressed_bytes = kMaxBatchBodyBytes,
                                              .max_decoded_bytes = kMaxBatchDecodedBytes,
                                              .max_ratio = kMaxCompressionRatio,
                                              .ratio_free_bytes = kRatioFreeBytes};

void FillHead(const BatchContent& content, proto::Batch& batch) {
  batch.set_format_version(kBatchFormatVersion);
  batch.set_field_policy_version(content.field_policy_version);
  WriteHardwareClass(content.hardware, *batch.mutable_hardware());
}

// Returns the number of strings.
std::size_t Fill(const BatchContent& content, proto::Batch& batch) {
  FillHead(content, batch);
  RowTableWriter writer(*batch.mutable_table());
  for (const BatchRow& row : content.rows) {
    writer.Append(row.api, row.metric, row.week, row.histogram);
    batch.add_row_first_contribution(row.first_contribution);
  }
  return writer.string_count();
}

// What batches and withdrawals sign.
std::string BatchInput(std::string_view domain, std::string_view service,
                       std::string_view agent_public_key, Epoch epoch, Sequence sequence,
                       std::string_view body_sha256) {
  FIELDCOST_CHECK(agent_public_key.size() == kKeyBytes &&
                  body_sha256.size() == crypto::kSha256Bytes);
  std::string input(domain);
  input += '\0';
  input += agent_public_key;
  AppendLittleEndian64(epoch.value(), input);
  AppendLittleEndian64(sequence.value(), input);
  input += body_sha256;
  input += service;
  return input;
}

}  // namespace

std::string RootFingerprint(std::string_view root_file) { return crypto::HexSha256(root_file); }

std::string ServiceId(std::string_view host, std::string_view root_fingerprint) {
  return fmt::format("{}/{}", host, root_fingerprint);
}

std::string BatchSigningInput(std::string_view service, std::string_view agent_public_key,
                              Epoch epoch, Sequence sequence, std::string_view body_sha256) {
  return BatchInput(kBatchDomain, service, agent_public_key, epoch, sequence, body_sha256);
}

std::string WithdrawalSigningInput(std::string_view service, std::string_view agent_public_key,
                                   Epoch epoch, Sequence sequence, std::string_view body_sha256) {
  return BatchInput(kWithdrawalDomain, service, agent_public_key, epoch, sequence, body_sha256);
}

std::string EnrolmentSigningInput(std::string_view service, std::string_view agent_public_key,
                                  Epoch epoch, std::string_view token_sha256) {
  FIELDCOST_CHECK(agent_public_key.size() == kKeyBytes &&
                  token_sha256.size() == crypto::kSha256Bytes);
  std::string input(kEnrolmentDomain);
  input += '\0';
  input += agent_public_key;
  AppendLittleEndian64(epoch.value(), input);
  input += token_sha256;
  input += service;
  return input;
}

Result<std::string> EncodeBatch(const BatchContent& content) {
  if (content.rows.size() > kMaxBatchRows) {
    return Fail(ErrorCode::kTooLarge, "encoding a batch: {} rows, at most {} are accepted",
                content.rows.size(), kMaxBatchRows);
  }
  proto::Batch batch;
  if (const std::size_t strings = Fill(content, batch); strings > kMaxStrings) {
    return Fail(ErrorCode::kTooLarge, "encoding a batch: {} strings, at most {} are accepted",
                strings, kMaxStrings);
  }
  const std::string bytes = SerializeMessage(batch);
  if (bytes.size() > kMaxBatchDecodedBytes) {
    return Fail(ErrorCode::kTooLarge, "encoding a batch: {} bytes, at most {} are accepted",
                bytes.size(), kMaxBatchDecodedBytes);
  }
  FIELDCOST_ASSIGN(std::string body, Compress(bytes, kBatchCompressionLevel));
  if (body.size() > kMaxBatchBodyBytes ||
      (bytes.size() > kRatioFreeBytes && bytes.size() > kMaxCompressionRatio * body.size())) {
    return Fail(ErrorCode::kTooLarge,
                "encoding a batch: {} bytes compressed to {} would not be accepted", bytes.size(),
                body.size());
  }
  return body;
}

std::size_t EncodedBatchBytes(const BatchContent& content) {
  proto::Batch batch;
  Fill(content, batch);
  return batch.ByteSizeLong();
}

std::size_t RowsThatFit(const BatchContent& content, std::size_t max_bytes) {
  FIELDCOST_CHECK(!content.rows.empty());
  proto::Batch head;
  FillHead(content, head);
  const std::size_t head_bytes = head.ByteSizeLong();
  proto::RowTable table;
  RowTableWriter writer(table);
  std::size_t rows = 0;
  for (const BatchRow& row : content.rows) {
    writer.Append(row.api, row.metric, row.week, row.histogram);
    const std::size_t bytes =
        head_bytes + FieldBytes(proto::Batch::kTableFieldNumber, writer.size_bytes()) +
        FieldBytes(proto::Batch::kRowFirstContributionFieldNumber, rows + 1);  // a byte each
    if (bytes > max_bytes) break;
    ++rows;
  }
  return std::max<std::size_t>(rows, 1);
}

struct BatchDecoder::State {
  Decompressor decompressor;
  proto::Batch batch;
  RowTableReader reader;
  stats::HardwareClass hardware;
  std::string_view untrusted_bytes;  // decompressed; in `decompressor`

  Status Decompress(std::string_view untrusted_body);
  Status Parse();
};

Status BatchDecoder::State::Decompress(std::string_view untrusted_body) {
  FIELDCOST_ASSIGN(untrusted_bytes, decompressor.Decompress(untrusted_body, kBatchLimits));
  return {};
}

Status BatchDecoder::State::Parse() {
  FIELDCOST_TRY(ParseMessage(untrusted_bytes, batch));
  if (batch.format_version() != kBatchFormatVersion) {
    return Fail(ErrorCode::kUnsupported, "batch format version {}, only {} is understood",
                batch.format_version(), kBatchFormatVersion);
  }
  FIELDCOST_TRY(ReadHardwareClass(batch.hardware(), hardware));
  FIELDCOST_TRY(reader.Open(batch.table(), kMaxBatchRows));
  if (static_cast<std::size_t>(batch.row_first_contribution_size()) != reader.row_count()) {
    return Fail(ErrorCode::kCorrupt, "columns of the rows have different lengths");
  }
  return {};
}

BatchDecoder::BatchDecoder() : state_(std::make_unique<State>()) {}

BatchDecoder::~BatchDecoder() = default;

Status BatchDecoder::Finish(Status status) {
  if (status) return status;
  state_ = std::make_unique<State>();
  return Within(std::move(status).error(), "decoding a batch");
}

Status BatchDecoder::Decompress(std::string_view untrusted_body) {
  return Finish(state_->Decompress(untrusted_body));
}

Status BatchDecoder::Parse() { return Finish(state_->Parse()); }

Status BatchDecoder::Decode(std::string_view untrusted_body) {
  FIELDCOST_TRY(Decompress(untrusted_body));
  return Parse();
}

std::uint32_t BatchDecoder::field_policy_version() const {
  return state_->batch.field_policy_version();
}

const stats::HardwareClass& BatchDecoder::hardware() const { return state_->hardware; }

std::size_t BatchDecoder::row_count() const { return state_->reader.row_count(); }

std::size_t BatchDecoder::decoded_bytes() const { return state_->untrusted_bytes.size(); }

void BatchDecoder::GetRow(std::size_t index, UntrustedRow& row) const {
  const RowNumbers numbers = state_->reader.Get(index, row.api, row.histogram);
  row.metric_number = numbers.metric_number;
  row.week = numbers.week;
  row.malformed = numbers.malformed;
  row.first_contribution = state_->batch.row_first_contribution(static_cast<int>(index));
}

bool BatchDecoder::GetRow(std::size_t index, BatchRow& row) const {
  const RowNumbers numbers = state_->reader.Get(index, row.api, row.histogram);
  row.metric = static_cast<stats::Metric>(numbers.metric_number);
  row.week = numbers.week;
  row.first_contribution = state_->batch.row_first_contribution(static_cast<int>(index));
  return !numbers.malformed;
}

Result<BatchContent> DecodeBatch(std::string_view body) {
  BatchDecoder decoder;
  FIELDCOST_TRY(decoder.Decode(body));
  BatchContent content{.field_policy_version = decoder.field_policy_version(),
                       .hardware = decoder.hardware(),
                       .rows = {}};
  content.rows.reserve(decoder.row_count());
  for (std::size_t i = 0; i < decoder.row_count(); ++i) {
    if (!decoder.GetRow(i, content.rows.emplace_back())) {
      return Fail(ErrorCode::kCorrupt, "decoding a batch: row {} is malformed", i);
    }
  }
  return content;
}

}  // namespace fieldcost::wire
