// `fieldcost-aggregator demo`: fills a directory with a synthetic fleet's costs, and publishes
// them.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "aggregator/demo/demo.h"
#include "aggregator/operate/operate_commands.h"
#include "aggregator/operate/outcome.h"
#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/text.h"

namespace fieldcost::aggregator {
namespace {

// Narrows without wrapping, so that numbers that are too large are still refused.
std::uint32_t Narrow(std::uint64_t number) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(number, std::numeric_limits<std::uint32_t>::max()));
}

void PrintNextSteps(const std::filesystem::path& untrusted_directory, std::uint16_t port) {
  const std::string directory = EscapeControl(untrusted_directory.string());
  fmt::print(
      "SYNTHETIC: made-up data, labelled as such wherever it is shown.\n"
      "{0}/planted.json lists what was planted in it.\n"
      "To view it, serve it on port {1} of this machine, and fetch it:\n"
      "  fieldcost-aggregator serve --config '{0}/aggregator.toml' &\n"
      "  FIELDCOST_HOME='{0}/home' fieldcost sync --full\n"
      "and then, with the same FIELDCOST_HOME, fieldcost top or\n"
      "fieldcost show sqlite3_step.\n",
      directory, port);
}

Result<int> MakeDemo(const command::Arguments& arguments) {
  const bool json = arguments.Has("--json");
  const std::filesystem::path directory = arguments.Text("--data");
  demo::DemoOptions options{
      .directory = directory, .fleet = {}, .profile_file = arguments.Text("--profile")};
  options.fleet.seed = arguments.Number("--seed").value_or(options.fleet.seed);
  if (const auto agents = arguments.Number("--agents")) options.fleet.agents = Narrow(*agents);
  if (const auto week = arguments.Number("--last-week")) options.fleet.last_week = Narrow(*week);
  if (const auto port = arguments.Number("--port")) {
    options.port = static_cast<std::uint16_t>(*port);
  }
  SetLogLevel(LogLevel::kError);  // the warning about the root key is irrelevant here
  FIELDCOST_ASSIGN(const demo::DemoReport report, demo::MakeDemo(options, SystemClock()));
  Outcome outcome;
  outcome.Add("synthetic", true)
      .Add("seed", options.fleet.seed)
      .Add("agents", std::uint64_t{options.fleet.agents})
      .Add("last_week", std::uint64_t{options.fleet.last_week})
      .Add("batches", report.filled.batches)
      .Add("rows", report.filled.rows)
      .Add("published_rows", report.published.rows)
      .Add("withheld", report.published.withheld)
      .Add("version", report.published.version)
      .Add("directory", directory.string())
      .Add("port", std::uint64_t{report.port});
  Print(outcome, "made", json);
  if (!json) PrintNextSteps(directory, report.port);
  return 0;
}

}  // namespace

command::Command DemoCommand() {
  return {
      .name = "demo",
      .summary = "Fill an empty directory with a synthetic fleet's costs and publish them",
      .help =
          R"(All of it is labelled as synthetic. No configuration is needed: one is written to DIR.

Example:
  fieldcost-aggregator demo --data demo --seed 7)",
      .options = {{.names = "--data",
                   .value = "DIR",
                   .help = "The directory to make",
                   .completes = command::Completes::kFiles,
                   .check = command::CheckNotEmpty,
                   .required = true},
                  {.names = "--seed",
                   .value = "N",
                   .help = "Random seed; the same seed gives the same costs [1]",
                   .check = command::CheckNumber},
                  {.names = "--agents",
                   .value = "N",
                   .help = "How many machines, 20 to 20000 [480]",
                   .check = command::CheckNumber},
                  {.names = "--last-week",
                   .value = "N",
                   .help = "The last of the 12 weeks, counted from 1970-01-01 [2967]",
                   .check = command::CheckNumber},
                  {.names = "--port",
                   .value = "N",
                   .help = "The port to serve it on, written to its configuration [a free one]",
                   .check = command::CheckPort},
                  {.names = "--profile",
                   .value = "FILE",
                   .help = "Also write the profile of another machine, too slow in two functions, "
                           "for fieldcost check",
                   .completes = command::Completes::kFiles,
                   .check = command::CheckNotEmpty}},
      .handler = MakeDemo,
      .without = {"--config", "--check-config"}};
}

}  // namespace fieldcost::aggregator
