// Runs every command on a terminal with names that try to control it.
#include <fmt/format.h>

#include "common/base/text.h"
#include "common/command/command.h"
#include "tests/tools/cli/probe_fixture.h"
#include "tools/cli/cli_commands.h"

namespace fieldcost::cli {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using testing::ProcessResult;

constexpr char kHostile[] =
    "a\x1b[2Jb\x9b"
    "31mc\u009b31md\u202ee\u2066f\u061cg\u200fh";
// Bytes that must never reach a terminal. The preceding letter identifies the raw 0x9b.
constexpr const char* kForbidden[] = {"\x1b[2J", "b\x9b",  "\u009b", "\u202e",
                                      "\u2066",  "\u061c", "\u200f"};

class HostileTextTest : public ProbeCommandTest {
 protected:
  // Returns what the command shows on a terminal, and its status.
  ProcessResult OnTerminal(const std::vector<std::string>& arguments) {
    std::vector<std::string> command = {"python3", FIELDCOST_CLI_TEST_DIR "/in_terminal.py", "5000",
                                        "300", FIELDCOST_PROGRAM};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return Start(command, {{"TERM", "xterm"}, {"NO_COLOR", "1"}, {"PAGER", "cat"}});
  }

  void ExpectHarmless(const std::vector<std::string>& arguments) {
    const ProcessResult result = OnTerminal(arguments);
    std::string line;
    for (const std::string& argument : arguments) line += EscapeControl(argument) + ' ';
    for (const char* bytes : kForbidden) {
      EXPECT_EQ(result.output.find(bytes), std::string::npos)
          << line << "shows " << HexEncode(bytes) << ":\n"
          << EscapeControl(result.output);
    }
    shown_ = result.output;
  }

  // Checks each command that has no subcommands.
  void ExpectHarmlessCommands(const command::Command& command, std::vector<std::string> words) {
    if (command.commands.empty()) {
      for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
               {kHostile, kHostile}, {fmt::format("--{}", kHostile)}, {"--", kHostile}}) {
        std::vector<std::string> arguments = words;
        arguments.insert(arguments.end(), more.begin(), more.end());
        ExpectHarmless(arguments);
      }
      return;
    }
    for (const command::Command& inner : command.commands) {
      std::vector<std::string> next = words;
      next.emplace_back(inner.name);
      ExpectHarmlessCommands(inner, next);
    }
    words.emplace_back(kHostile);
    ExpectHarmless(words);
  }

  std::string shown_;
};

TEST_F(HostileTextTest, NoCommandShowsItsArgumentsRaw) { ExpectHarmlessCommands(Program(), {}); }

TEST_F(HostileTextTest, NoCommandShowsNamesOfRecordingsRaw) {
  std::ofstream(Path("a.folded")) << "main;" << kHostile << ";leaf 30\nmain;other 5\n";
  std::ofstream(Path("b.folded")) << "main;" << kHostile << ";leaf 10\nmain;other 9\n";
  for (const char* name : {"a", "b"}) {
    const ProcessResult made = Cli({"tree", "import", Path(name + std::string(".folded")), "-o",
                                    Path(name + std::string(".fct"))});
    ASSERT_EQ(made.exit_status, 0) << made.errors;
  }
  const std::string a = Path("a.fct");
  const std::string b = Path("b.fct");
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"tree", "show", a},
                                             {"tree", "show", a, "--json"},
                                             {"tree", "show", a, "--csv"},
                                             {"tree", "diff", a, b},
                                             {"tree", "diff", a, b, "--json"},
                                             {"tree", "diff", a, b, "--csv"},
                                             {"tree", "verify", a},
                                             {"tree", "export", a, "--to", "folded", "-o", "-"},
                                             {"tree", "export", a, "--to", "speedscope", "-o", "-"},
                                             {"tree", "export", a, "--to", "pprof", "-o", "-"},
                                             {"tree", "show", a, "--html", "-"}}) {
    ExpectHarmless(arguments);
  }
  ExpectHarmless({"tree", "show", a});
  EXPECT_THAT(shown_, HasSubstr("leaf"));
  ExpectHarmless({"tree", "export", a, "--to", "folded", "-o", "-"});
  EXPECT_THAT(shown_, HasSubstr("\\x1b[2Jb"));
  EXPECT_THAT(Cli({"tree", "export", a, "--to", "folded", "-o", "-"}).output,
              HasSubstr("b\\x9b31mc\u009b31md\u202ee"))
      << "into a pipe, the names' own characters; bytes of no character as in all exported files";
}

TEST_F(HostileTextTest, NoCommandShowsNamesOfProbesRaw) {
  SomeRuns runs;
  runs.build = kHostile;
  runs.tags = {kHostile};
  runs.label = kHostile;
  runs.program = kHostile;
  const std::string file = Database({runs});
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"list"},
                                             {"list", "--json"},
                                             {"show", "last"},
                                             {"show", "last", "--stacks"},
                                             {"show", "last", "--json"}}) {
    std::vector<std::string> words = {"probe"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    words.insert(words.end(), {"--db", file});
    ExpectHarmless(words);
    EXPECT_THAT(shown_, AnyOf(HasSubstr("\\x1b[2Jb"), HasSubstr("\\u001b[2Jb"))) << words[1];
  }
}

TEST_F(HostileTextTest, MeasureShowsNoArgumentsAndOutputRaw) {
  for (const std::string& script : {std::string("exit 0"), std::string("exit 3"),
                                    fmt::format("echo '{}' >&2; exit 3", kHostile)}) {
    ExpectHarmless({"measure", "--rounds", "1", "--", "/bin/sh", "-c", script, kHostile});
    EXPECT_THAT(shown_, HasSubstr("fieldcost"));
  }
}

}  // namespace
}  // namespace fieldcost::cli
