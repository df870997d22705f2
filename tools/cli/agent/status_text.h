#pragma once

#include <string>
#include <vector>

#include "agent/reach/reach.h"
#include "agent/volunteer/agent.h"
#include "common/draw/terminal.h"
#include "tools/cli/agent/missing_parts.h"

namespace fieldcost::cli {

// Text output of `fieldcost agent ...`. Pure; external text is escaped.

struct StatusTextOptions {
  bool names = false;  // list the programs of each reason
  draw::Style style;
};

// "until 2026-11-21 03:10 UTC", or "until it is resumed".
std::string PauseEndText(WallTime paused_until);

// The service in use, or "none" and the one that an installer suggests. Not escaped.
std::string ServerText(const settings::AgentConfig& config);

std::string StatusText(const volunteer::AgentStatus& status, const settings::AgentPaths& paths,
                       const settings::AgentConfig& config, const StatusTextOptions& options);

// Each missing part, and the command that supplies it; empty if none is missing.
std::string MissingText(const std::vector<MissingPart>& missing);

// How many of these processes are measured, can be measured, or cannot be and why.
std::string ProgramsText(const std::vector<reach::ProcessReach>& processes,
                         const StatusTextOptions& options);

// "bash (3), vim": names with the number of their processes, the most frequent first.
std::string NamesText(const std::vector<reach::ProcessReach>& processes);

// "linked statically, so nothing can be loaded into it (detail)".
std::string ReasonText(const reach::Explanation& why);

}  // namespace fieldcost::cli
