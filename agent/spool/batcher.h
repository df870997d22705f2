#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/settings/agent_config.h"
#include "agent/settings/paths.h"
#include "agent/spool/spool_db.h"
#include "agent/spool/state_db.h"
#include "common/base/clock.h"
#include "common/wire/batch.h"

namespace fieldcost::agent {

// A batch made of pending rows but not yet spooled.
struct BuiltBatch {
  wire::BatchContent content;
  std::string body;  // encoded and compressed
};

// Takes as many of the rows, from the first, as an encoding of at most `max_bytes` has room for
// (one row at least). Pure. REQUIRES: there are rows.
Result<BuiltBatch> BuildBatch(wire::BatchContent content, std::size_t max_bytes);

// The policy version in a batch: the version of the service's, the same for all agents that have
// it, or 0. Never the serial of this machine's policy file, which would link an agent's quarters.
std::uint32_t SentFieldPolicyVersion(const AgentConfig& config);

// Which pending rows become batches.
enum class SpoolWhat {
  kFull,  // as much as fills whole batches
  kAll,
};

// Moves pending rows into immutable spooled batches, each in one transaction. The rows of a batch
// are of one epoch, the earliest first, and leave under it: a new key never says that a row of the
// quarter before has been contributed to already.
class Batcher {
 public:
  Batcher(const AgentPaths& paths, const AgentConfig& config, const Clock& clock,
          StateDb& database);

  // Stops when the spool is full: sums then grow in place, which takes no more room.
  Status Spool(SpoolWhat what);

  // The batch that Spool(kAll) would make first; changes nothing.
  Result<std::optional<BuiltBatch>> Preview();

 private:
  Result<bool> SpoolOne(SpoolWhat what);
  // The pending rows, as if all of them were sent at once.
  Result<wire::BatchContent> PendingContent();
  // Leaves the rows of the next batch's epoch, and sets the class that they go under.
  Status ChooseEpoch(wire::BatchContent& content);

  const AgentPaths* paths_;
  const AgentConfig* config_;
  const Clock* clock_;
  StateDb* database_;
  stats::HardwareClass hardware_;  // of this machine now
};

}  // namespace fieldcost::agent
