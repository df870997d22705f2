#pragma once

#include <sys/stat.h>

#include <fstream>

#include "agent/probe/spool.h"
#include "tests/aggregator/probe_server/server_fixture.h"
#include "tests/support/binary_dir.h"
#include "tests/support/wait_until.h"

namespace fieldcost::testing {

// A user with a separate profile, programs with probe points, and a team's server, all real.
inline const std::string kFieldcost = FIELDCOST_BINARY_DIR "/bin/fieldcost";
inline const std::string kFieldcostd = FIELDCOST_BINARY_DIR "/bin/fieldcostd";
inline const std::string kEditor = FIELDCOST_BINARY_DIR "/victims/probe_editor";
inline const std::string kProbed = FIELDCOST_BINARY_DIR "/victims/probed";

class ProbeWayTest : public ServerTest {
 protected:
  ProcessOptions Options(std::vector<std::string> arguments, std::string input = "") const {
    arguments.insert(arguments.begin(), kFieldcost);
    return {.arguments = std::move(arguments),
            .environment = {{"FIELDCOST_HOME", user_.path().string()}},
            .unset = {"LD_PRELOAD", "TRACEPARENT"},
            .input = std::move(input)};
  }
  ProcessResult Fieldcost(std::vector<std::string> arguments, std::string input = "") const {
    return RunProcess(Options(std::move(arguments), std::move(input)));
  }
  void MustDo(std::vector<std::string> arguments, std::string input = "") const {
    const ProcessResult result = Fieldcost(std::move(arguments), std::move(input));
    ASSERT_EQ(result.exit_status, 0) << result.errors << result.output;
  }
  void LogIn() {
    MustDo({"probe", "login", url_, "--user", "alice", "--ca-file", (home() / "ca.pem").string()},
           std::string(kServerPassword) + "\n");
  }
  void Record(std::vector<std::string> options, std::vector<std::string> command) const {
    options.insert(options.begin(), {"probe", "run"});
    options.emplace_back("--");
    options.insert(options.end(), command.begin(), command.end());
    MustDo(std::move(options));
  }

  std::filesystem::path spool() const { return user_.path() / "state" / "probe.db"; }

  static std::uint64_t Number(const std::filesystem::path& database, const std::string& sql) {
    const auto opened = sqlite::Database::Open(database, sqlite::Database::Access::kRead);
    return opened ? opened->QueryInt(sql).value_or(0) : 0;
  }
  static std::uint64_t Hits(const std::filesystem::path& database) {
    return Number(database, "SELECT count(*) FROM hit");
  }

  boost::json::value Status() const {
    return boost::json::parse(Fieldcost({"--json", "probe", "status"}).output);
  }

  const TempDir user_;
};

}  // namespace fieldcost::testing
