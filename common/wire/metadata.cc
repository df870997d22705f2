// Metadata as files and over HTTP (wire.proto). The payloads are in metadata_payload.cc.
//
//   SignedMetadata := payload:bytes signature { public_key[32] signature[64] }*
//   signed         := "fieldcost metadata v1" 0x00 payload
#include "common/wire/metadata.h"

#include <algorithm>
#include <span>

#include "common/base/text.h"
#include "common/wire/metadata_payload.h"
#include "common/wire/wire.pb.h"
#include "common/wire/wire_message.h"

namespace fieldcost::wire {
namespace {

constexpr std::string_view kMetadataDomain = "fieldcost metadata v1";

std::string SigningInput(std::string_view payload) {
  std::string input(kMetadataDomain);
  input += '\0';
  input += payload;
  return input;
}

std::string Seal(std::string payload, const std::vector<const crypto::PrivateKey*>& keys) {
  const std::string input = SigningInput(payload);
  proto::SignedMetadata file;
  file.set_payload(std::move(payload));
  for (const crypto::PrivateKey* key : keys) {
    proto::Signature& signature = *file.add_signatures();
    signature.set_public_key(std::string(key->public_key().view()));
    signature.set_signature(key->Sign(input));
  }
  return SerializeMessage(file);
}

Status ParseFile(std::string_view untrusted_bytes, proto::SignedMetadata& file) {
  if (untrusted_bytes.size() > kMaxMetadataBytes) {
    return Fail(ErrorCode::kTooLarge, "metadata of {} bytes, at most {} are accepted",
                untrusted_bytes.size(), kMaxMetadataBytes);
  }
  FIELDCOST_TRY(ParseMessage(untrusted_bytes, file));
  if (static_cast<std::size_t>(file.signatures_size()) > kMaxSignatures) {
    return Fail(ErrorCode::kTooLarge, "{} signatures, at most {} are accepted",
                file.signatures_size(), kMaxSignatures);
  }
  return {};
}

// A key counts once, regardless of how often it signed or is listed as trusted.
Status CheckSignatures(const proto::SignedMetadata& file,
                       const std::vector<crypto::PublicKey>& trusted_keys,
                       std::uint32_t threshold) {
  const std::string input = SigningInput(file.payload());
  std::vector<crypto::PublicKey> signers;
  for (const proto::Signature& untrusted_signature : file.signatures()) {
    const auto key = std::find_if(trusted_keys.begin(), trusted_keys.end(),
                                  [&](const crypto::PublicKey& trusted) {
                                    return trusted.view() == untrusted_signature.public_key();
                                  });
    if (key == trusted_keys.end()) continue;
    if (std::find(signers.begin(), signers.end(), *key) != signers.end()) continue;
    if (crypto::Verify(*key, input, untrusted_signature.signature())) signers.push_back(*key);
  }
  if (threshold == 0 || signers.size() < threshold) {
    return Fail(ErrorCode::kUnauthenticated, "signed by {} trusted keys, {} are needed",
                signers.size(), threshold);
  }
  return {};
}

// Checks signatures first, so that no unsigned payload is parsed.
template <typename Metadata>
Result<Metadata> Open(std::string_view untrusted_bytes,
                      const std::vector<crypto::PublicKey>& trusted_keys, std::uint32_t threshold,
                      Result<Metadata> (*decode)(std::string_view)) {
  proto::SignedMetadata file;
  FIELDCOST_TRY(ParseFile(untrusted_bytes, file));
  FIELDCOST_TRY(CheckSignatures(file, trusted_keys, threshold));
  return decode(file.payload());
}

template <typename Metadata>
Result<Metadata> Named(std::string_view name, Result<Metadata> result) {
  if (!result) return Within(std::move(result).error(), fmt::format("verifying {}", name));
  return result;
}

Result<RootMetadata> OpenPinnedRoot(std::string_view bytes) {
  proto::SignedMetadata file;
  FIELDCOST_TRY(ParseFile(bytes, file));
  FIELDCOST_ASSIGN(RootMetadata root, DecodeRoot(file.payload()));
  FIELDCOST_TRY(CheckSignatures(file, root.root_keys, root.root_threshold));
  return root;
}

}  // namespace

std::string SignRoot(const RootMetadata& root, const std::vector<crypto::PrivateKey>& keys) {
  std::vector<const crypto::PrivateKey*> signers;
  for (const crypto::PrivateKey& key : keys) signers.push_back(&key);
  return Seal(EncodePayload(root), signers);
}

std::string SignTimestamp(const TimestampMetadata& timestamp, const crypto::PrivateKey& key) {
  return Seal(EncodePayload(timestamp), {&key});
}

std::string SignSnapshot(const SnapshotMetadata& snapshot, const crypto::PrivateKey& key) {
  return Seal(EncodePayload(snapshot), {&key});
}

std::string SignPolicy(const PolicyMetadata& policy, const crypto::PrivateKey& key) {
  return Seal(EncodePayload(policy), {&key});
}

Result<RootMetadata> VerifyRoot(std::string_view untrusted_bytes,
                                const std::vector<crypto::PublicKey>& trusted_keys,
                                std::uint32_t threshold) {
  return Named("root metadata", Open(untrusted_bytes, trusted_keys, threshold, &DecodeRoot));
}

Result<TimestampMetadata> VerifyTimestamp(std::string_view untrusted_bytes,
                                          const RootMetadata& root) {
  return Named("timestamp metadata",
               Open(untrusted_bytes, root.timestamp_keys, 1, &DecodeTimestamp));
}

Result<SnapshotMetadata> VerifySnapshot(std::string_view untrusted_bytes,
                                        const RootMetadata& root) {
  return Named("snapshot metadata", Open(untrusted_bytes, root.snapshot_keys, 1, &DecodeSnapshot));
}

Result<PolicyMetadata> VerifyPolicy(std::string_view untrusted_bytes, const RootMetadata& root) {
  if (untrusted_bytes.size() > kMaxPolicyBytes) {
    return Fail(ErrorCode::kCorrupt, "a policy of {} bytes, at most {} are accepted",
                untrusted_bytes.size(), kMaxPolicyBytes);
  }
  return Named("policy", Open(untrusted_bytes, root.policy_keys, 1, &DecodePolicy));
}

Result<RootMetadata> VerifyPinnedRoot(std::string_view bytes) {
  return Named("pinned root metadata", OpenPinnedRoot(bytes));
}

}  // namespace fieldcost::wire
