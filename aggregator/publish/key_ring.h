#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/check.h"
#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/crypto/ed25519.h"
#include "common/wire/metadata.h"

namespace fieldcost::publish {

// Names of the key files.
inline constexpr char kTimestampKey[] = "timestamp.key";
inline constexpr char kSnapshotKey[] = "snapshot.key";
inline constexpr char kPolicyKey[] = "policy.key";
inline constexpr char kRootKey[] = "root.key";

// Suffix of a new key that waits next to the one in use until its root is signed (key_rotation.h).
inline constexpr char kNextKeySuffix[] = ".next";

// The online signing keys and the newest root that names them. Immutable.
class KeyRing {
 public:
  // On the very first start (no root in `root_dir`), makes keys_dir/{root,timestamp,snapshot,
  // policy}.key and signs root version 1, with the operator's statement, into root_dir/1. Later,
  // root and policy keys are neither needed nor read; see key_export.h. Warns if the newest root
  // has another statement. kUnauthenticated: the newest root does not name an online key;
  // kNotFound: an online key's file is missing.
  static Result<KeyRing> LoadOrCreate(const std::filesystem::path& keys_dir,
                                      const std::filesystem::path& root_dir,
                                      const wire::OperatorStatement& operated_by,
                                      const Clock& clock);

  // Returns the newest root on disk; it is trusted, since it is one of our own files. kNotFound if
  // there is none yet.
  static Result<wire::RootMetadata> NewestRoot(const std::filesystem::path& root_dir);

  // Returns every intact root on disk, newest first: signatures from before a change of keys remain
  // valid. Errors as NewestRoot().
  static Result<std::vector<wire::RootMetadata>> AllRoots(const std::filesystem::path& root_dir);

  // wire::RootFingerprint() of every root on disk, unordered: agents may have pinned any of them.
  static Result<std::vector<std::string>> RootFingerprints(const std::filesystem::path& root_dir);

  // Loads a key that the root names. Never creates one, since that would require a new root. If the
  // root names the waiting key instead of the key in use, a rotation was interrupted, and the
  // waiting key replaces the other. Errors as LoadOrCreate().
  static Result<crypto::PrivateKey> LoadKey(const std::filesystem::path& path,
                                            const std::vector<crypto::PublicKey>& trusted,
                                            std::uint64_t root_version);

  const wire::RootMetadata& root() const { return root_; }
  const crypto::PrivateKey& timestamp_key() const { return timestamp_key_; }
  const crypto::PrivateKey& snapshot_key() const { return snapshot_key_; }

 private:
  KeyRing(wire::RootMetadata root, const crypto::PrivateKey& timestamp_key,
          const crypto::PrivateKey& snapshot_key)
      : root_(std::move(root)), timestamp_key_(timestamp_key), snapshot_key_(snapshot_key) {}

  wire::RootMetadata root_;
  crypto::PrivateKey timestamp_key_;
  crypto::PrivateKey snapshot_key_;
};

// Calls `verify` with our roots, newest first, until one succeeds, since signatures from before a
// change of keys remain valid. Returns the newest root's error if none does. REQUIRES: there are
// roots.
template <typename Verify>
auto VerifyByAny(const std::vector<wire::RootMetadata>& roots, const Verify& verify) {
  FIELDCOST_CHECK(!roots.empty());
  auto metadata = verify(roots.front());
  for (std::size_t i = 1; !metadata && i < roots.size(); ++i) {
    if (auto older = verify(roots[i])) return older;
  }
  return metadata;
}

}  // namespace fieldcost::publish
