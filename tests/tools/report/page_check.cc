#include "tests/tools/report/page_check.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "common/base/file.h"
#include "tests/support/process.h"

namespace fieldcost::report {
namespace {

constexpr std::size_t kMaxGoldenBytes = 1 << 20;

}  // namespace

std::string PageProblems(const std::string& page) {
  const testing::ProcessResult result = testing::RunProcess(
      {.arguments = {"python3", FIELDCOST_TEST_DIR "/check_page.py"}, .input = page});
  EXPECT_EQ(result.exit_status, 0) << result.errors;
  return result.output;
}

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
