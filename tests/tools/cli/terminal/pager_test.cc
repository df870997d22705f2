#include "tools/cli/terminal/pager.h"

#include <fstream>

#include "tests/tools/cli/catalog_fixture.h"

namespace fieldcost::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using testing::ProcessResult;
using ::testing::StartsWith;

TEST(IsLongerTest, CountsLinesAsATerminalBreaksThem) {
  EXPECT_FALSE(IsLonger("one\ntwo\n", 3, 80));
  EXPECT_TRUE(IsLonger("one\ntwo\nthree\n", 3, 80));
  EXPECT_TRUE(IsLonger("one\n12345678901\n", 3, 10)) << "takes two";
  EXPECT_FALSE(IsLonger("one\n\x1b[38;5;196m1234567890\x1b[0m\n", 3, 10)) << "colour takes none";
  EXPECT_FALSE(IsLonger("one\nµµµµµµµµµµ\n", 3, 10));
  EXPECT_FALSE(IsLonger("", 1, 80));
}

class PagerTest : public CatalogCliTest {
 protected:
  void SetUp() override { PublishAndSync(testing::MakeRows(30, 1000)); }

  using Environment = std::vector<std::pair<std::string, std::string>>;
  ProcessResult OnTerminal(int rows, std::vector<std::string> arguments, Environment environment) {
    std::vector<std::string> command = {"python3", FIELDCOST_CLI_TEST_DIR "/in_terminal.py",
                                        std::to_string(rows), "200", FIELDCOST_PROGRAM};
    command.insert(command.end(), arguments.begin(), arguments.end());
    environment.insert(environment.end(), {{"TERM", "xterm"}, {"NO_COLOR", "1"}});
    return Start(command, environment);
  }
};

constexpr char kMarking[] = "sed 's/^/paged: /'";

TEST_F(PagerTest, OnlyWhatDoesNotFitATerminalIsPaged) {
  const Environment marking = {{"FIELDCOST_PAGER", kMarking}, {"PAGER", "false"}};
  const ProcessResult paged = OnTerminal(24, {"top", "--limit", "30"}, marking);
  EXPECT_THAT(paged.output,
              AllOf(MatchesRegex("paged: +TOTAL(.|\n)*"), HasSubstr("paged: catalogue:")));
  EXPECT_EQ(paged.exit_status, 0);
  EXPECT_THAT(OnTerminal(60, {"top", "--limit", "30"}, marking).output,
              MatchesRegex(" +TOTAL(.|\n)*"));
  EXPECT_THAT(OnTerminal(24, {"--no-pager", "top", "--limit", "30"}, marking).output,
              MatchesRegex(" +TOTAL(.|\n)*"));
  EXPECT_THAT(Cli({"top", "--limit", "30"}, marking).output, MatchesRegex(" +TOTAL(.|\n)*"));
  EXPECT_THAT(OnTerminal(24, {"top", "--limit", "30", "--csv"}, marking).output,
              StartsWith("api,"));
  EXPECT_THAT(OnTerminal(24, {"top", "--limit", "30", "--json"}, marking).output, StartsWith("{"));
}

TEST_F(PagerTest, TheEnvironmentsPagerIsSecondAndEmptyOrCatMeansNone) {
  EXPECT_THAT(OnTerminal(24, {"top"}, {{"PAGER", kMarking}}).output,
              MatchesRegex("paged: +TOTAL(.|\n)*"));
  for (const char* none : {"", "cat"}) {
    EXPECT_THAT(OnTerminal(24, {"top"}, {{"FIELDCOST_PAGER", none}, {"PAGER", kMarking}}).output,
                MatchesRegex(" +TOTAL(.|\n)*"));
  }
}

TEST_F(PagerTest, LessIsTheDefaultWithOptionsOfItsOwn) {
  const std::filesystem::path bin = home() / "bin";
  std::filesystem::create_directories(bin);
  std::ofstream(bin / "less") << "#!/bin/sh\necho \"less with $LESS\"\nexec cat\n";
  std::filesystem::permissions(bin / "less", std::filesystem::perms::owner_all);
  const std::string path = bin.string() + ":/usr/bin:/bin";
  EXPECT_THAT(OnTerminal(24, {"top"}, {{"PATH", path}}).output,
              StartsWith("less with FRSX\n  TOTAL"));
  EXPECT_THAT(OnTerminal(24, {"top"}, {{"PATH", path}, {"LESS", "S"}}).output,
              StartsWith("less with S\n  TOTAL"));
}

TEST_F(PagerTest, IgnoresThePagersExitStatus) {
  const ProcessResult early = OnTerminal(24, {"top"}, {{"PAGER", "head -n 1"}});
  EXPECT_EQ(early.exit_status, 0);
  EXPECT_THAT(early.output, AllOf(MatchesRegex(" +TOTAL(.|\n)*"), Not(HasSubstr("function_"))));
  EXPECT_EQ(OnTerminal(24, {"top"}, {{"PAGER", "cat; exit 3"}}).exit_status, 0);
  EXPECT_EQ(OnTerminal(24, {"top"}, {{"PAGER", "kill -TERM $$"}}).exit_status, 0);
}

TEST_F(PagerTest, APagerThatIsNotThereIsRemarkedUponAndTheTextWritten) {
  const ProcessResult result = OnTerminal(24, {"top"}, {{"PAGER", "no-such-pager-at-all"}});
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_THAT(result.output,
              AllOf(HasSubstr("fieldcost: the pager 'no-such-pager-at-all' cannot be run\n"),
                    HasSubstr("function_29")));
}

TEST_F(PagerTest, ThePagerGetsSignalsAsUsual) {
  // A pipeline in the pager must end when its reader ends, as in any shell.
  const ProcessResult result =
      OnTerminal(24, {"top"}, {{"PAGER", "yes | head -n 1; echo status $?"}});
  EXPECT_THAT(result.output, AllOf(HasSubstr("y\nstatus 0\n"), Not(HasSubstr("Broken pipe"))));
}

}  // namespace
}  // namespace fieldcost::cli
