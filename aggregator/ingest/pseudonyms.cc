#include "aggregator/ingest/pseudonyms.h"

#include "aggregator/ingest/server_secret.h"
#include "common/crypto/sha256.h"

namespace fieldcost::ingest {

Result<Pseudonyms> Pseudonyms::LoadOrCreate(const std::filesystem::path& path) {
  FIELDCOST_ASSIGN(std::string secret, LoadOrCreateSecret(path));
  return Pseudonyms(std::move(secret));
}

std::string Pseudonyms::IdOf(const crypto::PublicKey& agent) const {
  return crypto::HmacSha256(secret_, agent.view());
}

std::string Pseudonyms::ContributionKeyOf(std::string_view agent_id) const {
  return crypto::HmacSha256(
             secret_, "fieldcost contributions" + std::string(1, '\0') + std::string(agent_id))
      .substr(0, 16);
}

std::string Pseudonyms::Fingerprint() const {
  return crypto::HmacSha256(secret_, "fieldcost agent pseudonyms");
}

}  // namespace fieldcost::ingest
