#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "agent/settings/paths.h"
#include "common/base/result.h"
#include "common/crypto/ed25519.h"
#include "common/wire/epoch.h"

namespace fieldcost::upload {

// Why a batch can be neither sent again nor taken back.
inline constexpr char kKeyIsGone[] = "the key that signed it is gone";

// The agent's Ed25519 keys, one per epoch, so that batches of two epochs cannot be linked:
// files agent_keys/EPOCH (0600) in the state directory. Not thread-safe; processes that create or
// remove keys hold the upload lock.
class AgentKeys {
 public:
  explicit AgentKeys(const settings::AgentPaths& paths);

  bool Has(wire::Epoch epoch) const;
  // Created at its first use.
  Result<crypto::PrivateKey> For(wire::Epoch epoch);
  // Removes the keys of all other epochs.
  Status Keep(const std::vector<wire::Epoch>& epochs);

 private:
  std::filesystem::path FileOf(wire::Epoch epoch) const;

  std::filesystem::path directory_;
};

}  // namespace fieldcost::upload
