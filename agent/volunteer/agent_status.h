#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/runs/skip_counts.h"
#include "agent/settings/consent.h"
#include "common/base/clock.h"

namespace fieldcost::agent {

// Program runs drawn at random, or measured on request, since Agent::ForgetLocal().
struct RunCounts {
  std::uint64_t drawn = 0;      // selected at random, as for the field
  std::uint64_t not_drawn = 0;  // not selected at random
  std::uint64_t asked = 0;      // measured only because the user asked
};

// Which programs were measured, and what that has cost them so far. All counts but those of runs
// only grow.
struct MeasuringStatus {
  std::uint64_t run_files = 0;   // existing now
  std::string policy_problem;    // empty, or why programs are not being measured
  std::vector<SkipCount> skips;  // without zeros, and without runs that were not drawn
  RunCounts runs;
  WallTime times_since{};         // times of measurements are known from then on
  std::uint64_t overhead_ns = 0;  // what measuring has cost the programs
  std::uint64_t timed_calls = 0;
  std::uint64_t untimed_calls = 0;  // only counted
  std::uint64_t dropped_picks = 0;  // given up because measuring them would have cost too much
  std::uint64_t lost_calls = 0;     // counted by run files: no slot, record or disk space
  std::uint64_t refused_files = 0;
  std::uint64_t refused_cells = 0;      // with impossible sums or numbers of calls
  std::uint64_t private_rows_kept = 0;  // rows never sent because their module is not public
};

// Unsent data, and the fate of batches.
struct OutboxStatus {
  std::uint64_t pending_rows = 0;
  std::uint64_t pending_bytes = 0;  // encoded, before compression
  std::uint64_t spooled_batches = 0;
  std::uint64_t quarantined_batches = 0;
  std::uint64_t sent_batches = 0;
  std::uint64_t withdrawn_batches = 0;
  std::uint64_t dropped_batches = 0;  // never sent: too old, or too many
  std::uint64_t dropped_rows = 0;
};

struct UploadStatus {
  std::string waiting_for;              // empty, or why nothing is uploaded now: "mains power"
  std::optional<WallTime> next_upload;  // when the daemon tries next
  std::uint64_t failed_uploads = 0;     // in a row
  std::string upload_problem;           // of the last one, if it failed
};

// The service's policy as this agent follows it.
struct FieldPolicyStatus {
  std::uint64_t version = 0;  // in force; 0 = built-in
  std::optional<WallTime> expires;
  std::string problem;  // why a downloaded policy is not in force
};

struct AgentStatus {
  Consent consent;
  std::optional<WallTime> paused_until;  // see pause.h
  bool forbidden = false;                // the administrator does not permit collection
  std::string agent_public_key;          // hex; empty before the first batch
  MeasuringStatus measuring;
  OutboxStatus outbox;
  UploadStatus upload;
  FieldPolicyStatus field_policy;
};

}  // namespace fieldcost::agent
