#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/volunteer/agent.h"
#include "common/draw/terminal.h"

namespace fieldcost::cli {

// Text output about batches: the next one, those of the log, and what `forget` does to them. Pure;
// external text is escaped.

// The name of a batch's state in JSON (`word`) and in text (`phrase`).
struct StateName {
  std::string_view word;    // "quarantined"
  std::string_view phrase;  // "refused"
};
StateName NameOf(spool::SpoolState state);

// The next batch with all its texts and numbers, except individual buckets.
std::string PreviewText(const volunteer::BatchDetails& batch, const std::string& agent_public_key,
                        const draw::Style& style);
// The same for a batch of the log.
std::string LoggedBatchText(const spool::LoggedBatch& logged, const volunteer::BatchDetails& batch,
                            const draw::Style& style);

// A table with one line per batch.
std::string LogText(const std::vector<spool::LoggedBatch>& log, const draw::Style& style);

// What `forget` is about to do.
struct ForgetPlan {
  std::uint64_t sent = 0;       // batches that the service has received, or may have
  std::uint64_t sent_rows = 0;  // rows in these batches
  std::uint64_t too_old = 0;    // batches that were sent but are no longer kept here
  std::uint64_t unsent = 0;     // batches that were not sent
  std::uint64_t pending_rows = 0;

  bool Empty() const { return sent == 0 && unsent == 0 && pending_rows == 0; }
};
ForgetPlan MakeForgetPlan(const std::vector<spool::LoggedBatch>& log,
                          const volunteer::AgentStatus& status);
std::string ForgetPlanText(const ForgetPlan& plan, const std::string& server);
// What `forget` has done.
std::string ForgetText(const upload::ForgetReport& report, const ForgetPlan& plan);

}  // namespace fieldcost::cli
