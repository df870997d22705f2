#include "aggregator/demo/demo.h"

#include <fmt/format.h>

#include <chrono>
#include <system_error>

#include "common/base/empty_directory.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "common/http/http_server.h"
#include "common/http/issue_certificate.h"

namespace fieldcost::demo {
namespace {

constexpr std::uint32_t kMaxWeek = 100'000;  // the year 3886
constexpr std::chrono::days kCertificateLifetime{365};

// Relative to the directory, so that it can be moved as a whole.
constexpr char kAggregatorToml[] =
    R"(# Serves the synthetic data beside this file; see planted.json.
[server]
address = "127.0.0.1"
port = {}
certificate = "certificate.pem"
private_key = "private_key.pem"
[store]
data_dir = "."
[publish]
interval_seconds = 0
)";

constexpr char kAgentToml[] = R"(# A profile that reads the synthetic catalogue: FIELDCOST_HOME.
[aggregator]
url = "https://localhost:{}"
ca_file = {}
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

Status WriteCertificate(const std::filesystem::path& directory, const Clock& clock) {
  FIELDCOST_ASSIGN(const http::IssuedCertificate issued,
                   http::IssueCertificate({"localhost", "127.0.0.1"},
                                          std::chrono::floor<std::chrono::seconds>(clock.Now()),
                                          kCertificateLifetime));
  FIELDCOST_TRY(WriteFileAtomically(directory / "ca.pem", issued.authority, 0644));
  FIELDCOST_TRY(WriteFileAtomically(directory / "private_key.pem", issued.private_key, 0600));
  return WriteFileAtomically(directory / "certificate.pem", issued.certificate, 0644);
}

// Writes the settings for serving the directory, and for reading from that server.
Status WriteSettings(const std::filesystem::path& directory, std::uint16_t port) {
  FIELDCOST_TRY(
      WriteFileAtomically(directory / "aggregator.toml", fmt::format(kAggregatorToml, port), 0644));
  const std::filesystem::path home = directory / "home";
  FIELDCOST_TRY(MakeDirectories(home, 0700));
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(directory, error);
  if (error) return ErrnoError("find", directory, error.value());
  const std::string authority = (absolute.lexically_normal() / "ca.pem").string();
  // Not every path is valid text in TOML; JSON's escapes are also TOML's.
  const std::string settings = fmt::format(kAgentToml, port, QuoteJson(authority));
  FIELDCOST_TRY(WriteFileAtomically(home / "agent.toml", settings, 0644));
  FIELDCOST_ASSIGN(const std::string root,
                   ReadFile(directory / "publish" / "root" / "1", wire::kMaxMetadataBytes));
  return WriteFileAtomically(home / "catalog_root", root, 0644);
}

}  // namespace

Result<DemoReport> MakeDemo(const DemoOptions& options, const Clock& clock) {
  FIELDCOST_TRY(Check(options));
  DemoReport report;
  FIELDCOST_ASSIGN(report.port, http::CheckListen("127.0.0.1", options.port));
  FIELDCOST_TRY(MakeEmptyDirectory(options.directory, 0700));
  const Fleet fleet(options.fleet);
  FIELDCOST_ASSIGN(auto publisher,
                   publish::Publisher::Open({.data_dir = options.directory,
                                             .contribution_threshold = kContributionThreshold},
                                            clock));
  FIELDCOST_ASSIGN(const auto store, store::Store::Open({.data_dir = options.directory}));
  FIELDCOST_ASSIGN(report.filled, Fill(fleet, *store, options.directory / "keys"));
  FIELDCOST_ASSIGN(report.published, publisher.Publish(*store));
  FIELDCOST_TRY(WriteFileAtomically(options.directory / "planted.json",
                                    PlantedJson(options.fleet, report), 0644));
  FIELDCOST_TRY(WriteCertificate(options.directory, clock));
  FIELDCOST_TRY(WriteSettings(options.directory, report.port));
  if (!options.profile_file.empty()) {
    FIELDCOST_ASSIGN(const std::string profile, ProfileOf(fleet));
    FIELDCOST_TRY(WriteFileAtomically(options.profile_file, profile, 0600));
  }
  return report;
}

}  // namespace fieldcost::demo
