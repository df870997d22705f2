#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/daemon/profile.h"
#include "agent/daemon/state_db.h"
#include "common/base/clock.h"
#include "common/wire/batch.h"

namespace fieldcost::daemon {

// A batch made of pending rows but not yet spooled.
struct BuiltBatch {
  wire::BatchContent content;
  std::string body;           // encoded and compressed
  std::size_t rows_used = 0;  // of the pending rows, from the first
};

// The longest run of `pending` from its start whose encoding has at most `max_bytes` (one row at
// least). Pure. REQUIRES: pending is not empty.
Result<BuiltBatch> BuildBatch(const std::vector<PendingRow>& pending, std::uint32_t policy_serial,
                              const stats::HardwareClass& hardware, std::size_t max_bytes);

// Whether pending rows should become a batch now. Pure.
bool IsBatchDue(std::size_t encoded_bytes, WallTime oldest, WallTime now,
                const AgentConfig& config);

// What all these rows would be in one batch.
wire::BatchContent ContentOf(const std::vector<PendingRow>& pending, std::size_t count,
                             std::uint32_t policy_serial, const stats::HardwareClass& hardware);

// Moves pending rows into immutable spooled batches, each in one transaction.
class Batcher {
 public:
  Batcher(const Profile& profile, const AgentConfig& config, const Clock& clock, StateDb& database);

  // Until nothing is due (with `flush`: until nothing is pending), or the spool is full.
  Status SpoolDue(bool flush);

  // The batch that SpoolDue(true) would make first; changes nothing.
  Result<std::optional<BuiltBatch>> Preview();

 private:
  Result<bool> SpoolOne(bool flush);

  const Profile* profile_;
  const AgentConfig* config_;
  const Clock* clock_;
  StateDb* database_;
  stats::HardwareClass hardware_;
};

}  // namespace fieldcost::daemon
