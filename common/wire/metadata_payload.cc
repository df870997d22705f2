// The signed payloads of metadata (wire.proto has the field numbers; policy.cc has the fourth
// role). Times are microseconds since 1970-01-01 UTC, s64.
//
//   head      := role, format_version = 1, version:u64, expires_us
//   root      := head["root"], root_threshold:u32, root_key[32]*, timestamp_key[32]*,
//                snapshot_key[32]*, policy_key[32]*,
//                operator { name contact privacy }      ; UTF-8, none longer than wire_limits.h
//   timestamp := head["timestamp"], published_us, snapshot_version:u64, snapshot_sha256[32],
//                snapshot_bytes:u64, refresh_seconds:u32
//   snapshot  := head["snapshot"], published_us, store_sequence:u64, contribution_threshold:u32,
//                synthetic:bool, fragment_bits:u32, fragment { sha256[32] bytes:u64 rows:u64 }*
//                                                            ; columns of 2^fragment_bits
#include "common/wire/metadata_payload.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/base/text.h"
#include "common/crypto/sha256.h"
#include "common/wire/wire.pb.h"

namespace fieldcost::wire {
namespace {

constexpr std::string_view kRootRole = "root";
constexpr std::string_view kTimestampRole = "timestamp";
constexpr std::string_view kSnapshotRole = "snapshot";

using KeyColumn = google::protobuf::RepeatedPtrField<std::string>;

void AddKeys(const std::vector<crypto::PublicKey>& keys, KeyColumn& column) {
  for (const crypto::PublicKey& key : keys) column.Add(std::string(key.view()));
}

Result<std::vector<crypto::PublicKey>> ReadKeys(std::string_view name,
                                                const KeyColumn& untrusted_column, int at_least) {
  if (untrusted_column.size() < at_least ||
      static_cast<std::size_t>(untrusted_column.size()) > kMaxRootKeys) {
    return Fail(ErrorCode::kCorrupt, "{} {} keys, {} to {} are accepted", untrusted_column.size(),
                name, at_least, kMaxRootKeys);
  }
  std::vector<crypto::PublicKey> keys;
  for (const std::string& bytes : untrusted_column) {
    crypto::PublicKey key;
    if (bytes.size() != key.bytes.size()) {
      return Fail(ErrorCode::kCorrupt, "a {} key of {} bytes", name, bytes.size());
    }
    std::copy(bytes.begin(), bytes.end(), key.bytes.begin());
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) {
      return Fail(ErrorCode::kCorrupt, "a {} key is listed twice", name);
    }
    keys.push_back(key);
  }
  return keys;
}

}  // namespace

Status CheckOperator(const OperatorStatement& untrusted_statement) {
  struct Text {
    std::string_view name;
    std::string_view untrusted_text;
    std::size_t max_bytes;
  };
  for (const Text& text :
       {Text{"name", untrusted_statement.name, kMaxOperatorNameBytes},
        Text{"contact", untrusted_statement.contact, kMaxOperatorContactBytes},
        Text{"privacy text", untrusted_statement.privacy, kMaxOperatorPrivacyBytes}}) {
    if (text.untrusted_text.size() > text.max_bytes) {
      return Fail(ErrorCode::kInvalidArgument,
                  "the operator's {} has {} bytes, at most {} are accepted", text.name,
                  text.untrusted_text.size(), text.max_bytes);
    }
    if (EscapeControl(text.untrusted_text) == text.untrusted_text) continue;
    return Fail(ErrorCode::kInvalidArgument,
                "the operator's {} must be one line of UTF-8 without control characters, invisible "
                "characters and backslashes",
                text.name);
  }
  return {};
}

std::string EncodePayload(const RootMetadata& root) {
  proto::RootPayload payload;
  SetHead(root, kRootRole, payload);
  payload.set_root_threshold(root.root_threshold);
  AddKeys(root.root_keys, *payload.mutable_root_keys());
  AddKeys(root.timestamp_keys, *payload.mutable_timestamp_keys());
  AddKeys(root.snapshot_keys, *payload.mutable_snapshot_keys());
  AddKeys(root.policy_keys, *payload.mutable_policy_keys());
  payload.set_operator_name(root.operated_by.name);
  payload.set_operator_contact(root.operated_by.contact);
  payload.set_operator_privacy(root.operated_by.privacy);
  return SerializeMessage(payload);
}

std::string EncodePayload(const TimestampMetadata& timestamp) {
  proto::TimestampPayload payload;
  SetHead(timestamp, kTimestampRole, payload);
  payload.set_snapshot_version(timestamp.snapshot_version);
  payload.set_snapshot_sha256(timestamp.snapshot_sha256);
  payload.set_snapshot_bytes(timestamp.snapshot_bytes);
  payload.set_refresh_seconds(timestamp.refresh_seconds);
  return SerializeMessage(payload);
}

std::string EncodePayload(const SnapshotMetadata& snapshot) {
  proto::SnapshotPayload payload;
  SetHead(snapshot, kSnapshotRole, payload);
  payload.set_store_sequence(snapshot.store_sequence);
  payload.set_contribution_threshold(snapshot.contribution_threshold);
  payload.set_synthetic(snapshot.synthetic);
  payload.set_fragment_bits(snapshot.fragment_bits);
  for (const FragmentReference& fragment : snapshot.fragments) {
    FIELDCOST_CHECK(fragment.sha256.size() == crypto::kSha256Bytes);
    payload.mutable_fragment_sha256()->append(fragment.sha256);
    payload.add_fragment_bytes(fragment.size_bytes);
    payload.add_fragment_rows(fragment.row_count);
  }
  return SerializeMessage(payload);
}

Result<RootMetadata> DecodeRoot(std::string_view untrusted_payload) {
  proto::RootPayload payload;
  FIELDCOST_TRY(ParsePayload(untrusted_payload, kRootRole, payload));
  RootMetadata root{.version = payload.version(),
                    .expires = TimeOf(payload.expires_us()),
                    .root_threshold = payload.root_threshold(),
                    .operated_by = {.name = payload.operator_name(),
                                    .contact = payload.operator_contact(),
                                    .privacy = payload.operator_privacy()}};
  if (const Status status = CheckOperator(root.operated_by); !status) {
    return Fail(ErrorCode::kCorrupt, "{}", status.error().message);
  }
  FIELDCOST_ASSIGN(root.root_keys, ReadKeys("root", payload.root_keys(), 1));
  FIELDCOST_ASSIGN(root.timestamp_keys, ReadKeys("timestamp", payload.timestamp_keys(), 1));
  FIELDCOST_ASSIGN(root.snapshot_keys, ReadKeys("snapshot", payload.snapshot_keys(), 1));
  FIELDCOST_ASSIGN(root.policy_keys, ReadKeys("policy", payload.policy_keys(), 0));
  if (root.root_threshold == 0 || root.root_threshold > root.root_keys.size()) {
    return Fail(ErrorCode::kCorrupt, "a root threshold of {} with {} keys", root.root_threshold,
                root.root_keys.size());
  }
  return root;
}

Result<TimestampMetadata> DecodeTimestamp(std::string_view untrusted_payload) {
  proto::TimestampPayload payload;
  FIELDCOST_TRY(ParsePayload(untrusted_payload, kTimestampRole, payload));
  if (payload.snapshot_sha256().size() != crypto::kSha256Bytes) {
    return Fail(ErrorCode::kCorrupt, "a snapshot hash of {} bytes",
                payload.snapshot_sha256().size());
  }
  if (payload.snapshot_bytes() > kMaxMetadataBytes) {
    return Fail(ErrorCode::kTooLarge, "a snapshot of {} bytes, at most {} are accepted",
                payload.snapshot_bytes(), kMaxMetadataBytes);
  }
  return TimestampMetadata{.version = payload.version(),
                           .expires = TimeOf(payload.expires_us()),
                           .published = TimeOf(payload.published_us()),
                           .snapshot_version = payload.snapshot_version(),
                           .snapshot_sha256 = payload.snapshot_sha256(),
                           .snapshot_bytes = payload.snapshot_bytes(),
                           .refresh_seconds = payload.refresh_seconds()};
}

Result<SnapshotMetadata> DecodeSnapshot(std::string_view untrusted_payload) {
  proto::SnapshotPayload payload;
  FIELDCOST_TRY(ParsePayload(untrusted_payload, kSnapshotRole, payload));
  if (payload.fragment_bits() > kMaxFragmentBits) {
    return Fail(ErrorCode::kTooLarge, "2^{} fragments, at most 2^{} are accepted",
                payload.fragment_bits(), kMaxFragmentBits);
  }
  const std::size_t count = std::size_t{1} << payload.fragment_bits();
  if (payload.fragment_sha256().size() != count * crypto::kSha256Bytes ||
      static_cast<std::size_t>(payload.fragment_bytes_size()) != count ||
      static_cast<std::size_t>(payload.fragment_rows_size()) != count) {
    return Fail(ErrorCode::kCorrupt, "the list of fragments does not have 2^{} entries",
                payload.fragment_bits());
  }
  SnapshotMetadata snapshot{.version = payload.version(),
                            .expires = TimeOf(payload.expires_us()),
                            .published = TimeOf(payload.published_us()),
                            .store_sequence = payload.store_sequence(),
                            .contribution_threshold = payload.contribution_threshold(),
                            .synthetic = payload.synthetic(),
                            .fragment_bits = payload.fragment_bits()};
  for (std::size_t i = 0; i < count; ++i) {
    const int index = static_cast<int>(i);
    if (payload.fragment_bytes(index) > kMaxFragmentBytes ||
        payload.fragment_rows(index) > kMaxFragmentRows) {
      return Fail(ErrorCode::kTooLarge, "fragment {} has {} bytes and {} rows", i,
                  payload.fragment_bytes(index), payload.fragment_rows(index));
    }
    snapshot.fragments.push_back(
        {.sha256 = payload.fragment_sha256().substr(i * crypto::kSha256Bytes, crypto::kSha256Bytes),
         .size_bytes = payload.fragment_bytes(index),
         .row_count = payload.fragment_rows(index)});
  }
  return snapshot;
}

}  // namespace fieldcost::wire
