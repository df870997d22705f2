#pragma once

#include <string_view>
#include <vector>

#include "common/command/arguments.h"
#include "common/command/command.h"
#include "tools/analysis/api_cost.h"
#include "tools/analysis/row_selection.h"

namespace fieldcost::cli {

// Options shared by several commands.

// The metric that commands show by default.
inline constexpr std::string_view kDefaultMetric = "wall_time";

// Checks a time in the format of time_argument.h.
Status CheckTime(std::string& untrusted_text);

command::Option ApiOperand();   // "api", required
command::Option LocalOption();  // "--local"
// "--table": reads a lab table instead of the command's usual source.
command::Option TableOption(std::vector<std::string_view> excludes = {"--local"});
command::Option SinceOption();    // "--since", checked; needs --local
command::Option LibraryOption();  // "--library", a glob
// --versions, and its value.
command::Option VersionsOption(std::vector<std::string_view> excludes = {});
analysis::Versions VersionsOf(const command::Arguments& arguments);
// --waiting, for commands that rank costs.
command::Option WaitingOption();
command::Option LimitOption(std::string_view help);
command::Option MetricOption(std::string_view help);
command::Option UrlOption();

// --of-version, --class, --metric and --week.
void AddSelection(std::string_view metric_help, std::string_view default_metric,
                  command::Command& command);
analysis::Selection SelectionOf(const command::Arguments& arguments);

}  // namespace fieldcost::cli
