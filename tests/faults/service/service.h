#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <memory>
#include <string>

#include "common/base/check.h"
#include "tests/aggregator/ingest/sender.h"
#include "tests/faults/network/fault_run.h"
#include "tests/faults/service/fleet.h"
#include "tests/support/certificates.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::faults {

// A fieldcost-aggregator process that is restarted repeatedly on one data directory.
class Service {
 public:
  Service() : certificates_(testing::MakeCertificates(dir_.path())) {}

  // Sets the data directory for later starts, with frequent checkpoints.
  void Configure(const std::filesystem::path& data_dir, unsigned probation_batches) {
    data_dir_ = data_dir;
    std::ofstream(dir_.path() / "aggregator.toml")
        << "[server]\nport = 0\nmax_connections_per_address = 0\n"
           "requests_per_minute_per_address = 0\ncertificate = \""
        << certificates_.certificate.string() << "\"\nprivate_key = \""
        << certificates_.key.string() << "\"\n[store]\ndata_dir = \"" << data_dir.string()
        << "\"\ncheckpoint_rows = 40\nwrite_buffer_mib = 8\nmin_free_mib = 0\n"
           "[ingest]\nbatches_per_agent_per_hour = 0\nprobation_hours = 0\n"
           "probation_batches = "
        << probation_batches << "\n[publish]\ninterval_seconds = 0\ncontribution_threshold = 1\n";
  }

  void Start() { process_ = std::make_unique<testing::BackgroundProcess>(Command()); }
  // Waits until the server listens; returns "" if it ended instead.
  std::string Url() {
    std::string line;
    if (!process_->WaitForLine("listening on ", &line)) return {};
    ingest::SetTestRootOf(data_dir_);
    return line.substr(line.find("https://"));
  }
  testing::BackgroundProcess& process() { return *process_; }
  testing::ProcessOptions Command(const std::string& word = {}) const {
    testing::ProcessOptions options;
    options.arguments = {FIELDCOST_AGGREGATOR, "--config",
                         (dir_.path() / "aggregator.toml").string()};
    if (!word.empty()) options.arguments.push_back(word);
    return options;
  }
  Fleet::Server Address(const std::string& url) const { return {url, certificates_.ca}; }
  // Starts the server once more, lets the agents finish and repeat their requests, stops it, and
  // expects that everything acknowledged is stored, bit for bit. Use with ASSERT_NO_FATAL_FAILURE.
  void ExpectExactSums(Fleet& fleet) {
    Start();
    const std::string url = Url();
    ASSERT_FALSE(url.empty()) << process().Wait().output;
    ASSERT_EQ(fleet.Finish(Address(url)), "");
    ASSERT_EQ(fleet.SendAgain(Address(url)), "");
    process().Signal(SIGTERM);
    const testing::ProcessResult ended = process().Wait();
    ASSERT_EQ(ended.exit_status, 0) << ended.output;
    const testing::ProcessResult verified = testing::RunProcess(Command("verify"));
    ASSERT_EQ(verified.exit_status, 0) << verified.output << verified.errors;
    std::string trouble;
    const Sums rows = StoredRows(data_dir_, fleet.batches(), trouble);
    ASSERT_EQ(trouble, "");
    ASSERT_EQ(rows, fleet.Expected());
  }

  const std::filesystem::path& directory() const { return dir_.path(); }
  const std::filesystem::path& data_dir() const { return data_dir_; }

 private:
  const testing::TempDir dir_;
  const testing::Certificates certificates_;
  std::filesystem::path data_dir_;
  std::unique_ptr<testing::BackgroundProcess> process_;
};

}  // namespace fieldcost::faults
