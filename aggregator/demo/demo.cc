#include "aggregator/demo/demo.h"

#include <system_error>

#include "common/base/file.h"
#include "common/base/text.h"

namespace fieldcost::demo {
namespace {

constexpr std::uint32_t kMaxWeek = 100'000;  // the year 3886

// Relative to the directory, so that it can be moved as a whole.
constexpr char kAggregatorToml[] =
    R"(# Serves the synthetic data beside this file; see planted.json.
[server]
address = "127.0.0.1"
port = 8443
certificate = "certificate.pem"
private_key = "private_key.pem"
[store]
data_dir = "."
[publish]
interval_seconds = 0
)";

constexpr char kAgentToml[] = R"(# A profile that reads the synthetic catalogue: FIELDCOST_HOME.
[aggregator]
url = "https://localhost:8443"
ca_file = "{}"
)";

Status Check(const DemoOptions& options) {
  const FleetOptions& fleet = options.fleet;
  if (fleet.agents < kMinAgents || fleet.agents > kMaxAgents) {
    return Fail(ErrorCode::kInvalidArgument, "--agents must be {} to {}, not {}", kMinAgents,
                kMaxAgents, fleet.agents);
  }
  if (fleet.last_week < kWeeks || fleet.last_week > kMaxWeek) {
    return Fail(ErrorCode::kInvalidArgument, "--last-week must be {} to {}, not {}", kWeeks,
                kMaxWeek, fleet.last_week);
  }
  return {};
}

Status MakeEmptyDirectory(const std::filesystem::path& directory) {
  FIELDCOST_TRY(MakeDirectories(directory, 0700));
  std::error_code error;
  const bool empty = std::filesystem::is_empty(directory, error);
  if (error) return ErrnoError("list", directory, error.value());
  if (empty) return {};
  return Fail(ErrorCode::kAlreadyExists, "{} is not empty", directory.string());
}

// What it takes to serve the directory, and to read what is served.
Status WriteSettings(const std::filesystem::path& directory) {
  FIELDCOST_TRY(WriteFileAtomically(directory / "aggregator.toml", kAggregatorToml, 0644));
  const std::filesystem::path home = directory / "home";
  FIELDCOST_TRY(MakeDirectories(home, 0700));
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(directory, error);
  if (error) return ErrnoError("find", directory, error.value());
  const std::string certificate = (absolute.lexically_normal() / "certificate.pem").string();
  // A path is not always a text that TOML can hold; JSON's escapes are TOML's.
  std::string settings = kAgentToml;
  settings.replace(settings.find("\"{}\""), 4, QuoteJson(certificate));
  FIELDCOST_TRY(WriteFileAtomically(home / "agent.toml", settings, 0644));
  FIELDCOST_ASSIGN(const std::string root,
                   ReadFile(directory / "publish" / "root" / "1", wire::kMaxMetadataBytes));
  return WriteFileAtomically(home / "catalog_root", root, 0644);
}

}  // namespace

Result<DemoReport> MakeDemo(const DemoOptions& options, const Clock& clock) {
  FIELDCOST_TRY(Check(options));
  FIELDCOST_TRY(MakeEmptyDirectory(options.directory));
  const Fleet fleet(options.fleet);
  FIELDCOST_ASSIGN(auto publisher,
                   publish::Publisher::Open({.data_dir = options.directory,
                                             .contribution_threshold = kContributionThreshold},
                                            clock));
  FIELDCOST_ASSIGN(const auto store, store::Store::Open({.data_dir = options.directory}));
  DemoReport report;
  FIELDCOST_ASSIGN(report.filled, Fill(fleet, *store, options.directory / "keys"));
  FIELDCOST_ASSIGN(report.published, publisher.Publish(*store));
  FIELDCOST_TRY(WriteFileAtomically(options.directory / "planted.json",
                                    PlantedJson(options.fleet, report), 0644));
  FIELDCOST_TRY(WriteSettings(options.directory));
  if (!options.profile_file.empty()) {
    FIELDCOST_ASSIGN(const std::string profile, ProfileOf(fleet));
    FIELDCOST_TRY(WriteFileAtomically(options.profile_file, profile, 0600));
  }
  return report;
}

}  // namespace fieldcost::demo
