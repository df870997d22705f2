#include "tests/e2e/house.h"

#include <signal.h>

#include <fstream>

#include "common/catalog/catalog.h"
#include "tests/support/binary_dir.h"

namespace fieldcost::testing {

const std::string kFieldcost = FIELDCOST_BINARY_DIR "/bin/fieldcost";
const std::string kFieldcostd = FIELDCOST_BINARY_DIR "/bin/fieldcostd";
const std::string kAggregator = FIELDCOST_BINARY_DIR "/bin/fieldcost-aggregator";
const std::string kVictim = FIELDCOST_BINARY_DIR "/victims/victim";

HouseTest::HouseTest() {
  std::filesystem::create_directories(home());
  std::filesystem::create_directories(server());
  certificates_ = MakeCertificates(server());
  std::ofstream(aggregator_config())
      << "[server]\nport = 0\ncertificate = \"server.pem\"\nprivate_key = \"server.key\"\n"
         "[store]\ndata_dir = \"data\"\n"
         "[ingest]\nprobation_batches = 0\n"
         "[publish]\ninterval_seconds = 0\ncontribution_threshold = 1\n";
}

void HouseTest::StartAggregator() {
  aggregator_ = std::make_unique<BackgroundProcess>(
      ProcessOptions{.arguments = {kAggregator, "--config", aggregator_config().string()}});
  std::string line;
  ASSERT_TRUE(aggregator_->WaitForLine("listening on https://", &line));
  url_ = line.substr(line.find("https://"));
  WriteAgentConfig(url_);
  std::filesystem::copy_file(server() / "data" / "publish" / "root" / "1", home() / "catalog_root",
                             std::filesystem::copy_options::overwrite_existing);
}

std::string HouseTest::StopAggregator() {
  aggregator_->Signal(SIGTERM);
  const ProcessResult result = aggregator_->Wait();
  EXPECT_EQ(result.exit_status, 0) << result.output;
  aggregator_.reset();
  return result.output;
}

void HouseTest::KillAggregator() {
  aggregator_->Signal(SIGKILL);
  EXPECT_EQ(aggregator_->Wait().signal, SIGKILL);
  aggregator_.reset();
}

std::string HouseTest::Publish() {
  aggregator_->Signal(SIGUSR1);
  std::string line;
  EXPECT_TRUE(aggregator_->WaitForLine("published snapshot", &line));
  return line;
}

ProcessOptions HouseTest::Options(std::vector<std::string> arguments) const {
  return {.arguments = std::move(arguments),
          .environment = {{"FIELDCOST_HOME", home().string()}},
          .unset = {"LD_PRELOAD", "FIELDCOST_PICK", "FIELDCOST_METRICS"}};
}

ProcessResult HouseTest::Fieldcost(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), kFieldcost);
  return RunProcess(Options(std::move(arguments)));
}

ProcessResult HouseTest::Upload() const {
  return RunProcess(Options({kFieldcostd, "--once", "--flush"}));
}

ProcessResult HouseTest::RunVictim(const std::string& scenario) const {
  return RunProcess(Options({kFieldcost, "run", "--", kVictim, scenario}));
}

void HouseTest::SyncAll() const {
  const ProcessResult sync = Fieldcost({"sync", "--full"});
  ASSERT_EQ(sync.exit_status, 0) << sync.errors;
}

boost::json::object HouseTest::Published(const std::string& symbol) const {
  const ProcessResult shown = Fieldcost({"show", "libvictim.so.1!" + symbol, "--json"});
  if (shown.exit_status != 0) return {};
  const boost::json::value answer = boost::json::parse(shown.output);
  const boost::json::array& rows = answer.at("rows").as_array();
  EXPECT_EQ(rows.size(), 1U) << shown.output;
  boost::json::object metrics = rows.at(0).at("metrics").as_object();
  // The exact sums over all calls, which are shown only if few machines did not make most of them.
  const auto catalog = catalog::Catalog::Open(home() / "catalog.db");
  if (!catalog) return {};
  const auto published = catalog->Find(symbol, "libvictim.so.1");
  if (!published) return {};
  for (const stats::StatRow& row : *published) {
    if (row.key.hardware != stats::HardwareClass{}) continue;
    const stats::Bucket totals = row.histogram.Totals();
    boost::json::object& metric = metrics.at(stats::Name(row.key.metric)).as_object();
    metric["count"] = totals.count;
    metric["sum"] = std::to_string(stats::Low64(totals.sum));
    metric["sum_of_squares"] = std::to_string(stats::Low64(totals.sum_of_squares));
  }
  return metrics;
}

void HouseTest::WriteAgentConfig(const std::string& url, const std::string& more,
                                 const std::string& selection) const {
  // Every run picks all functions of the victim library and nothing else, and no machine counts as
  // busy.
  std::ofstream(home() / "agent.toml")
      << "[aggregator]\nurl = \"" << url << "\"\nca_file = \"" << certificates_.ca.string()
      << "\"\n[selection]\nselection_probability = 1.0\npicks_per_run = 512\n"
         "alloc_probability = 1.0\nmax_load_per_core_percent = 10000\n"
         "max_cpu_pressure_percent = 200\noverhead_percent = 0\nmax_programs = 0\n"
         "io_probability = 0\ncycles_probability = 0\n"
      << selection << "[modules]\nbuiltin_modules = false\nextra_modules = [\"libvictim.so.1\"]\n"
      << more;
}

}  // namespace fieldcost::testing
