// What an operator asks of a running service.
#include "aggregator/ingest/ingest.h"

namespace fieldcost::ingest {

std::string Ingest::IdOf(const crypto::PublicKey& agent) const { return pseudonyms_.IdOf(agent); }

Status Ingest::Revoke(const crypto::PublicKey& agent) {
  const std::string agent_id = IdOf(agent);
  // At once also for whoever is being answered: no batch of theirs is held after what the store
  // drops.
  admission_.Revoke(agent_id);
  return store_.Revoke(agent_id);
}

Status Ingest::ReloadTokens() { return admission_.ReloadTokens(); }

}  // namespace fieldcost::ingest
