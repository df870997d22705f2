#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/crypto/ed25519.h"
#include "common/wire/public_tree.h"  // where a service has these files
#include "common/wire/wire_limits.h"

namespace fieldcost::wire {

// Signed metadata after The Update Framework 1.0 (roles root, timestamp, snapshot), signed with
// Ed25519 over the raw payload bytes. Role text and version are inside the payload, so that one
// role's file can never pass for another's.

// Who operates a service, in the operator's own words, which a volunteer reads before joining.
// Each text may be empty; see CheckOperator().
struct OperatorStatement {
  std::string name;
  std::string contact;  // how to reach the operator: an address, a URL
  std::string privacy;  // the promise about the data
  bool operator==(const OperatorStatement&) const = default;
};

// kInvalidArgument: a text is too long (wire_limits.h), is not UTF-8, or has control or invisible
// characters or a backslash, which a terminal could not show as they are.
Status CheckOperator(const OperatorStatement& untrusted_statement);

// The keys of each role, and the operator. Signed by `threshold` keys of the root that
// a client already trusts.
struct RootMetadata {
  std::uint64_t version = 0;
  WallTime expires{};
  std::uint32_t root_threshold = 1;
  std::vector<crypto::PublicKey> root_keys;
  std::vector<crypto::PublicKey> timestamp_keys;  // any one of them suffices
  std::vector<crypto::PublicKey> snapshot_keys;
  std::vector<crypto::PublicKey> policy_keys;  // may be empty: then there is no policy (policy.h)
  OperatorStatement operated_by;
  bool operator==(const RootMetadata&) const = default;
};

// The only file that changes under a fixed name: it names the current snapshot.
struct TimestampMetadata {
  std::uint64_t version = 0;
  WallTime expires{};
  WallTime published{};
  std::uint64_t snapshot_version = 0;
  std::string snapshot_sha256;  // 32 raw bytes, of the signed snapshot file
  std::uint64_t snapshot_bytes = 0;
  std::uint32_t refresh_seconds = 0;  // until the next fetch; clients add jitter
  bool operator==(const TimestampMetadata&) const = default;
};

struct FragmentReference {
  std::string sha256;  // 32 raw bytes of the compressed fragment; its hex is the file name
  std::uint64_t size_bytes = 0;
  std::uint64_t row_count = 0;
  bool operator==(const FragmentReference&) const = default;
};

// The complete list of fragments of one epoch; 2^fragment_bits entries, index = fragment index.
struct SnapshotMetadata {
  std::uint64_t version = 0;
  WallTime expires{};
  WallTime published{};
  std::uint64_t store_sequence = 0;  // the store's state that was published
  std::uint32_t contribution_threshold = 0;
  bool synthetic = false;  // made-up data; shown wherever the data is shown
  unsigned fragment_bits = 0;
  std::vector<FragmentReference> fragments;
  bool operator==(const SnapshotMetadata&) const = default;
};

// Encode and sign, with each of the keys.
std::string SignRoot(const RootMetadata& root, const std::vector<crypto::PrivateKey>& keys);
std::string SignTimestamp(const TimestampMetadata& timestamp, const crypto::PrivateKey& key);
std::string SignSnapshot(const SnapshotMetadata& snapshot, const crypto::PrivateKey& key);

// Decode and verify. kUnauthenticated unless enough different trusted keys signed it; kCorrupt if
// it is malformed or of another role. Callers must check versions and expiry (common/catalog).
Result<RootMetadata> VerifyRoot(std::string_view untrusted_bytes,
                                const std::vector<crypto::PublicKey>& trusted_keys,
                                std::uint32_t threshold);
Result<TimestampMetadata> VerifyTimestamp(std::string_view untrusted_bytes,
                                          const RootMetadata& root);
Result<SnapshotMetadata> VerifySnapshot(std::string_view untrusted_bytes, const RootMetadata& root);

// Verifies a root by its own keys. This suffices for the pinned root, which was obtained securely.
Result<RootMetadata> VerifyPinnedRoot(std::string_view bytes);

}  // namespace fieldcost::wire
