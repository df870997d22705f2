#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/crypto/ed25519.h"
#include "common/http/message.h"
#include "common/wire/batch.h"

namespace fieldcost::ingest {

// Who says they sent a batch, and which one it is. Believed only after VerifyEnvelope().
struct Envelope {
  crypto::PublicKey agent;
  wire::Epoch epoch;
  wire::Sequence sequence;
  std::string signature;  // 64 raw bytes
};

// kInvalidArgument, naming the header, unless all four headers are there and well-formed.
Result<Envelope> ParseEnvelope(const http::Headers& untrusted_headers);

// kUnauthenticated unless the agent signed exactly this body under this epoch and sequence.
Status VerifyEnvelope(const Envelope& untrusted_envelope, std::string_view untrusted_body);

}  // namespace fieldcost::ingest
