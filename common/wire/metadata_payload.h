#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/wire/metadata.h"
#include "common/wire/policy.h"
#include "common/wire/wire_limits.h"
#include "common/wire/wire_message.h"

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

// The fields that every payload begins with, and `published_us` where the role has it.
template <typename Metadata, typename Payload>
void SetHead(const Metadata& metadata, std::string_view role, Payload& payload) {
  payload.set_role(std::string(role));
  payload.set_format_version(kMetadataFormatVersion);
  payload.set_version(metadata.version);
  payload.set_expires_us(metadata.expires.time_since_epoch().count());
  if constexpr (requires { metadata.published; }) {
    payload.set_published_us(metadata.published.time_since_epoch().count());
  }
}

template <typename Payload>
Status ParsePayload(std::string_view untrusted_payload, std::string_view role, Payload& payload) {
  FIELDCOST_TRY(ParseMessage(untrusted_payload, payload));
  if (payload.role() != role) {
    return Fail(ErrorCode::kCorrupt, "metadata of another role than {}", role);
  }
  if (payload.format_version() != kMetadataFormatVersion) {
    return Fail(ErrorCode::kUnsupported, "metadata format version {}, only {} is understood",
                payload.format_version(), kMetadataFormatVersion);
  }
  return {};
}

inline WallTime TimeOf(std::int64_t microseconds) {
  return WallTime(std::chrono::microseconds(microseconds));
}

}  // namespace fieldcost::wire
