#include "aggregator/ingest/envelope.h"

#include <optional>

#include "common/base/text.h"
#include "common/crypto/sha256.h"

namespace fieldcost::ingest {
namespace {

constexpr std::size_t kSignatureBytes = 64;

Result<std::uint64_t> Number(const http::Headers& headers, std::string_view name) {
  const std::optional<std::uint64_t> number = ParseUint64(http::Find(headers, name));
  if (!number) return Fail(ErrorCode::kInvalidArgument, "header {} is not a decimal number", name);
  return *number;
}

}  // namespace

Result<Envelope> ParseEnvelope(const http::Headers& untrusted_headers) {
  Envelope envelope;
  auto agent = crypto::ParsePublicKey(http::Find(untrusted_headers, wire::kAgentHeader));
  if (!agent) {
    return Fail(ErrorCode::kInvalidArgument, "header {} is not a public key of 64 hex digits",
                wire::kAgentHeader);
  }
  envelope.agent = *agent;
  FIELDCOST_ASSIGN(const std::uint64_t epoch, Number(untrusted_headers, wire::kEpochHeader));
  FIELDCOST_ASSIGN(const std::uint64_t sequence, Number(untrusted_headers, wire::kSequenceHeader));
  if (sequence == 0) {
    return Fail(ErrorCode::kInvalidArgument, "header {}: sequence numbers start at 1",
                wire::kSequenceHeader);
  }
  envelope.epoch = wire::Epoch(epoch);
  envelope.sequence = wire::Sequence(sequence);
  auto signature = HexDecode(http::Find(untrusted_headers, wire::kSignatureHeader));
  if (!signature || signature->size() != kSignatureBytes) {
    return Fail(ErrorCode::kInvalidArgument, "header {} is not a signature of 128 hex digits",
                wire::kSignatureHeader);
  }
  envelope.signature = std::move(*signature);
  return envelope;
}

Status VerifyEnvelope(const Envelope& untrusted_envelope, std::string_view untrusted_body) {
  const std::string signed_bytes =
      wire::BatchSigningInput(untrusted_envelope.agent.view(), untrusted_envelope.epoch,
                              untrusted_envelope.sequence, crypto::Sha256(untrusted_body));
  if (!crypto::Verify(untrusted_envelope.agent, signed_bytes, untrusted_envelope.signature)) {
    return Fail(ErrorCode::kUnauthenticated, "the signature is not the agent's for this batch");
  }
  return {};
}

}  // namespace fieldcost::ingest
