#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/reach/imports.h"
#include "agent/reach/reach.h"
#include "agent/volunteer/agent.h"
#include "common/base/error.h"
#include "common/catalog/catalog.h"
#include "common/catalog/catalog_sync.h"
#include "tools/analysis/summary.h"
#include "tools/cli/costs/source.h"

namespace fieldcost::cli {

// The --json output: one JSON object and a newline. Names are stable. Numbers that may exceed 2^53
// (sums, sums of squares) are decimal strings. Built with json_parts.h.

std::string ErrorJson(const Error& error);
std::string RowsJson(const std::vector<analysis::CostSummary>& summaries,
                     const std::optional<catalog::Freshness>& freshness,
                     const std::optional<LocalRuns>& runs = std::nullopt,
                     std::string_view own_source = "local");
std::string SyncJson(const catalog::SyncReport& report, const catalog::Freshness& freshness);
struct StatusJsonOptions {
  std::vector<reach::ProcessReach> programs;  // running now
  bool session_active = false;
};
std::string StatusJson(const volunteer::AgentStatus& status, const settings::AgentPaths& paths,
                       const settings::AgentConfig& config, const StatusJsonOptions& options);
// Where a function was measured.
struct FunctionSeen {
  bool here = false;   // on this machine
  bool field = false;  // in the catalogue
};
// Keys are as in names::ShownName().
std::string FunctionsJson(const std::map<std::string, FunctionSeen>& functions);
// Describes a program, or a process if a pid is given.
std::string ExplanationJson(const reach::Explanation& why, std::optional<pid_t> pid,
                            const std::vector<analysis::CostSummary>& not_measured,
                            const reach::CallsWithoutPlt& without_plt);
std::string PreviewJson(const std::optional<volunteer::BatchDetails>& batch,
                        const std::string& agent_public_key);
std::string LogJson(const std::vector<spool::LoggedBatch>& log);
std::string LoggedBatchJson(const spool::LoggedBatch& logged, const volunteer::BatchDetails& batch);
std::string ForgetJson(const upload::ForgetReport& report);
std::string ForgetLocalJson(std::uint64_t rows_erased);
std::string ModeJson(settings::Mode mode);
// nullopt: not paused, or the pause has ended.
std::string PauseJson(std::optional<WallTime> paused_until);
// `apis`: the number of APIs on the page.
std::string ViewJson(const std::string& url, std::size_t apis);

}  // namespace fieldcost::cli
