// The aggregator's command line: accepted words and error messages.
#include "aggregator/operate/operate_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <span>
#include <sstream>

#include "common/command/help_text.h"
#include "common/draw/terminal.h"

namespace fieldcost::aggregator {
namespace {

using command::Answer;
using command::Call;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const command::Command& TestProgram() {
  static const command::Command program =
      Program({.name = "serve",
               .summary = "Serve",
               .help = "Example: none",
               .handler = [](const command::Arguments&) -> Result<int> { return 42; }});
  return program;
}

Result<std::string> NoCheck(const Config&) { return std::string(); }

std::variant<Call, Answer> Parse(std::vector<std::string> arguments) {
  return command::Parse(TestProgram(), "1.2.3", std::move(arguments));
}

Call MustParse(std::vector<std::string> arguments) {
  auto parsed = Parse(std::move(arguments));
  const auto* answer = std::get_if<Answer>(&parsed);
  EXPECT_EQ(answer, nullptr) << answer->errors;
  return answer == nullptr ? std::get<Call>(parsed) : Call();
}

TEST(ProgramTest, AcceptsTheConfigurationBeforeOrAfterEveryCommand) {
  const std::vector<std::vector<std::string>> cases = {
      {},
      {"serve"},
      {"verify"},
      {"recover"},
      {"publish"},
      {"compact"},
      {"expire", "--before", "2900"},
      {"revoke", "--agent", "k"},
      {"backup", "--to", "d"},
      {"restore", "--from", "d"},
      {"policy", "sign", "file"},
      {"policy", "show"},
      {"keys", "show"},
      {"keys", "rotate", "root"},
      {"keys", "renew"},
      {"keys", "export-offline", "root", "--to", "d"}};
  for (std::vector<std::string> arguments : cases) {
    const std::string words = ::testing::PrintToString(arguments);
    const std::string name = arguments.empty()          ? "fieldcost-aggregator"
                             : arguments[0] == "policy" ? arguments[1]
                             : arguments[0] == "keys"   ? arguments[1]
                                                        : arguments[0];
    arguments.insert(arguments.end(), {"--config", "file.toml"});
    const Call call = MustParse(arguments);
    ASSERT_NE(call.command, nullptr) << words;
    EXPECT_EQ(call.command->name, name);
    EXPECT_EQ(call.arguments.Text("--config"), "file.toml");
    std::rotate(arguments.begin(), arguments.end() - 2, arguments.end());
    EXPECT_EQ(MustParse(arguments).command, call.command) << words;
    arguments.push_back("--json");
    EXPECT_TRUE(MustParse(arguments).arguments.Has("--json")) << words;
    arguments.emplace_back("surplus");
    arguments.emplace_back("surplus");
    EXPECT_TRUE(std::holds_alternative<Answer>(Parse(arguments))) << words;
  }
}

TEST(ProgramTest, EachCommandHasHelpWithAnExampleThatFitsATerminal) {
  std::vector<const command::Command*> path;
  unsigned commands = 0;
  const std::function<void(const command::Command&)> look = [&](const command::Command& command) {
    path.push_back(&command);
    const std::string help = command::HelpText(path);
    EXPECT_THAT(help, HasSubstr("Usage: " + command::NameOf(path) + ' '));
    if (command.handler) {
      EXPECT_THAT(help, HasSubstr("Example")) << command.name;
    }
    EXPECT_EQ(command.handler == nullptr, !command.commands.empty() && path.size() > 1);
    std::istringstream lines(help);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(draw::PlainWidth(line), 80U) << command::NameOf(path) << ": " << line;
    }
    for (const command::Command& below : command.commands) {
      EXPECT_THAT(help, HasSubstr("\n  " + std::string(below.name) + ' '));
      look(below);
    }
    path.pop_back();
    ++commands;
  };
  look(TestProgram());
  EXPECT_EQ(commands, 26U);
}

TEST(ProgramTest, WithoutACommandItServes) {
  EXPECT_EQ(MustParse({"--config", "c"}).command->handler({}).value(), 42);
}

TEST(ProgramTest, OptionsAndOperandsReachTheirPlaces) {
  const Call rotate = MustParse({"keys", "rotate", "--config=c", "root", "--root-key", "a",
                                 "--root-key=b", "--keys", "3", "--threshold=2"});
  EXPECT_EQ(rotate.arguments.Text("role"), "root");
  EXPECT_THAT(rotate.arguments.Texts("--root-key"), ElementsAre("a", "b"));
  EXPECT_EQ(rotate.arguments.Number("--keys"), 3U);
  EXPECT_EQ(rotate.arguments.Number("--threshold"), 2U);
  EXPECT_EQ(MustParse({"keys", "rotate", "root"}).arguments.Number("--keys"), 1U);
  const Call backup =
      MustParse({"--config", "c", "backup", "--without-signing-keys", "--to", "/srv/x", "--json"});
  EXPECT_EQ(backup.arguments.Text("--to"), "/srv/x");
  EXPECT_TRUE(backup.arguments.Has("--without-signing-keys"));
  EXPECT_TRUE(backup.arguments.Has("--json"));
  EXPECT_EQ(MustParse({"policy", "sign", "p", "--config", "c"}).arguments.Text("policy"), "p");
  const Call revoke = MustParse({"revoke", "k", "--withdraw", "--dry-run", "--config", "c"});
  EXPECT_EQ(revoke.arguments.Text("agent"), "k");
  EXPECT_TRUE(revoke.arguments.Has("--withdraw") && revoke.arguments.Has("--dry-run"));
  for (const char* week : {"2788", "2023-06-08", "2023-06-14"}) {
    const Call expire = MustParse({"expire", "--before", week, "--config", "c"});
    EXPECT_EQ(expire.arguments.Number("--before"), 2788U) << week;
    EXPECT_FALSE(expire.arguments.Has("--yes"));
  }
  EXPECT_TRUE(MustParse({"expire", "--yes", "--before", "1"}).arguments.Has("--yes"));
}

TEST(ProgramTest, TheConfigurationMustBeNamed) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"verify"}, {"verify", "--check-config"}}) {
    const Result<int> status = aggregator::Run(MustParse(words), NoCheck);
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(status.error().message, HasSubstr("--config FILE is missing"));
  }
}

TEST(ProgramTest, ReportsUsageErrors) {
  const struct {
    std::vector<std::string> arguments;
    const char* message;
  } cases[] = {
      {{"--config"}, "--config needs a value"},
      {{"--config="}, "--config: invalid value ''"},
      {{"--confg", "x"}, "unknown option '--confg'"},
      {{"--json=yes", "--config", "c"}, "--json takes no value"},
      {{"backups", "--config", "c"}, "unknown command 'backups'; did you mean backup?"},
      {{"policy", "--config", "c"}, "policy needs one of: sign, show"},
      {{"keys", "rotat", "--config", "c"}, "unknown command 'rotat'; did you mean rotate?"},
      {{"policy", "sign", "--config", "c"}, "policy sign needs POLICY"},
      {{"keys", "rotate", "--config", "c"}, "keys rotate needs ROLE"},
      {{"backup", "--config", "c"}, "backup needs --to"},
      {{"restore", "--config", "c"}, "restore needs --from"},
      {{"expire", "--yes", "--config", "c"}, "expire needs --before"},
      {{"expire", "--before", "2023-02-29", "--config", "c"},
       "--before: invalid value '2023-02-29'"},
      {{"expire", "--before", "4294967296", "--config", "c"}, "--before: invalid value"},
      {{"compact", "--yes", "--config", "c"}, "unknown option '--yes'"},
      {{"restore", "--to", "d", "--from", "d", "--config", "c"}, "unknown option '--to'"},
      {{"revoke", "--config", "c"}, "revoke needs the agent's name or public key"},
      {{"revoke", "--config", "c", "k", "--dry-run"}, "--dry-run requires --withdraw"},
      {{"revoke", "--config", "c", "k", "--agent", "k"}, "--agent cannot be combined with NAME"},
      {{"verify", "--agent", "k", "--config", "c"}, "unknown option '--agent'"},
      {{"keys", "renew", "--keys", "2", "--config", "c"}, "unknown option '--keys'"},
      {{"keys", "rotate", "root", "--keys", "0", "--config", "c"}, "--keys: invalid value '0'"},
      {{"keys", "rotate", "root", "--keys", "-1", "--config", "c"}, "--keys: invalid value '-1'"},
      {{"demo", "--data", "d", "--config", "c"}, "--config cannot be combined with demo"},
      {{"publish", "--to", "", "--config", "c"}, "--to: invalid value ''"},
      {{"verify-tree"}, "verify-tree needs TREE"},
      {{"verify-tree", "t", "--config", "c"}, "--config cannot be combined with verify-tree"},
      {{"verify-tree", "t", "--root", "r", "--root-sha256", std::string(64, 'a')},
       "--root cannot be combined with --root-sha256"},
      {{"verify-tree", "t", "--root-sha256", "abc"}, "expected 64 hexadecimal digits"},
      {{"demo", "--data", "d", "--check-config"}, "--check-config cannot be combined with demo"},
  };
  for (const auto& c : cases) {
    const auto parsed = Parse(c.arguments);
    ASSERT_TRUE(std::holds_alternative<Answer>(parsed)) << c.message;
    const Answer& answer = std::get<Answer>(parsed);
    EXPECT_EQ(answer.exit_status, ExitStatus(ErrorCode::kInvalidArgument));
    EXPECT_THAT(answer.errors, HasSubstr(c.message));
    EXPECT_THAT(answer.errors, HasSubstr("; see fieldcost-aggregator "));
  }
}

}  // namespace
}  // namespace fieldcost::aggregator
