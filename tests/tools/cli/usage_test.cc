#include <sstream>

#include "common/draw/terminal.h"
#include "tests/tools/cli/cli_fixture.h"
#include "tools/cli/cli_commands.h"

namespace fieldcost::cli {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ProcessResult;
using ::testing::StartsWith;

constexpr int kUsage = 64;
constexpr int kNotFound = 66;

// Adds the words of every command line, beginning with the program's name.
void AddLines(const command::Command& command, std::vector<std::string> words,
              std::vector<std::vector<std::string>>& lines) {
  lines.push_back(words);
  for (const command::Command& below : command.commands) {
    words.emplace_back(below.name);
    AddLines(below, words, lines);
    words.pop_back();
  }
}

TEST_F(CliTest, EveryCommandHasHelpWithAnExampleThatFitsATerminal) {
  std::vector<std::vector<std::string>> lines;
  AddLines(Program(), {}, lines);
  EXPECT_THAT(lines, AllOf(Contains(ElementsAre("top")), Contains(ElementsAre("agent", "log"))));
  for (std::vector<std::string>& line : lines) {
    line.emplace_back("--help");
    const std::string words = ::testing::PrintToString(line);
    const ProcessResult result = Cli(line);
    EXPECT_EQ(result.exit_status, 0) << words;
    EXPECT_THAT(result.output, AllOf(HasSubstr("Usage: fieldcost"), HasSubstr("Example"))) << words;
    EXPECT_THAT(result.errors, IsEmpty());
    std::istringstream text(result.output);
    for (std::string one; std::getline(text, one);) {
      EXPECT_LE(draw::PlainWidth(one), 80U) << words << ": " << one;
    }
  }
  EXPECT_THAT(Cli({"--help"}).output, HasSubstr("Exit status"));
}

TEST_F(CliTest, TheVersionIsPrinted) {
  const ProcessResult result = Cli({"--version"});
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_THAT(result.output, StartsWith("fieldcost "));
}

TEST_F(CliTest, WrongUsageIsOneLineAndStatus64) {
  const std::vector<std::vector<std::string>> commands = {
      {},
      {"no-such-command"},
      {"--no-such-option", "top"},
      {"top", "--no-such-option"},
      {"top", "--sort", "size"},
      {"top", "--limit", "many"},
      {"top", "--local", "--since", "yesterday"},
      {"top", "--since", "1h"},
      {"diff", "libz.so.1", "--local"},
      {"agent", "pause", "soon"},
      {"run", "--show", "--no-show", "--", "true"},
      {"top", "--color", "pink"},
      {"top", "--", "ls"},
      {"show"},
      {"show", "!x"},
      {"agent"},
      {"agent", "maybe"},
      {"agent", "explain"},
      {"agent", "session"},
      {"agent", "session", "maybe"},
      {"run"},
      {"run", "--"},
      {"run", "--pick", "libz.so.1", "--", "true"},
      {"idle", "shwo"},
      {"run", "--metrics", "space", "--", "true"}};
  for (const std::vector<std::string>& command : commands) {
    const ProcessResult result = Cli(command);
    EXPECT_EQ(result.exit_status, kUsage) << ::testing::PrintToString(command);
    EXPECT_THAT(result.output, IsEmpty());
    EXPECT_THAT(result.errors, StartsWith("fieldcost: "));
    EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1) << result.errors;
  }
}

TEST_F(CliTest, ControlCharactersOfAnArgumentAreEscapedInTheMessage) {
  const ProcessResult result = Cli({"show", "evil\x1b[2J\nname!"});
  EXPECT_EQ(result.exit_status, kUsage);
  EXPECT_EQ(result.errors.find('\x1b'), std::string::npos);
}

TEST_F(CliTest, WithoutACatalogueTopAndShowExplainHowToGetOne) {
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"top"}, {"show", "sqlite3_step"}}) {
    const ProcessResult result = Cli(command);
    EXPECT_EQ(result.exit_status, kNotFound);
    EXPECT_EQ(result.errors, "fieldcost: no catalogue yet: run `fieldcost sync`\n");
  }
}

TEST_F(CliTest, SyncWithoutAServerNamesTheFileToSetItInAndTheCommandThatJoinsOne) {
  const ProcessResult result = Cli({"sync"});
  EXPECT_EQ(result.exit_status, kUsage);
  EXPECT_THAT(result.errors, HasSubstr("agent.toml"));
  EXPECT_THAT(result.errors, HasSubstr("fieldcost agent join URL"));
}

TEST_F(CliTest, AnUnknownConfigurationKeyIsNamedAndNothingElseHappens) {
  WriteConfig("[aggregator]\nurll = \"https://localhost\"\n");
  const ProcessResult result = Cli({"sync"});
  EXPECT_EQ(result.exit_status, kUsage);
  EXPECT_THAT(result.errors, AllOf(HasSubstr("agent.toml"), HasSubstr("urll")));
  EXPECT_FALSE(std::filesystem::exists(home() / "catalog.db"));
}

TEST_F(CliTest, UntouchedProfileIsOffAndReadingWritesNothing) {
  const ProcessResult result = Cli({"agent", "status"});
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_THAT(result.output, HasSubstr("never switched on"));
  EXPECT_FALSE(std::filesystem::exists(home()));
}

TEST_F(CliTest, ModesAreRememberedUntilChanged) {
  for (const std::string mode : {"local", "on", "off"}) {
    EXPECT_EQ(Cli({"agent", mode}).exit_status, 0);
    EXPECT_THAT(Cli({"agent", "status", "--json"}).output, HasSubstr("\"mode\":\"" + mode + "\""));
  }
}

TEST_F(CliTest, ReportsThatThereIsNothingToSend) {
  EXPECT_EQ(Cli({"agent", "on"}).exit_status, 0);
  EXPECT_EQ(Cli({"agent", "preview"}).output, "nothing to send\n");
  EXPECT_EQ(Cli({"agent", "preview", "--json"}).output, "{\"batch\":null}\n");
  EXPECT_EQ(Cli({"agent", "preview", "--raw"}).exit_status, kNotFound);
}

}  // namespace
}  // namespace fieldcost::cli
