// Tests that the parser and the help both follow the value that describes a command.
#include "common/command/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/command/help_text.h"

namespace fieldcost::command {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Result<int> Succeed(const Arguments&) { return 0; }

Status CheckLower(std::string& text) {
  if (text == "?") return Fail(ErrorCode::kInvalidArgument, "expected a word");
  for (char& letter : text) letter = letter == 'A' ? 'a' : letter;
  return {};
}

const Command& Sample() {
  static const Command program{
      .name = "sample",
      .summary = "A program",
      .options = {{.names = "--json", .help = "Print JSON"},
                  {.names = "--color",
                   .value = "WHEN",
                   .help = "Colours",
                   .default_text = "auto",
                   .choices = {"auto", "never"}}},
      .commands = {
          {.name = "top",
           .summary = "The table",
           .help = "Example:\n  sample top",
           .options = {{.names = "--limit",
                        .value = "N",
                        .help = "Lines",
                        .default_text = "20",
                        .check = CheckNumber},
                       {.names = "--word,-w", .value = "WORD", .check = CheckLower},
                       {.names = "--quiet,-q"},
                       {.names = "--save",
                        .value = "FILE",
                        .help = "Keep it",
                        .excludes = {"--word", "file"}},
                       {.names = "file", .value = "FILE"},
                       {.names = "more", .value = "MORE", .repeats = true}},
           .handler = Succeed},
          {.name = "group",
           .summary = "Others",
           .help =
               R"(A sentence that goes on for longer than the terminal is wide, wherever its lines were broken
in the source. Examples:
  sample group inner with-an-example-that-is-longer-than-a-terminal-is-wide and stays

Another one.)",
           .commands = {{.name = "inner",
                         .summary = "One",
                         .options = {{.names = "operand", .value = "THING", .required = true},
                                     {.names = "--add", .value = "X", .repeats = true}},
                         .handler = Succeed}}},
          {.name = "run", .summary = "Run", .handler = Succeed, .takes_program = true},
          {.name = "watch",
           .summary = "Watch",
           .options = {{.names = "--pid,-p", .value = "PID", .help = "This one"}},
           .handler = Succeed,
           .takes_program = true,
           .instead_of_program = {"--pid"}},
          {.name = "pair",
           .summary = "Pair",
           .options = {{.names = "base", .value = "BASE"},
                       {.names = "new", .value = "NEW"},
                       {.names = "--runs", .value = "N"}},
           .handler = Succeed,
           .takes_program = true,
           .instead_of_program = {"base"}},
          {.name = "test",
           .summary = "Test",
           .options = {{.names = "file", .value = "FILE"}, {.names = "--tree", .value = "FILE"}},
           .handler = Succeed,
           .takes_program = true,
           .instead_of_program = {"--tree"},
           .program_is_optional = true}}};
  return program;
}

std::variant<Call, Answer> ParseSample(std::vector<std::string> arguments) {
  return Parse(Sample(), "1.2.3", std::move(arguments));
}

Arguments MustParse(std::vector<std::string> arguments) {
  auto parsed = ParseSample(std::move(arguments));
  const auto* answer = std::get_if<Answer>(&parsed);
  EXPECT_EQ(answer, nullptr) << answer->errors;
  return answer == nullptr ? std::get<Call>(parsed).arguments : Arguments();
}

std::string ErrorOf(std::vector<std::string> arguments) {
  const auto parsed = ParseSample(std::move(arguments));
  const auto* answer = std::get_if<Answer>(&parsed);
  if (answer == nullptr) return "";
  EXPECT_EQ(answer->exit_status, ExitStatus(ErrorCode::kInvalidArgument));
  EXPECT_THAT(answer->output, IsEmpty());
  return answer->errors;
}

std::string OutputOf(std::vector<std::string> arguments) {
  const auto parsed = ParseSample(std::move(arguments));
  const auto* answer = std::get_if<Answer>(&parsed);
  EXPECT_TRUE(answer != nullptr && answer->exit_status == 0 && answer->errors.empty());
  return answer == nullptr ? "" : answer->output;
}

TEST(CommandParseTest, OmittedOptionsHaveTheirDefaults) {
  const Arguments arguments = MustParse({"top"});
  EXPECT_FALSE(arguments.Has("--limit"));
  EXPECT_EQ(arguments.Number("--limit"), 20U);
  EXPECT_EQ(arguments.Text("--color"), "auto");
  EXPECT_EQ(arguments.Text("--word"), "");
  EXPECT_THAT(arguments.Texts("more"), IsEmpty());
}

TEST(CommandParseDeathTest, OnlyDeclaredArgumentsMayBeQueried) {
  const Arguments arguments = MustParse({"top"});
  EXPECT_DEATH(arguments.Has("--limits"), "values_.end");
  EXPECT_DEATH(arguments.Number("--color"), "number.has_value");
}

TEST(CommandParseTest, OptionsOfTheProgramStandAnywhere) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"--json", "--color", "never", "top"}, {"top", "--color=never", "--json"}}) {
    const Arguments arguments = MustParse(words);
    EXPECT_TRUE(arguments.Has("--json"));
    EXPECT_EQ(arguments.Text("--color"), "never");
  }
}

TEST(CommandParseTest, ValuesAreCheckedAndBroughtIntoTheirForm) {
  EXPECT_EQ(MustParse({"top", "-w", "AbA"}).Text("--word"), "aba");
  EXPECT_EQ(MustParse({"top", "--word", ""}).Text("--word"), "");
  EXPECT_EQ(MustParse({"top", "--word="}).Text("--word"), "");
  EXPECT_EQ(MustParse({"top", "--word", "-x"}).Text("--word"), "-x");
  EXPECT_THAT(ErrorOf({"top", "--word", "?"}),
              HasSubstr("--word: invalid value '?'; expected a word"));
  EXPECT_THAT(ErrorOf({"top", "--limit", "many"}), HasSubstr("--limit: invalid value 'many'"));
  EXPECT_THAT(ErrorOf({"top", "--limit", "-1"}), HasSubstr("--limit: invalid value '-1'"));
  EXPECT_THAT(ErrorOf({"top", "--color", "pink"}), HasSubstr("one of auto, never"));
}

TEST(ParseTest, HashesAreMadeLowerCaseAndTheirLengthIsExact) {
  std::string hash(64, 'A');
  EXPECT_TRUE(CheckSha256(hash));
  EXPECT_EQ(hash, std::string(64, 'a'));
  for (std::string wrong : {std::string(63, 'a'), std::string(65, 'a'), std::string(64, 'g')}) {
    EXPECT_EQ(CheckSha256(wrong).error().code, ErrorCode::kInvalidArgument) << wrong;
  }
}

TEST(CommandParseTest, RangeIncludesItsBounds) {
  const CheckText check = CheckBetween(1, 1'000);
  for (std::string text : {"1", "17", "1000"}) EXPECT_TRUE(check(text).has_value()) << text;
  for (std::string text : {"0", "1001", "-1", "x", "", "18446744073709551616"}) {
    const Status status = check(text);
    ASSERT_FALSE(status.has_value()) << text;
    EXPECT_EQ(status.error().message, "expected a number from 1 to 1000");
  }
}

TEST(CommandParseTest, OperandsGoByTheirPlaceAndTheLastMayRepeat) {
  const Arguments arguments = MustParse({"top", "f", "-q", "a", "b"});
  EXPECT_EQ(arguments.Text("file"), "f");
  EXPECT_THAT(arguments.Texts("more"), ElementsAre("a", "b"));
  EXPECT_TRUE(arguments.Has("--quiet"));
  // A word after a command is not another command.
  EXPECT_EQ(MustParse({"top", "group"}).Text("file"), "group");
  EXPECT_THAT(MustParse({"group", "inner", "x", "--add", "1", "--add=2"}).Texts("--add"),
              ElementsAre("1", "2"));
}

TEST(CommandParseTest, DoesNotParseTheProgramsArguments) {
  EXPECT_THAT(MustParse({"run", "--", "ls", "--json", "--"}).program(),
              ElementsAre("ls", "--json", "--"));
  EXPECT_FALSE(MustParse({"run", "--", "ls", "--json"}).Has("--json"));
  EXPECT_THAT(ErrorOf({"run"}), HasSubstr("put the program after --: sample run -- PROGRAM"));
  EXPECT_THAT(ErrorOf({"run", "--"}), HasSubstr("no program after --"));
  EXPECT_THAT(ErrorOf({"top", "--", "ls"}), HasSubstr("takes no program"));
}

TEST(CommandParseTest, AProgramNeedsNoMarkWhereNothingElseCanBeMeant) {
  EXPECT_THAT(MustParse({"run", "git", "log", "--json"}).program(),
              ElementsAre("git", "log", "--json"));
  EXPECT_FALSE(MustParse({"run", "git", "--json"}).Has("--json"));
  EXPECT_THAT(MustParse({"run", "old", "a", "--", "new"}).program(),
              ElementsAre("old", "a", "--", "new"));
  EXPECT_THAT(MustParse({"run", "./a", "--help"}).program(), ElementsAre("./a", "--help"));
  EXPECT_THAT(MustParse({"run", "run"}).program(), ElementsAre("run"));
  EXPECT_THAT(MustParse({"run", ""}).program(), ElementsAre(""));
  // Values of options are not programs, in any of their forms.
  EXPECT_THAT(ErrorOf({"watch", "-p", "7", "ls"}), HasSubstr("cannot be combined with a program"));
  EXPECT_EQ(MustParse({"watch", "-p7"}).Text("--pid"), "7");
  EXPECT_EQ(MustParse({"watch", "--pid", "7"}).Text("--pid"), "7");
  EXPECT_EQ(MustParse({"watch", "--pid=7"}).Text("--pid"), "7");
  // An unknown option may have a value.
  EXPECT_THAT(ErrorOf({"run", "--peck", "a", "ls"}), HasSubstr("unknown option '--peck'"));
}

TEST(CommandParseTest, AMarkBetweenTwoProgramsIsEnoughWhereOperandsMayStandInstead) {
  EXPECT_THAT(MustParse({"pair", "./old", "-x", "--", "./new", "y"}).program(),
              ElementsAre("./old", "-x", "--", "./new", "y"));
  EXPECT_THAT(MustParse({"pair", "--runs", "3", "./old", "--", "./new"}).program(),
              ElementsAre("./old", "--", "./new"));
  EXPECT_THAT(MustParse({"pair", "--", "./old", "--", "./new"}).program(),
              ElementsAre("./old", "--", "./new"));
  const Arguments events = MustParse({"pair", "./old", "./new"});
  EXPECT_THAT(events.program(), IsEmpty());
  EXPECT_EQ(events.Text("base"), "./old");
  EXPECT_EQ(events.Text("new"), "./new");
  EXPECT_THAT(ErrorOf({"top", "file", "--", "ls"}), HasSubstr("takes no program"));
}

TEST(CommandParseTest, DoesNotRunAMistypedCommandAsAProgram) {
  const Command program{.name = "sample",
                        .commands = {{.name = "idle",
                                      .commands = {{.name = "show", .handler = Succeed}},
                                      .handler = Succeed,
                                      .takes_program = true}}};
  const auto parse = [&](std::vector<std::string> words) {
    return Parse(program, "1", std::move(words));
  };
  const auto wrong = parse({"idle", "shwo"});
  ASSERT_TRUE(std::holds_alternative<Answer>(wrong));
  EXPECT_THAT(std::get<Answer>(wrong).errors, HasSubstr("did you mean show?"));
  const auto right = parse({"idle", "make", "-j8"});
  ASSERT_TRUE(std::holds_alternative<Call>(right));
  EXPECT_THAT(std::get<Call>(right).arguments.program(), ElementsAre("make", "-j8"));
}

TEST(CommandParseTest, AnOptionMayReplaceTheProgram) {
  EXPECT_EQ(MustParse({"watch", "-p", "7"}).Text("--pid"), "7");
  EXPECT_THAT(MustParse({"watch", "--", "ls"}).program(), ElementsAre("ls"));
  EXPECT_THAT(ErrorOf({"watch"}), HasSubstr("PROGRAM, or use --pid"));
  EXPECT_THAT(ErrorOf({"watch", "-p", "7", "--", "ls"}),
              HasSubstr("--pid cannot be combined with a program"));
  EXPECT_THAT(OutputOf({"watch", "--help"}), HasSubstr("[OPTIONS] [-- PROGRAM [ARGUMENT...]]"));
}

TEST(CommandParseTest, AProgramMayBeOptional) {
  EXPECT_THAT(MustParse({"test"}).program(), IsEmpty());
  EXPECT_EQ(MustParse({"test", "a.txt"}).Text("file"), "a.txt");
  EXPECT_THAT(MustParse({"test", "--", "ls", "-l"}).program(), ElementsAre("ls", "-l"));
  EXPECT_THAT(ErrorOf({"test", "--tree", "a.fct", "--", "ls"}),
              HasSubstr("--tree cannot be combined with a program"));
  EXPECT_THAT(ErrorOf({"test", "--"}), HasSubstr("no program after --"));
  EXPECT_THAT(OutputOf({"test", "--help"}), HasSubstr("[FILE] [-- PROGRAM [ARGUMENT...]]"));
}

TEST(CommandParseTest, ErrorsNameTheProblemAndWhereToReadMore) {
  EXPECT_EQ(ErrorOf({}),
            "a command is needed: top, group, run, watch, pair, test; see sample --help");
  EXPECT_EQ(ErrorOf({"tpo", "deflate"}),
            "unknown command 'tpo'; did you mean top?; see sample --help");
  EXPECT_EQ(
      ErrorOf({"zzz", "top"}),
      "unknown argument 'zzz'; the command comes first: sample top zzz; see sample top --help");
  EXPECT_EQ(ErrorOf({"group", "inner", "a", "b"}),
            "unknown argument 'b'; see sample group inner --help");
  EXPECT_EQ(ErrorOf({"group"}), "group needs one of: inner; see sample group --help");
  EXPECT_EQ(ErrorOf({"group", "outer"}), "unknown command 'outer'; see sample group --help");
  EXPECT_EQ(ErrorOf({"group", "inner"}), "group inner needs THING; see sample group inner --help");
  EXPECT_EQ(ErrorOf({"top", "--lim", "3"}), "unknown option '--lim'; see sample top --help");
  EXPECT_EQ(ErrorOf({"top", "--limt", "5"}),
            "unknown option '--limt'; did you mean --limit?; see sample top --help");
  EXPECT_EQ(ErrorOf({"top", "--limt=5"}),
            "unknown option '--limt=5'; did you mean --limit?; see sample top --help");
  EXPECT_EQ(ErrorOf({"top", "--limit"}), "--limit needs a value; see sample top --help");
  EXPECT_EQ(ErrorOf({"top", "--quiet=yes"}), "--quiet takes no value; see sample top --help");
  EXPECT_EQ(ErrorOf({"top", "--limit", "1", "--limit", "2"}),
            "--limit may be given only once; see sample top --help");
  EXPECT_EQ(ErrorOf({"top", "--save", "x", "f"}),
            "--save cannot be combined with FILE; see sample top --help");
}

TEST(CommandParseTest, ErrorsNameTheCommandOfAnotherGroup) {
  EXPECT_EQ(ErrorOf({"inner", "thing"}),
            "unknown command 'inner'; did you mean sample group inner?; see sample --help");
  EXPECT_EQ(ErrorOf({"group", "top", "thing"}),
            "unknown command 'top'; did you mean sample top?; see sample group --help");
  const Command twice{
      .name = "twice",
      .commands = {{.name = "old", .commands = {{.name = "show", .handler = Succeed}}},
                   {.name = "shop", .handler = Succeed},
                   {.name = "new", .commands = {{.name = "show", .handler = Succeed}}}}};
  EXPECT_EQ(std::get<Answer>(Parse(twice, "1", {"show", "a", "b"})).errors,
            "unknown command 'show'; did you mean twice old show or twice new show?; see twice "
            "--help");
}

TEST(CommandParseTest, HelpAndVersionTakePrecedenceOverErrors) {
  EXPECT_EQ(OutputOf({"--version"}), "sample 1.2.3\n");
  EXPECT_EQ(OutputOf({"top", "--version"}), "sample 1.2.3\n");
  EXPECT_THAT(OutputOf({"top", "--nonsense", "--help"}), HasSubstr("Usage: sample top "));
  EXPECT_THAT(OutputOf({"--help"}), HasSubstr("Usage: sample [OPTIONS] COMMAND"));
  EXPECT_EQ(OutputOf({"help"}), OutputOf({"--help"}));
  EXPECT_EQ(OutputOf({"help", "group", "inner"}), OutputOf({"group", "inner", "--help"}));
  EXPECT_EQ(OutputOf({"version"}), "sample 1.2.3\n");
  EXPECT_THAT(OutputOf({"group", "-h"}), HasSubstr("\nCommands:\n  inner "));
}

TEST(CommandParseTest, TheHelpHasAllThatIsKnown) {
  EXPECT_EQ(OutputOf({"top", "--help"}), R"(The table
Usage: sample top [OPTIONS] [FILE] [MORE...]

Operands:
  FILE
  MORE...

Options:
  --limit N                 Lines [20]
  --word, -w WORD
  --quiet, -q
  --save FILE               Keep it; not with --word or FILE
  --help, -h                Print this help and exit
  and the options of every command: sample --help

Example:
  sample top
)");
}

TEST(CommandParseTest, SentencesBelowTheOptionsFitAndExamplesStay) {
  EXPECT_THAT(OutputOf({"group", "--help"}), EndsWith(R"(
A sentence that goes on for longer than the terminal is wide, wherever its lines
were broken in the source. Examples:
  sample group inner with-an-example-that-is-longer-than-a-terminal-is-wide and stays

Another one.
)"));
}

}  // namespace
}  // namespace fieldcost::command
