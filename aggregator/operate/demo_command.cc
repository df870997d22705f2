#include "aggregator/operate/demo_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "aggregator/demo/demo.h"
#include "aggregator/operate/outcome.h"
#include "common/base/log.h"
#include "common/base/text.h"

namespace fieldcost::aggregator {
namespace {

// Greater ones than can be are refused as what they are.
std::uint32_t Narrow(std::uint64_t number) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(number, std::numeric_limits<std::uint32_t>::max()));
}

void PrintNextSteps(const std::filesystem::path& untrusted_directory) {
  const std::string directory = EscapeControl(untrusted_directory.string());
  fmt::print(
      "SYNTHETIC: made-up data, and labelled so wherever it is shown. What was planted is in\n"
      "{0}/planted.json. To look at it, make a certificate, serve, and fetch:\n"
      "  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 \\\n"
      "    -subj /CN=localhost -addext subjectAltName=DNS:localhost \\\n"
      "    -keyout '{0}/private_key.pem' -out '{0}/certificate.pem'\n"
      "  fieldcost-aggregator serve --config '{0}/aggregator.toml' &\n"
      "  FIELDCOST_HOME='{0}/home' fieldcost sync --full\n"
      "and then, with the same FIELDCOST_HOME, fieldcost top or fieldcost show sqlite3_step.\n",
      directory);
}

}  // namespace

Status RunDemo(const CommandLine& line, const Clock& clock) {
  demo::DemoOptions options{
      .directory = line.directory, .fleet = {}, .profile_file = line.profile_file};
  if (line.seed) options.fleet.seed = *line.seed;
  if (line.agents) options.fleet.agents = Narrow(*line.agents);
  if (line.last_week) options.fleet.last_week = Narrow(*line.last_week);
  SetLogLevel(LogLevel::kError);  // where the root key lies is no matter here
  FIELDCOST_ASSIGN(const demo::DemoReport report, demo::MakeDemo(options, clock));
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
      .Add("directory", line.directory.string());
  Print(outcome, "made", line.json);
  if (!line.json) PrintNextSteps(line.directory);
  return {};
}

}  // namespace fieldcost::aggregator
