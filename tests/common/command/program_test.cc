#include "common/command/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/command/arguments.h"

namespace fieldcost::command {
namespace {

using ::testing::HasSubstr;

struct Ended {
  int status = 0;
  std::string output;
  std::string errors;
};

Result<int> Fails(const Arguments&) { return Fail(ErrorCode::kNotFound, "no file \"a\x1b\""); }

Ended RunSample(std::vector<std::string> arguments) {
  const Command program{.name = "sample",
                        .summary = "A program",
                        .options = {{.names = "--three", .help = "End with 3"}},
                        .commands = {{.name = "fail", .summary = "Fail", .handler = Fails}},
                        .handler = [](const Arguments& given) -> Result<int> {
                          return given.Has("--three") ? 3 : 0;
                        }};
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const int status = RunProgram(program, "1.2", std::move(arguments));
  return {.status = status,
          .output = ::testing::internal::GetCapturedStdout(),
          .errors = ::testing::internal::GetCapturedStderr()};
}

TEST(RunProgramTest, ReturnsTheHandlersStatusSilently) {
  const std::vector<std::pair<std::vector<std::string>, int>> table = {{{}, 0}, {{"--three"}, 3}};
  for (const auto& [arguments, status] : table) {
    const Ended ended = RunSample(arguments);
    EXPECT_EQ(ended.status, status);
    EXPECT_EQ(ended.output + ended.errors, "");
  }
}

TEST(RunProgramTest, HelpAndVersionGoToStandardOutput) {
  const Ended help = RunSample({"--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_THAT(help.output, HasSubstr("Usage: sample"));
  const Ended version = RunSample({"--version"});
  EXPECT_EQ(version.status, 0);
  EXPECT_EQ(version.output, "sample 1.2\n");
  EXPECT_EQ(help.errors + version.errors, "");
}

TEST(RunProgramTest, AnErrorIsOneLineOfPlainTextAndItsStatus) {
  const Ended wrong = RunSample({"--four"});
  EXPECT_EQ(wrong.status, ExitStatus(ErrorCode::kInvalidArgument));
  EXPECT_THAT(wrong.errors, HasSubstr("sample: unknown option '--four'"));
  const Ended failed = RunSample({"fail"});
  EXPECT_EQ(failed.status, ExitStatus(ErrorCode::kNotFound));
  EXPECT_THAT(failed.errors, HasSubstr("sample: no file \"a"));
  EXPECT_EQ(failed.errors.find('\x1b'), std::string::npos);
  EXPECT_EQ(wrong.output + failed.output, "");
}

}  // namespace
}  // namespace fieldcost::command
