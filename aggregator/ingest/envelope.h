#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/crypto/ed25519.h"
#include "common/http/http_message.h"
#include "common/wire/batch.h"

namespace fieldcost::ingest {

// The claimed sender of a request.
struct Sender {
  std::string service;  // the service that it is signed for: "host/root"
  std::string host;     // must be known to ServiceNames::Has()
  std::string root;     // must be known to ServiceRoots::Has()
  crypto::PublicKey agent;
  wire::Epoch epoch;
  std::string signature;  // 64 raw bytes
};

// The claimed sender and sequence of a batch. To be trusted only after VerifyEnvelope().
struct Envelope : Sender {
  wire::Sequence sequence;
};

enum class Purpose { kBatch, kWithdrawal };

// kInvalidArgument, naming the header, unless all required headers are present and well-formed:
// four for a sender, five for an envelope.
Result<Sender> ParseSender(const http::Headers& untrusted_headers);
Result<Envelope> ParseEnvelope(const http::Headers& untrusted_headers);

// kUnauthenticated unless the agent signed this body for this purpose under this epoch and
// sequence.
Status VerifyEnvelope(const Envelope& untrusted_envelope, Purpose purpose,
                      std::string_view body_sha256);

// kUnauthenticated unless the agent signed an enrolment with this token under this epoch.
Status VerifyEnrolment(const Sender& untrusted_sender, std::string_view untrusted_token);

}  // namespace fieldcost::ingest
