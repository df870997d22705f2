#include "tools/cli/common_options.h"

#include <string>
#include <utility>
#include <vector>

#include "common/shm/metric.h"
#include "common/stats/metric_traits.h"
#include "tools/cli/time_argument.h"

namespace fieldcost::cli {
namespace {

std::vector<std::string> MetricNames() {
  std::vector<std::string> names;
  for (const stats::MetricTraits& traits : stats::kMetrics) {
    if (traits.value_of != stats::ValueOf::kReason) names.emplace_back(traits.name);
  }
  return names;
}

Status CheckWeeks(std::string& untrusted_text) {
  if (analysis::ParseWeeks(untrusted_text)) return {};
  return Fail(ErrorCode::kInvalidArgument, "expected a day, or FROM..TO");
}

}  // namespace

Status CheckTime(std::string& untrusted_text) {
  FIELDCOST_TRY(ParsePastTime(untrusted_text, WallTime{}));
  return {};
}

command::Option ApiOperand() {
  return {.names = "api",
          .value = "API",
          .help = "Symbol, or soname!symbol",
          .completes = command::Completes::kSymbol,
          .required = true};
}

command::Option LocalOption() {
  return {.names = "--local", .help = "This machine's own measurements"};
}

command::Option TableOption(std::vector<std::string_view> excludes) {
  return {.names = "--table",
          .value = "FILE",
          .help = "A table written by `fieldcost measure --save` or `merge`",
          .completes = command::Completes::kFiles,
          .excludes = std::move(excludes)};
}

command::Option SinceOption() {
  return {.names = "--since",
          .value = "TIME",
          .help =
              "Only what was measured since then: 10m, 2h, 3d (ago), 2026-11-20, "
              "2026-11-20T10:30 (UTC)",
          .check = CheckTime,
          .needs = {"--local"}};
}

command::Option LibraryOption() {
  return {.names = "--library",
          .value = "SONAME",
          .help = "Only this library: soname, part of one, or a glob",
          .completes = command::Completes::kLibrary};
}

command::Option VersionsOption(std::vector<std::string_view> excludes) {
  return {.names = "--versions",
          .help = "One line per version of the library",
          .excludes = std::move(excludes)};
}

analysis::Versions VersionsOf(const command::Arguments& arguments) {
  return arguments.Has("--versions") ? analysis::Versions::kSingle : analysis::Versions::kJoined;
}

command::Option WaitingOption() {
  return {.names = "--waiting", .help = "Include functions that only wait"};
}

command::Option LimitOption(std::string_view help) {
  return {.names = "--limit",
          .value = "N",
          .help = help,
          .default_text = "20",
          .check = command::CheckNumber};
}

command::Option MetricOption(std::string_view help) {
  return {.names = "--metric", .value = "METRIC", .help = help, .choices = MetricNames()};
}

command::Option UrlOption() {
  return {
      .names = "--url", .value = "TEMPLATE", .help = "Link of an API, with its names filled in"};
}

void AddSelection(std::string_view metric_help, std::string_view default_metric,
                  command::Command& command) {
  // Not named --version, because that prints the program's own version.
  command.options.push_back({.names = "--of-version",
                             .value = "VERSION",
                             .help = "Only this version of the library (glob)",
                             .completes = command::Completes::kVersion});
  command.options.push_back({.names = "--class",
                             .value = "CLASS",
                             .help = "Only these hardware classes (glob), where classes are "
                                     "distinguished"});
  command.options.push_back(MetricOption(metric_help));
  command.options.back().default_text = default_metric;
  command.options.push_back({.names = "--week",
                             .value = "WEEK",
                             .help = "Only the week containing this day, or weeks FROM..TO "
                                     "(2026-10-01..2026-11-19)",
                             .check = CheckWeeks});
}

analysis::Selection SelectionOf(const command::Arguments& arguments) {
  analysis::Selection selection{.version = arguments.Text("--of-version"),
                                .hardware_class = arguments.Text("--class"),
                                .metric = analysis::ParseMetric(arguments.Text("--metric"))};
  if (arguments.Has("--week")) selection.weeks = analysis::ParseWeeks(arguments.Text("--week"));
  return selection;
}

}  // namespace fieldcost::cli
