#include "tests/tools/cli/catalog_fixture.h"

// The completion scripts in the real shells.

namespace fieldcost::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::ProcessResult;

class CompletionTest : public CatalogCliTest {
 protected:
  // Runs `script` in the shell after loading the completion script; $fieldcost is the program.
  std::string In(const std::string& shell, const std::string& script) {
    const std::filesystem::path program(FIELDCOST_PROGRAM);
    const std::vector<std::string> quiet = shell == "bash" ? std::vector<std::string>{"--norc"}
                                           : shell == "zsh"
                                               ? std::vector<std::string>{"-f"}
                                               : std::vector<std::string>{"--no-config"};
    std::vector<std::string> arguments = {shell};
    arguments.insert(arguments.end(), quiet.begin(), quiet.end());
    arguments.insert(arguments.end(), {"-c", script});
    const ProcessResult result = testing::RunProcess(
        {.arguments = arguments,
         .environment = {{"FIELDCOST_HOME", home().string()},
                         {"HOME", home().string()},
                         {"LC_ALL", "C.UTF-8"},
                         {"PATH", program.parent_path().string() + ":/usr/bin:/bin"}},
         .unset = {"LD_PRELOAD"},
         .directory = place_.path()});
    EXPECT_EQ(result.exit_status, 0) << result.errors;
    EXPECT_THAT(result.errors, IsEmpty()) << script;
    return result.output;
  }

  const testing::TempDir place_;

  // The candidates with which bash would replace the last word, one per line.
  std::string Bash(const std::string& words, const std::string& before = "") {
    return In("bash", "source <(fieldcost completion bash)\n" + before + "\nCOMP_WORDS=(" + words +
                          ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_fieldcost\n"
                          "((${#COMPREPLY[@]})) && printf '%s\\n' \"${COMPREPLY[@]}\"\ntrue");
  }

  // zsh's completion builtins work only at a prompt; these stubs print their arguments instead.
  std::string Zsh(const std::string& words, const std::string& prefix) {
    return In("zsh",
              "compdef() { : }\n"
              "compadd() { print -l -- \"${(@P)@[-1]}\" }\n"
              "_files() { print files }\n"
              "_command_names() { print programs }\n"
              "_normal() { print -r -- \"normal $CURRENT: $words\" }\n"
              "source <(fieldcost completion zsh)\n"
              "words=(" +
                  words + " '')\nCURRENT=${#words}\nPREFIX=" + prefix + "\n_fieldcost");
  }

  std::string Fish(const std::string& line) {
    return In("fish", "fieldcost completion fish | source\ncomplete -C " + line);
  }
};

TEST_F(CompletionTest, BashCompletesCommandsOptionsAndApis) {
  PublishAndSync(rows_);
  EXPECT_EQ(Bash("fieldcost agent o"), "on\noff\n");
  EXPECT_EQ(Bash("fieldcost top --sort p9"), "p95\np99\n");
  EXPECT_EQ(Bash("fieldcost top --sort = p9"), "p95\np99\n");
  EXPECT_EQ(Bash("fieldcost show tw"), "twin\n");
  // bash expands an exclamation mark from its history unless the mark or the word is quoted.
  EXPECT_EQ(Bash("fieldcost show 'liba.so.1\\!op'"), "liba.so.1\\!open_it\n");
  EXPECT_EQ(Bash("fieldcost show \"'liba.so.1!op\""), "liba.so.1!open_it\n");
}

// Test data for the completion of C++ names, libraries and versions.
std::vector<stats::StatRow> CxxRows() {
  std::vector<stats::StatRow> rows = {
      testing::MakeRow("libjson.so.25", "_ZN4Json6Reader5parseEPKcb", 300, 1500),
      testing::MakeRow("libjson.so.25", "_ZN4Json6Reader5parseERSib", 300, 1500),
      testing::MakeRow("libjson.so.25", "_ZNK4Json6Reader4goodEv", 300, 1500),
      testing::MakeRow("libother.so.1", "start", 300, 1500)};
  stats::StatRow newer = rows[0];
  newer.key.api.package_version = "1:1.10-1";
  rows.push_back(newer);
  return rows;
}

TEST_F(CompletionTest, BashCompletesNamesOfCxxThatItHasBrokenAtTheirColons) {
  PublishAndSync(CxxRows());
  EXPECT_EQ(Bash("fieldcost show J"), "Json::Reader::good\nJson::Reader::parse\n");
  EXPECT_EQ(Bash("fieldcost show Json ::"), "Reader::good\nReader::parse\n");
  EXPECT_EQ(Bash("fieldcost show Json :: Reader :: pa"), "parse\n");
  EXPECT_EQ(Bash("fieldcost hist libjson.so.25'\\!'Json :: Reader :: p"), "parse\n");
  EXPECT_EQ(Bash("fieldcost show \"'Json::Reader::p\""), "Json::Reader::parse\n");
  EXPECT_EQ(Bash("fieldcost show Json::Reader::p", "COMP_WORDBREAKS=' '"), "Json::Reader::parse\n");
  EXPECT_EQ(Bash("fieldcost show _ZNK"), "_ZNK4Json6Reader4goodEv\n");
  EXPECT_EQ(Bash("fieldcost run --pick libjson.so.25'\\!'Json :: Reader :: p -- git ch",
                 "_command_offset() { COMPREPLY=(\"offset $1\"); }"),
            "offset 9\n");
}

// As typed at a prompt, where bash itself splits the line and inserts the answer.
TEST_F(CompletionTest, BashAtAPromptWritesANameOfCxxOut) {
  PublishAndSync(CxxRows());
  const std::string bin = std::filesystem::path(FIELDCOST_PROGRAM).parent_path().string();
  const ProcessResult typed = testing::RunProcess(
      {.arguments = {"python3", FIELDCOST_CLI_TEST_DIR "/in_terminal.py", "--type",
                     "fieldcost show Json::Reader::pa\t --json\nfieldcost diff js\t 1:\t\nexit\n",
                     "50", "200", "bash", "--norc", "-i"},
       .environment = {{"FIELDCOST_HOME", home().string()},
                       {"HOME", home().string()},
                       {"LC_ALL", "C.UTF-8"},
                       {"PS1", "ready> "},
                       {"TERM", "dumb"},
                       {"PROMPT_COMMAND",
                        "unset PROMPT_COMMAND; source <(fieldcost completion bash)"},
                       {"PATH", bin + ":/usr/bin:/bin"}},
       .unset = {"LD_PRELOAD"}});
  EXPECT_THAT(typed.output, HasSubstr("\"name\":\"Json::Reader::parse("));
  EXPECT_THAT(typed.output, HasSubstr("libjson.so.25  1:1.10-1 "));
}

TEST_F(CompletionTest, LibrariesAndVersionsAreCompletedInEveryShell) {
  PublishAndSync(CxxRows());
  EXPECT_EQ(Bash("fieldcost diff lib"), "libjson.so.25\nlibother.so.1\n");
  EXPECT_EQ(Bash("fieldcost diff json"), "libjson.so.25\n");
  EXPECT_EQ(Bash("fieldcost diff so"), "") << "which of them?";
  EXPECT_EQ(Bash("fieldcost diff libjson ''"), "1.2-3\n1:1.10-1\n");
  EXPECT_EQ(Bash("fieldcost diff libjson 1 : 1"), "1.10-1\n");
  EXPECT_EQ(Bash("fieldcost show Json :: Reader :: good --of-version 1"), "1.2-3\n");
  EXPECT_EQ(Zsh("fieldcost top --library", "json"), "libjson.so.25\n");
  EXPECT_EQ(Zsh("fieldcost diff libjson", "1:"), "1:1.10-1\n");
  EXPECT_EQ(Zsh("fieldcost show", "Json::Reader::p"), "Json::Reader::parse\n");
  EXPECT_EQ(Fish("'fieldcost diff libj'"), "libjson.so.25\n");
  EXPECT_EQ(Fish("'fieldcost diff libjson 1:'"), "1:1.10-1\n");
  EXPECT_EQ(Fish("'fieldcost show Json::Reader::p'"), "Json::Reader::parse\n");
}

TEST_F(CompletionTest, BashLeavesFilesAndOtherProgramsToItself) {
  EXPECT_THAT(Bash("fieldcost run -- tru"), HasSubstr("true\n"));
  EXPECT_THAT(Bash("fieldcost agent explain /bin/tru"), HasSubstr("/bin/true\n"));
  // With bash-completion, that program's own completion is used; otherwise files.
  EXPECT_EQ(Bash("fieldcost run -- git ch", "_command_offset() { COMPREPLY=(\"offset $1\"); }"),
            "offset 3\n");
  EXPECT_THAT(Bash("fieldcost run -- cat /etc/host"), HasSubstr("/etc/hosts\n"));
}

TEST_F(CompletionTest, ZshCompletesCommandsOptionsAndApis) {
  PublishAndSync(rows_);
  EXPECT_EQ(Zsh("fieldcost agent", "o"), "on\noff\n");
  EXPECT_EQ(Zsh("fieldcost top --sort", "p9"), "p95\np99\n");
  EXPECT_EQ(Zsh("fieldcost show", "'liba.so.1\\!op'"), "liba.so.1!open_it\n");
  EXPECT_EQ(Zsh("fieldcost run --", "tru"), "programs\n");
  EXPECT_EQ(Zsh("fieldcost run -- git", "ch"), "normal 2: git \n");
}

TEST_F(CompletionTest, ZshLoadsTheInstalledScriptWhenItIsFirstNeeded) {
  EXPECT_EQ(In("zsh",
               "mkdir functions && fieldcost completion zsh > functions/_fieldcost\n"
               "fpath=($PWD/functions $fpath)\nautoload -Uz _fieldcost\n"
               "compadd() { print -l -- \"${(@P)@[-1]}\" }\n"
               "words=(fieldcost agent '')\nCURRENT=3\nPREFIX=o\n_fieldcost"),
            "on\noff\n");
}

TEST_F(CompletionTest, FishCompletesCommandsOptionsAndApis) {
  PublishAndSync(rows_);
  EXPECT_EQ(Fish("'fieldcost agent o'"),
            "off\tMeasure nothing; delete unsent data\n"
            "on\tMeasure, and send sums to the configured server\n");
  EXPECT_EQ(Fish("'fieldcost top --sort p9'"), "p95\np99\n");
  EXPECT_EQ(Fish("'fieldcost show liba.so.1!op'"), "liba.so.1!open_it\n");
  EXPECT_THAT(Fish("'fieldcost run -- tru'"), HasSubstr("true"));
  EXPECT_THAT(Fish("'fieldcost run -- fieldcost ag'"), HasSubstr("agent"));
  EXPECT_THAT(Fish("'fieldcost agent o'"), Not(HasSubstr("bin")));
}

TEST_F(CompletionTest, WithoutACatalogueThereAreSimplyNoNames) {
  EXPECT_EQ(Bash("fieldcost show tw"), "");
  EXPECT_EQ(Fish("'fieldcost show tw'"), "");
  EXPECT_FALSE(std::filesystem::exists(home() / "catalog.db"));
  EXPECT_FALSE(std::filesystem::exists(home() / "state"));
}

TEST_F(CompletionTest, NamesThatAShellCouldTakeForMoreAreNotOffered) {
  PublishAndSync({testing::MakeRow("liba.so.1", "ev$(id)", 5, 7),
                  testing::MakeRow("liba.so.1", "ev`id`", 5, 7),
                  testing::MakeRow("liba.so.1", "ev'il", 5, 7),
                  testing::MakeRow("liba.so.1", "even", 5, 7)});
  EXPECT_EQ(Bash("fieldcost show ev"), "even\n");
}

}  // namespace
}  // namespace fieldcost::cli
