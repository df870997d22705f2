#pragma once

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/binary_dir.h"
#include "tests/support/process.h"
#include "tests/support/run_files.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::testing {

inline const std::string kVictims = FIELDCOST_BINARY_DIR "/victims/";
inline const std::string kVictim = FIELDCOST_BINARY_DIR "/victims/victim";
inline const std::string kLibrary = FIELDCOST_BINARY_DIR "/lib/libfieldcost_preload.so";
inline constexpr char kAllOfVictim[] = "libvictim.so.1!*";

// Provides a state directory and runs programs with the library loaded.
class PreloadTest : public ::testing::Test {
 protected:
  PreloadTest() { MakeStateDirectory(state_dir_.path(), {.modules = {"libvictim.so.1"}}); }

  ProcessOptions Measured(std::vector<std::string> arguments, const std::string& pick = "") const {
    ProcessOptions options{.arguments = std::move(arguments)};
    options.environment = {{"LD_PRELOAD", kLibrary},
                           {"FIELDCOST_STATE_DIR", state_dir_.path().string()},
                           {"FIELDCOST_METRICS", "time,alloc"}};
    if (!pick.empty()) options.environment.emplace_back("FIELDCOST_PICK", pick);
    return options;
  }

  std::vector<RunFileContent> RunFiles() const { return ReadRunFiles(state_dir_.path() / "runs"); }

  TempDir state_dir_{kMemory};
};

}  // namespace fieldcost::testing
