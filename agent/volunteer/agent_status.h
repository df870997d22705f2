#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/runs/skip_counts.h"
#include "agent/settings/consent.h"
#include "common/base/clock.h"

namespace fieldcost::volunteer {

// Numbers of program runs since Agent::ForgetLocal(): drawn at random, or measured on request.
struct RunCounts {
  std::uint64_t drawn = 0;      // selected at random, as for the field
  std::uint64_t not_drawn = 0;  // not selected at random
  std::uint64_t asked = 0;      // measured only because the user asked
};

// Which programs were measured, and the cost of measuring so far. Except for those of runs, counts
// only grow.
struct MeasuringStatus {
  std::uint64_t run_files = 0;         // present now
  std::string policy_problem;          // why programs are not being measured; empty if they are
  std::vector<runs::SkipCount> skips;  // without zeros and runs that were not drawn
  RunCounts runs;
  WallTime times_since{};         // measurements are dated from this time on
  std::uint64_t overhead_ns = 0;  // the cost of measuring to the programs
  std::uint64_t timed_calls = 0;
  std::uint64_t untimed_calls = 0;  // counted only
  std::uint64_t dropped_picks = 0;  // dropped because measuring them would have cost too much
  std::uint64_t lost_calls = 0;     // counted in run files: no slot, record or disk space
  std::uint64_t refused_files = 0;
  std::uint64_t refused_cells = 0;      // with impossible sums or numbers of calls
  std::uint64_t private_rows_kept = 0;  // never sent because their module is not public
};

// Unsent data, and the fate of batches.
struct OutboxStatus {
  std::uint64_t pending_rows = 0;
  std::uint64_t pending_bytes = 0;  // encoded, before compression
  std::uint64_t spooled_batches = 0;
  std::uint64_t quarantined_batches = 0;
  std::uint64_t sent_batches = 0;
  std::uint64_t withdrawn_batches = 0;
  std::uint64_t dropped_batches = 0;  // never sent: too old or too many
  std::uint64_t dropped_rows = 0;
};

struct UploadStatus {
  std::string waiting_for;              // why nothing is uploaded now ("mains power"), or empty
  std::optional<WallTime> next_upload;  // the daemon's next attempt
  std::uint64_t failed_uploads = 0;     // consecutive
  std::string upload_problem;           // of the last attempt, if it failed
};

// The service's policy as applied by this agent.
struct FieldPolicyStatus {
  std::uint64_t version = 0;  // in force; 0 = built-in
  std::optional<WallTime> expires;
  std::string problem;  // why a downloaded policy is not in force
};

struct AgentStatus {
  settings::Consent consent;
  std::optional<WallTime> paused_until;  // see pause.h
  bool forbidden = false;                // the administrator does not permit collection
  std::string agent_public_key;          // hex; empty before the first batch
  MeasuringStatus measuring;
  OutboxStatus outbox;
  UploadStatus upload;
  FieldPolicyStatus field_policy;
};

}  // namespace fieldcost::volunteer
