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

namespace fieldcost::spool {

// A batch made of pending rows but not yet spooled.
struct BuiltBatch {
  wire::BatchContent content;
  std::string body;  // encoded and compressed
};

// Builds a batch of the first rows, as many as fit into an encoding of at most `max_bytes`, but at
// least one. Pure. REQUIRES: there are rows.
Result<BuiltBatch> BuildBatch(wire::BatchContent content, std::size_t max_bytes);

// The policy version to put into a batch: that of the service's policy, which is the same for all
// agents that have it, or 0. Never the serial of this machine's policy file, which would link an
// agent's quarters.
std::uint32_t SentFieldPolicyVersion(const settings::AgentConfig& config);

// Which pending rows become batches.
enum class SpoolWhat {
  kFull,  // only those that fill whole batches
  kAll,
};

// Moves pending rows into immutable spooled batches, each in one transaction. All rows of a batch
// belong to one epoch, the earliest first, and are sent under that epoch's key. So a new key never
// reveals that its agent contributed to a row in the previous quarter.
class Batcher {
 public:
  Batcher(const settings::AgentPaths& paths, const settings::AgentConfig& config,
          const Clock& clock, StateDb& database);

  // Stops when the spool is full; sums then grow in place, which takes no additional space.
  Status Spool(SpoolWhat what);

  // The batch that Spool(kAll) would make first; changes nothing.
  Result<std::optional<BuiltBatch>> Preview();

 private:
  Result<bool> SpoolOne(SpoolWhat what);
  // The pending rows, as if all of them were sent at once.
  Result<wire::BatchContent> PendingContent();
  // Keeps only the rows of the next batch's epoch, and sets the hardware class under which they are
  // sent.
  Status ChooseEpoch(wire::BatchContent& content);

  const settings::AgentPaths* paths_;
  const settings::AgentConfig* config_;
  const Clock* clock_;
  StateDb* database_;
  stats::HardwareClass hardware_;  // this machine's current class
};

}  // namespace fieldcost::spool
