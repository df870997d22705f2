#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/crypto/ed25519.h"

namespace fieldcost::ingest {

inline constexpr char kPseudonymSecret[] = "pseudonym.secret";  // its file's and binding's name

// Maps an agent's public key to its id in the store: HMAC-SHA-256 under a secret of this server, so
// that the stored ledger alone does not reveal which agents exist. Immutable.
class Pseudonyms {
 public:
  // Reads the secret (64 hex digits, mode 0600) or creates one if there is no file.
  static Result<Pseudonyms> LoadOrCreate(const std::filesystem::path& path);

  // 32 bytes.
  std::string IdOf(const crypto::PublicKey& agent) const;

  // The 16-byte key under which an agent's contributions are hashed, different for each agent.
  std::string ContributionKeyOf(std::string_view agent_id) const;

  // Identifies the secret without revealing it; see Store::Bind().
  std::string Fingerprint() const;

 private:
  explicit Pseudonyms(std::string secret) : secret_(std::move(secret)) {}
  std::string secret_;
};

}  // namespace fieldcost::ingest
