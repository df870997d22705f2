#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/wire/metadata.h"
#include "common/wire/policy.h"

namespace fieldcost::wire {

// The payloads inside signed metadata (wire.proto). For this folder's codecs only.

std::string EncodePayload(const RootMetadata& root);
std::string EncodePayload(const TimestampMetadata& timestamp);
std::string EncodePayload(const SnapshotMetadata& snapshot);
std::string EncodePayload(const PolicyMetadata& policy);

// kCorrupt for another role or a malformed payload, kUnsupported for another format version.
Result<RootMetadata> DecodeRoot(std::string_view untrusted_payload);
Result<TimestampMetadata> DecodeTimestamp(std::string_view untrusted_payload);
Result<SnapshotMetadata> DecodeSnapshot(std::string_view untrusted_payload);
Result<PolicyMetadata> DecodePolicy(std::string_view untrusted_payload);

}  // namespace fieldcost::wire
