#include "tests/tools/report/page_check.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "common/base/file.h"
#include "tests/support/process.h"

namespace fieldcost::report {
namespace {

constexpr std::size_t kMaxGoldenBytes = 1 << 20;

std::string CheckPage(const std::string& page, const std::vector<std::string>& options) {
  std::vector<std::string> arguments = {"python3", FIELDCOST_TEST_DIR "/check_page.py"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  const testing::ProcessResult result =
      testing::RunProcess({.arguments = arguments, .input = page});
  EXPECT_EQ(result.exit_status, 0) << result.errors;
  return result.output;
}

}  // namespace

std::string PageProblems(const std::string& page) { return CheckPage(page, {}); }

std::string ScriptedPageProblems(const std::string& page) { return CheckPage(page, {"--scripts"}); }

std::string Golden(const std::string& name, const std::string& made) {
  const std::string path = std::string(FIELDCOST_TEST_DIR "/") + name;
  if (std::getenv("FIELDCOST_UPDATE_GOLDEN") != nullptr) {
    EXPECT_TRUE(WriteFileAtomically(path, made, 0644));
  }
  const auto golden = ReadFile(path, kMaxGoldenBytes);
  EXPECT_TRUE(golden) << name;
  return golden ? *golden : "";
}

}  // namespace fieldcost::report
