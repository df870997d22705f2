#pragma once

#include "agent/daemon/agent.h"
#include "agent/daemon/agent_keys.h"
#include "agent/daemon/spool_db.h"
#include "common/http/client.h"

namespace fieldcost::daemon {

// Takes back, one by one, all batches that the service may hold and whose bytes are still here. One
// whose withdrawal is refused stays as it is, with the reason. It
// may be ended at any moment and goes on where it stopped, since a repeated withdrawal has the same
// answer. Its owner holds the upload lock, and has emptied the spool of what is queued.
class Withdrawer {
 public:
  Withdrawer(const Profile& profile, const AgentConfig& config, const Clock& clock);

  // An Error is ours (database, key file), not the server's.
  Status WithdrawAll(SpoolDb& spool, StateDb& state, const ForgetProgress& progress,
                     ForgetReport& report);

 private:
  Status WithdrawOne(SpoolDb& spool, StateDb& state, http::Client& client,
                     const SpooledBatch& batch, ForgetReport& report);

  const AgentConfig* config_;
  const Profile* profile_;
  const Clock* clock_;
  AgentKeys keys_;
};

}  // namespace fieldcost::daemon
