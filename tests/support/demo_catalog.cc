#include "tests/support/demo_catalog.h"
#include "tests/support/binary_dir.h"

#include <signal.h>

#include <fstream>

namespace fieldcost::testing {
namespace {

constexpr char kAggregator[] = FIELDCOST_BINARY_DIR "/bin/fieldcost-aggregator";
constexpr char kFieldcost[] = FIELDCOST_BINARY_DIR "/bin/fieldcost";
constexpr std::chrono::seconds kLimit{120};

}  // namespace

DemoCatalog::DemoCatalog(std::filesystem::path directory, DemoCatalogOptions options)
    : directory_(std::move(directory)) {
  error_ = Make(options);
}

ProcessResult DemoCatalog::Fieldcost(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), kFieldcost);
  return RunProcess({.arguments = std::move(arguments),
                     .environment = {{"FIELDCOST_HOME", home().string()}},
                     .unset = {"LD_PRELOAD", "FIELDCOST_PICK", "FIELDCOST_METRICS"}});
}

std::string DemoCatalog::Make(const DemoCatalogOptions& options) const {
  const std::filesystem::path data = directory_ / "data";
  const ProcessResult made =
      RunProcess({.arguments = {kAggregator, "demo", "--data", data.string(), "--agents",
                                std::to_string(options.agents), "--seed",
                                std::to_string(options.seed), "--profile", profile().string()}},
                 kLimit);
  if (made.exit_status != 0) return "demo failed: " + made.errors;

  const std::filesystem::path config = directory_ / "aggregator.toml";
  std::ofstream(config) << "[server]\nport = 0\ncertificate = \"data/certificate.pem\"\n"
                           "private_key = \"data/private_key.pem\"\n[store]\ndata_dir = \"data\"\n"
                           "[publish]\ninterval_seconds = 0\n";
  BackgroundProcess server({.arguments = {kAggregator, "serve", "--config", config.string()}});
  std::string line;
  if (!server.WaitForLine("listening on https://", &line)) {
    server.Signal(SIGKILL);
    return "the server did not start: " + server.Wait().output;
  }
  const std::string url = line.substr(line.find("https://"));
  std::filesystem::create_directories(home());
  std::ofstream(home() / "agent.toml") << "[aggregator]\nurl = \"" << url << "\"\nca_file = \""
                                       << (data / "ca.pem").string() << "\"\n";
  std::filesystem::copy_file(data / "publish" / "root" / "1", home() / "catalog_root");
  const ProcessResult synced = Fieldcost({"sync", "--full"});
  server.Signal(SIGTERM);
  const ProcessResult served = server.Wait();
  if (synced.exit_status != 0) return "sync failed: " + synced.errors;
  return served.exit_status == 0 ? "" : "the server failed: " + served.output;
}

}  // namespace fieldcost::testing
