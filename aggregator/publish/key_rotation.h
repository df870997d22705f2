#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/result.h"
#include "common/wire/metadata.h"

namespace fieldcost::publish {

// Locks keys and roots while they are changed or copied together. Waits.
Result<UniqueFd> LockKeys(const std::filesystem::path& data_dir);

enum class KeyRole { kTimestamp, kSnapshot, kPolicy, kRoot };

// "timestamp", ...; kInvalidArgument, listing them, for any other text.
Result<KeyRole> ParseKeyRole(std::string_view untrusted_text);
std::string_view Name(KeyRole role);

inline constexpr unsigned kMaxRootKeys = 16;

struct RotationOptions {
  std::filesystem::path data_dir;
  // The directory of root and policy keys, where new ones are also made. Empty: data_dir/keys.
  std::filesystem::path offline_dir = {};
  // The keys to sign with, as many as the newest root's threshold. Empty: the files root*.key of
  // offline_dir that hold a key of the newest root.
  std::vector<std::filesystem::path> root_key_files;
  // For the root role: how many new keys, and how many of them must sign from then on.
  unsigned root_keys = 1;
  unsigned root_threshold = 1;
  wire::OperatorStatement operated_by;  // of the next root
};

struct RotatedKeys {
  wire::RootMetadata root;                       // the new root
  std::vector<std::filesystem::path> key_files;  // newly made
};

// Makes a new key for the role, and the next root version, which names it as the role's only key,
// and puts both in place: the root first and the key last, so that KeyRing::LoadKey() can complete
// it after a crash in between. Clients follow from root to root. A running server signs with the
// new keys from its next publication on. A role without a key (policy) gets one. New root keys are
// keys/root-VERSION.key, or root-VERSION-1.key, ...; the files of the old ones are not touched.
// kNotFound: no root, or a file is missing; kUnauthenticated: not enough of the newest root's keys;
// kInvalidArgument: impossible numbers.
Result<RotatedKeys> RotateKeys(const RotationOptions& options, KeyRole role, const Clock& clock);

// Signs a root with the same keys for another kRootLifetime.
Result<RotatedKeys> RenewRoot(const RotationOptions& options, const Clock& clock);

}  // namespace fieldcost::publish
