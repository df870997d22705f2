// Executes an operator's commands in a running service: the part of Ingest about commands.
#include "aggregator/ingest/ingest.h"

namespace fieldcost::ingest {

std::string Ingest::IdOf(const crypto::PublicKey& agent) const { return pseudonyms_.IdOf(agent); }

Result<RevocationReport> Ingest::Revoke(const RevocationRequest& untrusted_request,
                                        std::uint32_t threshold,
                                        const store::Store::Progress& progress) {
  FIELDCOST_ASSIGN(
      const std::string agent_id,
      FindAgent(untrusted_request.agent, store_, pseudonyms_, abuse_log_.NamesAt(clock_.Now())));
  if (!untrusted_request.dry_run) {
    // Also takes effect immediately for requests in progress, so that no batch of the agent is
    // added after the store has dropped and withdrawn its batches.
    admission_.Revoke(agent_id);
    const MutexLock agent_lock(LockOf(agent_id));
  }
  return RevokeAgent(store_, agent_id, untrusted_request, threshold, progress);
}

Status Ingest::ReloadTokens() { return admission_.ReloadTokens(); }

}  // namespace fieldcost::ingest
