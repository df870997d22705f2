// Commands that run another command several times: each run reads the same standard input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/tools/cli/cli_fixture.h"

namespace fieldcost::cli {
namespace {

using ::testing::HasSubstr;

constexpr char kLine[] = "the only line";

struct Repeated {
  std::string name;
  std::string options;   // passed to the shell unchanged
  std::string programs;  // after "--"
  std::size_t runs = 0;  // minimum number
};

class RepeatedInputTest : public CliTest, public ::testing::WithParamInterface<Repeated> {
 protected:
  // Runs the command line in a directory that contains `input.txt`.
  testing::ProcessResult Run(const std::string& before, const std::string& options,
                             const std::string& behind) {
    std::ofstream(work_.path() / "input.txt") << kLine << '\n';
    return Shell("cd '" + work_.path().string() + "' && " + before + " \"$fieldcost\" " +
                 GetParam().options + " " + options + " -- " + GetParam().programs + " " + behind);
  }
  static std::size_t Lines(const testing::ProcessResult& result) {
    std::size_t lines = 0;
    for (std::size_t at = result.output.find(kLine); at != std::string::npos;
         at = result.output.find(kLine, at + 1)) {
      ++lines;
    }
    return lines;
  }

 private:
  testing::TempDir work_;
};

TEST_P(RepeatedInputTest, EachRunReadsTheFileOnStandardInput) {
  const auto result = Run("", "", "< input.txt");
  EXPECT_GE(Lines(result), GetParam().runs) << result.output << result.errors;
}

TEST_P(RepeatedInputTest, EachRunReadsTheFileOfTheOption) {
  const auto result = Run("", "--input input.txt", "< /dev/null");
  EXPECT_GE(Lines(result), GetParam().runs) << result.output << result.errors;
}

TEST_P(RepeatedInputTest, RefusesAPipeAndRunsNothing) {
  const auto result = Run("cat input.txt |", "", "");
  EXPECT_EQ(result.exit_status, 64) << result.errors;
  EXPECT_THAT(result.errors, HasSubstr("standard input is a pipe"));
  EXPECT_THAT(result.errors, HasSubstr("--input FILE"));
  EXPECT_EQ(Lines(result), 0U) << result.output;
}

TEST_P(RepeatedInputTest, NamesAnInputThatIsNotThereAndRunsNothing) {
  const auto result = Run("", "--input missing.txt", "< input.txt");
  EXPECT_EQ(result.exit_status, 66) << result.errors;
  EXPECT_THAT(result.errors, HasSubstr("open the input missing.txt"));
  EXPECT_EQ(Lines(result), 0U) << result.output;
}

INSTANTIATE_TEST_SUITE_P(
    Commands, RepeatedInputTest,
    ::testing::Values(
        Repeated{"Measure", "measure --rounds 1 --output inherit", "cat", 3},
        Repeated{"Trace", "trace --runs 3 -o t.fct", "cat", 3},
        Repeated{"Idle", "idle --mode unprivileged --runs 3 -o i.fct", "cat", 3},
        Repeated{"ProbeRun", "probe run --local --runs 3", "cat", 3},
        Repeated{"ProbeCompare", "probe compare --runs 2 --show-output", "cat -- cat", 4},
        Repeated{"TreeCompare", "tree compare --runs 2 --show-output", "cat -- cat", 4}),
    [](const auto& given) { return given.param.name; });

}  // namespace
}  // namespace fieldcost::cli
