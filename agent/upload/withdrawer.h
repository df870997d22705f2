#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "agent/settings/agent_config.h"
#include "agent/spool/spool_db.h"
#include "agent/upload/agent_keys.h"
#include "agent/upload/epoch_connection.h"
#include "common/base/clock.h"
#include "common/base/result.h"

namespace fieldcost::upload {

// What Forget() did. If `stopped_by` is set, call it again: it continues where it stopped.
struct ForgetReport {
  std::uint32_t batches_withdrawn = 0;  // from the service's sums
  std::uint64_t rows_withdrawn = 0;
  std::uint32_t batches_deleted = 0;  // had never reached the service
  std::uint32_t batches_refused = 0;  // by the service, with `refused_reason` of the first
  std::uint32_t batches_too_old = 0;  // their bytes are no longer kept
  std::uint32_t batches_left = 0;     // not tried yet, because of `stopped_by`
  std::string refused_reason;
  std::optional<Error> stopped_by;
};

// Called after each batch.
using ForgetProgress = std::function<void(const ForgetReport& so_far)>;

// Withdraws, one by one, all batches that have stored bytes and that the service may hold. If a
// withdrawal is refused, its batch stays unchanged, with the reason. The process may be killed at
// any moment; the next one continues, since a repeated withdrawal gets the same response. The owner
// holds the upload lock and has removed queued batches from the spool.
class Withdrawer {
 public:
  Withdrawer(const settings::AgentPaths& paths, const settings::AgentConfig& config,
             const Clock& clock);

  // Returns an Error only for local failures (database, key file), not for the server's.
  Status WithdrawAll(spool::SpoolDb& spool, spool::StateDb& state, const ForgetProgress& progress,
                     ForgetReport& report);

 private:
  Status WithdrawOne(spool::SpoolDb& spool, spool::StateDb& state, EpochConnection& connection,
                     const spool::SpooledBatch& batch, ForgetReport& report);

  const settings::AgentConfig* config_;
  const settings::AgentPaths* paths_;
  const Clock* clock_;
  AgentKeys keys_;
};

}  // namespace fieldcost::upload
