// The envelope of a request, in HTTP headers; common/wire/batch.cc has what is signed.
//
//   Fieldcost-Service: host "/" 64 hex digits  Fieldcost-Agent: 64 hex digits
//   Fieldcost-Epoch: decimal                  Fieldcost-Sequence: decimal, from 1; not to enrol
//   Fieldcost-Signature: 128 hex digits
#include "aggregator/ingest/envelope.h"

#include <optional>

#include "common/base/text.h"
#include "common/crypto/sha256.h"
#include "common/wire/wire_requests.h"

namespace fieldcost::ingest {
namespace {

constexpr std::size_t kSignatureBytes = 64;

Result<std::uint64_t> Number(const http::Headers& headers, std::string_view name) {
  const std::optional<std::uint64_t> number = ParseUint64(http::Find(headers, name));
  if (!number) return Fail(ErrorCode::kInvalidArgument, "header {} is not a decimal number", name);
  return *number;
}

}  // namespace

Result<Sender> ParseSender(const http::Headers& untrusted_headers) {
  Sender sender;
  sender.service = http::Find(untrusted_headers, wire::kServiceHeader);
  const std::size_t slash = sender.service.find('/');
  if (slash == 0 || slash == std::string::npos || sender.service.size() > wire::kMaxServiceBytes) {
    return Fail(ErrorCode::kInvalidArgument,
                "header {} is not HOST/ROOT, at most {} bytes: the host of the service that the "
                "request is signed for, and the SHA-256 of its root that the agent has pinned",
                wire::kServiceHeader, wire::kMaxServiceBytes);
  }
  sender.host = sender.service.substr(0, slash);
  sender.root = sender.service.substr(slash + 1);
  auto agent = crypto::ParsePublicKey(http::Find(untrusted_headers, wire::kAgentHeader));
  if (!agent) {
    return Fail(ErrorCode::kInvalidArgument, "header {} is not a public key of 64 hex digits",
                wire::kAgentHeader);
  }
  sender.agent = *agent;
  FIELDCOST_ASSIGN(const std::uint64_t epoch, Number(untrusted_headers, wire::kEpochHeader));
  sender.epoch = wire::Epoch(epoch);
  auto signature = HexDecode(http::Find(untrusted_headers, wire::kSignatureHeader));
  if (!signature || signature->size() != kSignatureBytes) {
    return Fail(ErrorCode::kInvalidArgument, "header {} is not a signature of 128 hex digits",
                wire::kSignatureHeader);
  }
  sender.signature = std::move(*signature);
  return sender;
}

Result<Envelope> ParseEnvelope(const http::Headers& untrusted_headers) {
  FIELDCOST_ASSIGN(Sender sender, ParseSender(untrusted_headers));
  FIELDCOST_ASSIGN(const std::uint64_t sequence, Number(untrusted_headers, wire::kSequenceHeader));
  if (sequence == 0) {
    return Fail(ErrorCode::kInvalidArgument, "header {}: sequence numbers start at 1",
                wire::kSequenceHeader);
  }
  return Envelope{std::move(sender), wire::Sequence(sequence)};
}

Status VerifyEnvelope(const Envelope& untrusted_envelope, Purpose purpose,
                      std::string_view body_sha256) {
  const auto input =
      purpose == Purpose::kBatch ? &wire::BatchSigningInput : &wire::WithdrawalSigningInput;
  const std::string signed_bytes =
      input(untrusted_envelope.service, untrusted_envelope.agent.view(), untrusted_envelope.epoch,
            untrusted_envelope.sequence, body_sha256);
  if (!crypto::Verify(untrusted_envelope.agent, signed_bytes, untrusted_envelope.signature)) {
    return Fail(ErrorCode::kUnauthenticated,
                "the signature is not this agent's signature of this {}",
                purpose == Purpose::kBatch ? "batch" : "withdrawal");
  }
  return {};
}

Status VerifyEnrolment(const Sender& untrusted_sender, std::string_view untrusted_token) {
  const std::string signed_bytes =
      wire::EnrolmentSigningInput(untrusted_sender.service, untrusted_sender.agent.view(),
                                  untrusted_sender.epoch, crypto::Sha256(untrusted_token));
  if (!crypto::Verify(untrusted_sender.agent, signed_bytes, untrusted_sender.signature)) {
    return Fail(ErrorCode::kUnauthenticated,
                "the signature is not this agent's signature of this enrolment");
  }
  return {};
}

}  // namespace fieldcost::ingest
