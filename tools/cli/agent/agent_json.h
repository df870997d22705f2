#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/reach/imports.h"
#include "agent/reach/reach.h"
#include "agent/refresh/automatic_refresh.h"
#include "agent/volunteer/agent.h"
#include "tools/analysis/summary.h"
#include "tools/cli/agent/missing_parts.h"

namespace fieldcost::cli {

// The --json output of the `agent` commands, in the conventions of json_output.h.

struct StatusJsonOptions {
  std::vector<reach::ProcessReach> programs;  // running now
  bool session_active = false;
  std::vector<MissingPart> missing;
  refresh::RefreshStatus refresh;
};
std::string StatusJson(const volunteer::AgentStatus& status, const settings::AgentPaths& paths,
                       const settings::AgentConfig& config, const StatusJsonOptions& options);
// Describes a program, or a process if a pid is given.
std::string ExplanationJson(const reach::Explanation& why, std::optional<pid_t> pid,
                            const std::vector<analysis::CostSummary>& not_measured,
                            const reach::CallsWithoutPlt& without_plt);
// Of `sync --status`.
std::string RefreshJson(const refresh::RefreshStatus& status);
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
