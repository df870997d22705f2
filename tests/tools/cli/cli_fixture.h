#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::cli {

// Runs the real program with its own profile.
class CliTest : public ::testing::Test {
 protected:
  testing::ProcessResult Cli(const std::vector<std::string>& arguments,
                             std::vector<std::pair<std::string, std::string>> environment = {}) {
    std::vector<std::string> command = {FIELDCOST_PROGRAM};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return Start(std::move(command), std::move(environment));
  }

  // A shell command in which $fieldcost is the program.
  testing::ProcessResult Shell(const std::string& command) {
    return Start({"/bin/sh", "-c", command}, {{"fieldcost", FIELDCOST_PROGRAM}});
  }

  std::filesystem::path home() const { return directory_.path() / "home"; }

  void WriteConfig(const std::string& text) {
    std::filesystem::create_directories(home());
    std::ofstream(home() / "agent.toml") << text;
  }

  testing::ProcessResult Start(std::vector<std::string> arguments,
                               std::vector<std::pair<std::string, std::string>> environment) {
    environment.insert(environment.begin(),
                       {{"FIELDCOST_HOME", home().string()}, {"LC_ALL", "C.UTF-8"}});
    return testing::RunProcess(
        {.arguments = std::move(arguments),
         .environment = std::move(environment),
         .unset = {"NO_COLOR", "FIELDCOST_QUIET", "COLORTERM", "LD_PRELOAD"}});
  }

 private:
  testing::TempDir directory_;
};

}  // namespace fieldcost::cli
