#include "agent/symbols/go_table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "agent/symbols/symbols.h"
#include "common/base/file.h"
#include "tests/agent/symbols/linked_functions.h"
#include "tests/support/binary_dir.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::symbols {
namespace {

namespace fs = std::filesystem;

const fs::path kVictims = fs::path(FIELDCOST_BINARY_DIR) / "victims";

std::string NameAt(Symbols& symbols, const fs::path& file, std::uint64_t address) {
  const auto& frames = symbols.FramesAt(file, "", address);
  return frames.empty() ? "" : frames.back().function;
}

class GoTableTest : public ::testing::TestWithParam<const char*> {};

TEST_P(GoTableTest, NamesFunctionsWithAndWithoutSymbols) {
  const fs::path program = kVictims / GetParam();
  const testing::TempDir directory;
  const fs::path stripped = directory.path() / "stripped";
  testing::Output({"strip", "-o", stripped.string(), program.string()});
  const auto functions = testing::FunctionsOf(program);
  Symbols symbols;
  for (const fs::path& file : {program, stripped}) {
    for (const auto& [symbol, name] :
         {std::pair("parse_rows", "main.parseRows"), std::pair("load_file", "main.loadFile")}) {
      const std::uint64_t start = functions.at(symbol).start;
      EXPECT_EQ(NameAt(symbols, file, start), name) << file;
      EXPECT_EQ(NameAt(symbols, file, start + functions.at(symbol).size - 1), name) << file;
    }
  }
  // Outside the table there are only symbols.
  EXPECT_EQ(NameAt(symbols, program, functions.at("main").start), "main");
  EXPECT_EQ(NameAt(symbols, stripped, functions.at("main").start), "");
}

INSTANTIATE_TEST_SUITE_P(Programs, GoTableTest,
                         ::testing::Values("go_table_fixed", "go_table_relocated",
                                           "go_table_merged", "go_table_module"),
                         [](const auto& test) { return std::string(test.param).substr(9); });

class GoProgramTest : public ::testing::Test {
 protected:
  // Returns whether the program was built.
  static bool Build(const fs::path& directory, const std::string& name,
                    std::vector<std::string> options) {
    options.insert(options.begin(), {"go", "build", "-o", (directory / name).string()});
    options.push_back((directory / "main.go").string());
    const auto built =
        testing::RunProcess({.arguments = options,
                             .environment = {{"GOCACHE", (directory / "cache").string()},
                                             {"GO111MODULE", "off"},
                                             {"GOTOOLCHAIN", "local"},
                                             {"CGO_ENABLED", "0"}},
                             .unset = {},
                             .directory = directory,
                             .input = {}},
                            std::chrono::seconds(300));
    EXPECT_EQ(built.exit_status, 0) << built.errors;
    return built.exit_status == 0;
  }

  static void ExpectSameNames(const fs::path& plain, const fs::path& stripped) {
    const auto functions = testing::FunctionsOf(plain);
    EXPECT_TRUE(functions.contains("main.(*T).add"));
    Symbols symbols;
    std::size_t named = 0;
    for (const auto& [symbol, range] : functions) {
      // The table has "[...]" instead of types in brackets.
      if (range.size == 0 || symbol.starts_with("type..")) continue;
      const std::string name = NameAt(symbols, stripped, range.start);
      EXPECT_EQ(name, symbol.substr(0, symbol.find(".abi0")));
      EXPECT_EQ(NameAt(symbols, plain, range.start), name);
      ++named;
    }
    EXPECT_GT(named, 500U);
  }
};

TEST_F(GoProgramTest, EveryFunctionHasTheNameThatItsSymbolHad) {
  if (testing::RunProcess({.arguments = {"sh", "-c", "command -v go"},
                           .environment = {},
                           .unset = {},
                           .directory = {},
                           .input = {}})
          .exit_status != 0) {
    GTEST_SKIP() << "go is not installed";
  }
  const testing::TempDir directory;
  ASSERT_TRUE(WriteFileAtomically(directory.path() / "main.go",
                                  "package main\n"
                                  "type T struct{ n int }\n"
                                  "//go:noinline\n"
                                  "func (t *T) add(n int) { t.n += n }\n"
                                  "func main() { var t T; func() { t.add(1) }(); println(t.n) }\n",
                                  0644));
  for (const std::string mode : {"exe", "pie"}) {
    ASSERT_TRUE(Build(directory.path(), mode, {"-buildmode=" + mode}));
    ASSERT_TRUE(Build(directory.path(), mode + "-s", {"-buildmode=" + mode, "-ldflags=-s -w"}));
    ExpectSameNames(directory.path() / mode, directory.path() / (mode + "-s"));
  }
}

}  // namespace
}  // namespace fieldcost::symbols
