#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/daemon/agent.h"
#include "common/base/error.h"
#include "common/catalog/catalog.h"
#include "common/catalog/sync.h"
#include "tools/report/cost_table.h"

namespace fieldcost::cli {

// What --json prints: one JSON object and a newline. Names are stable. Numbers that may pass 2^53
// (sums, sums of squares) are decimal strings. The only file that sees Boost.JSON.

std::string ErrorJson(const Error& error);
std::string RowsJson(const std::vector<report::CostSummary>& summaries,
                     const std::optional<catalog::Freshness>& freshness);
std::string SyncJson(const catalog::SyncReport& report, const catalog::Freshness& freshness);
std::string StatusJson(const daemon::AgentStatus& status, const daemon::Profile& profile,
                       const daemon::AgentConfig& config);
std::string PreviewJson(const std::optional<daemon::PendingBatch>& batch,
                        const std::string& agent_public_key);
std::string ModeJson(daemon::Mode mode);

}  // namespace fieldcost::cli
