#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/crypto/ed25519.h"
#include "common/http/message.h"
#include "common/wire/batch.h"

namespace fieldcost::ingest {

// Who claims to have sent a request.
struct Sender {
  std::string service;  // for whom it is, as signed: "host/root"
  std::string host;     // ServiceNames::Has() must know it
  std::string root;     // ServiceRoots::Has() must know it
  crypto::PublicKey agent;
  wire::Epoch epoch;
  std::string signature;  // 64 raw bytes
};

// Who claims to have sent a batch, and which one. To be trusted only after VerifyEnvelope().
struct Envelope : Sender {
  wire::Sequence sequence;
};

enum class Purpose { kBatch, kWithdrawal };

// kInvalidArgument, naming the header, unless all headers are there and well-formed: four for a
// sender, five for an envelope.
Result<Sender> ParseSender(const http::Headers& untrusted_headers);
Result<Envelope> ParseEnvelope(const http::Headers& untrusted_headers);

// kUnauthenticated unless the agent signed this body for this purpose under this epoch and
// sequence.
Status VerifyEnvelope(const Envelope& untrusted_envelope, Purpose purpose,
                      std::string_view body_sha256);

// kUnauthenticated unless the agent signed to enrol with this token under this epoch.
Status VerifyEnrolment(const Sender& untrusted_sender, std::string_view untrusted_token);

}  // namespace fieldcost::ingest
