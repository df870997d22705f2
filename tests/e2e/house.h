#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/certificates.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::testing {

// A complete installation on loopback with the real programs: an aggregator, one user's agent,
// victims.
class HouseTest : public ::testing::Test {
 protected:
  HouseTest();

  // Starts the aggregator on any free port and writes its address to the agent's configuration.
  void StartAggregator();
  // Sends SIGTERM, which must end it cleanly. Returns everything that it printed.
  std::string StopAggregator();
  // Sends SIGKILL.
  void KillAggregator();
  // Publishes; waits for the line that reports this and returns it.
  std::string Publish();

  // Run `fieldcost`, `fieldcostd --once --flush`, or a victim under `fieldcost run`.
  ProcessResult Fieldcost(std::vector<std::string> arguments) const;
  ProcessResult Upload() const;
  ProcessResult RunVictim(const std::string& scenario) const;
  ProcessOptions Options(std::vector<std::string> arguments) const;

  // The published numbers of a function of the victim library, by metric; empty if none.
  boost::json::object Published(const std::string& symbol) const;
  // Fetches the whole catalogue; this must succeed.
  void SyncAll() const;

  // `selection`: additional lines of that section.
  void WriteAgentConfig(const std::string& url, const std::string& more = "",
                        const std::string& selection = "") const;
  std::filesystem::path home() const { return directory_.path() / "home"; }
  std::filesystem::path server() const { return directory_.path() / "server"; }
  std::filesystem::path aggregator_config() const { return server() / "aggregator.toml"; }
  const std::string& url() const { return url_; }
  const Certificates& certificates() const { return certificates_; }

 private:
  TempDir directory_;
  Certificates certificates_;
  std::string url_;
  std::unique_ptr<BackgroundProcess> aggregator_;
};

extern const std::string kFieldcost;
extern const std::string kFieldcostd;
extern const std::string kAggregator;
extern const std::string kVictim;

}  // namespace fieldcost::testing
