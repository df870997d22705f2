// Real editors without a screen: Neovim alone and with clangd, and Vim with YouCompleteMe.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "tests/support/process.h"
#include "tests/tools/lsp/lsp_fixture.h"

namespace fieldcost::lsp {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Kills ycmd, which outlives its editor; fieldcost-lsp ends with ycmd.
void EndServerOf(const std::string& said) {
  const std::string name = "ycmd: ";
  const std::size_t place = said.find(name);
  ASSERT_NE(place, std::string::npos) << said;
  const int pid = std::atoi(said.c_str() + place + name.size());
  ASSERT_GT(pid, 1) << said;
  ::kill(pid, SIGKILL);
}

class EditorsTest : public LspTest {
 protected:
  void SetUp() override {
    PublishAndSync(Rows(), true);
    std::filesystem::create_directories(project());
    std::ofstream(project() / "a.c") << "int slow_call(int a);\n"
                                        "int main(void) { return slow_call(1); }\n"
                                        "int x = slow\n"
                                        "int y(void) { return open_it(); }\n";
  }
  std::filesystem::path project() const { return home() / "project"; }

  testing::ProcessResult Run(std::vector<std::string> arguments,
                             std::vector<std::pair<std::string, std::string>> environment = {}) {
    environment.insert(environment.end(),
                       {{"FIELDCOST_HOME", home().string()},
                        {"FIELDCOST_README", FIELDCOST_SOURCE "/tools/lsp/EDITORS.md"},
                        {"FIELDCOST_SOURCE", FIELDCOST_SOURCE},
                        {"PATH", Path()},
                        {"HOME", home().string()},
                        {"XDG_CONFIG_HOME", (home() / "config").string()},
                        {"XDG_STATE_HOME", (home() / "xdg-state").string()},
                        {"XDG_CACHE_HOME", (home() / "cache").string()},
                        {"LC_ALL", "C.UTF-8"},
                        {"TERM", "dumb"}});
    return testing::RunProcess({.arguments = std::move(arguments),
                                .environment = std::move(environment),
                                .directory = project()});
  }
  // PATH with the program's directory first.
  static std::string Path() {
    const char* path = std::getenv("PATH");
    return std::filesystem::path(FIELDCOST_LSP).parent_path().string() + ":" +
           (path == nullptr ? "/usr/bin:/bin" : path);
  }
  std::string Neovim(std::vector<std::pair<std::string, std::string>> environment = {}) {
    const std::string script = FIELDCOST_EDITOR_SCRIPTS "/nvim.lua";
    const testing::ProcessResult result =
        Run({"nvim", "--headless", "--clean", "a.c", "-c", "luafile " + script}, environment);
    EXPECT_EQ(result.exit_status, 0) << result.errors;
    return result.output + result.errors;
  }
  // Returns what the script reports.
  std::string Vim(std::vector<std::pair<std::string, std::string>> environment = {}) {
    std::filesystem::create_directories(project() / ".git");  // the project's root
    const std::filesystem::path said_file = home() / "said";
    const std::string script = FIELDCOST_EDITOR_SCRIPTS "/ycm.vim";
    environment.push_back({"RESULT", said_file.string()});
    const testing::ProcessResult result =
        Run({"vim.nox", "-u", script, "-i", "NONE", "-n", "--not-a-term", "a.c", "-c",
             "autocmd VimEnter * call Run()"},
            environment);
    EXPECT_EQ(result.exit_status, 0) << result.errors;
    std::ifstream file(said_file);
    const std::string said{std::istreambuf_iterator<char>(file), {}};
    EndServerOf(said);
    return said;
  }
};

TEST_F(EditorsTest, NeovimAsTheManualPageStartsItShowsHoverAndCompletion) {
  const std::string said = Neovim();
  EXPECT_THAT(said, HasSubstr("hover of fieldcost: \"`slow_call`: typically **2.5 ms** a call"));
  EXPECT_THAT(said, HasSubstr("window: [\"`slow_call`: typically **2.5 ms** a call"));
  EXPECT_THAT(said, HasSubstr("item of fieldcost: slow_call | 2.5 ms (synthetic)  libslow.so.1"));
  EXPECT_THAT(said, HasSubstr("left: 0"));
}

TEST_F(EditorsTest, NeovimsFirstBlockMapsKKeepsAMappingAndStartsAsNewerOnesDo) {
  const std::string alone = Neovim({{"WITH_FIRST_BLOCK", "1"}});
  EXPECT_THAT(alone, HasSubstr("ready: true\n"));
  EXPECT_THAT(alone, HasSubstr("mapping of K: Lua"));
  EXPECT_THAT(alone, HasSubstr("window: [\"`slow_call`: typically **2.5 ms** a call"));
  const std::string mapped = Neovim({{"WITH_FIRST_BLOCK", "1"}, {"WITH_MAPPING", "1"}});
  EXPECT_THAT(mapped, HasSubstr("mapping of K: gg\n"));
  EXPECT_THAT(mapped, HasSubstr("window: [\"`slow_call`: typically **2.5 ms** a call"));
  const std::string started = Neovim({{"WITH_FIRST_BLOCK", "1"}, {"WITH_START", "1"}});
  EXPECT_THAT(started, HasSubstr("start: fieldcost\n"));
  EXPECT_THAT(started, HasSubstr("window: [\"`slow_call`: typically **2.5 ms** a call"));
}

TEST_F(EditorsTest, NextToClangdBothAnswerAndListNothingTwice) {
  const std::string said = Neovim({{"WITH_CLANGD", "1"}});
  EXPECT_THAT(said, HasSubstr("hover of fieldcost: \"`slow_call`: typically **2.5 ms** a call"));
  EXPECT_THAT(said, HasSubstr("hover of clangd: \"### function `slow_call`"));
  const std::string window =
      said.substr(said.find("window: "), said.find("\nitem") - said.find("window: "));
  EXPECT_THAT(window,
              AllOf(HasSubstr("typically **2.5 ms** a call"), HasSubstr("int slow_call(int a)")));
  const std::string signatures =
      said.substr(said.find("signatures: "), said.find("\nhint") - said.find("signatures: "));
  EXPECT_THAT(signatures, AllOf(HasSubstr("typically **2.5 ms** a call"),
                                HasSubstr("slow_call(int a) -> int")));
  EXPECT_THAT(said, HasSubstr("\nhint: 4 1.5 µs (synthetic)\n")) << "a cheap call";
  EXPECT_THAT(said, AllOf(HasSubstr("item of clangd: slow_call"),
                          Not(HasSubstr("item of fieldcost")), HasSubstr("listed twice: 0")));
  EXPECT_THAT(said, HasSubstr("left: 0"));
}

TEST_F(EditorsTest, VimWithYouCompleteMeShowsInlayHintsAndHover) {
  const std::string said = Vim();
  EXPECT_THAT(said, HasSubstr("ready: 1"));
  EXPECT_THAT(said, HasSubstr("hints: ['2:34']"));
  EXPECT_THAT(said,
              HasSubstr("screen: int main(void) { return slow_call 2.5 ms (synthetic)(1); }"));
  EXPECT_THAT(said, HasSubstr("hover: `slow_call`: typically **2.5 ms** a call|"));
}

TEST_F(EditorsTest, VimAsTheManualPageSetsItUpShowsInlayHintsAndHover) {
  const std::string said = Vim({{"WITH_MANUAL_PAGE", "1"}});
  EXPECT_THAT(said, HasSubstr("ready: 1"));
  EXPECT_THAT(said, HasSubstr("hints: ['2:34']"));
  EXPECT_THAT(said, HasSubstr("hover: `slow_call`: typically **2.5 ms** a call|"));
}

}  // namespace
}  // namespace fieldcost::lsp
