#include "agent/symbols/symbols.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "common/base/file.h"
#include "tests/agent/symbols/linked_functions.h"
#include "tests/common/base/build_id_of_file.h"
#include "tests/support/binary_dir.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::symbols {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::Field;
using testing::FunctionsOf;
using ::testing::IsEmpty;
using testing::Output;
using testing::Range;

const fs::path kVictims = fs::path(FIELDCOST_BINARY_DIR) / "victims";
const fs::path kLibrary = kVictims / "libnames5-2.1.so.3";

// "function file:line" for each frame.
std::vector<std::string> Shown(const std::vector<SourceFrame>& frames) {
  std::vector<std::string> shown;
  for (const SourceFrame& frame : frames) {
    shown.push_back(fmt::format("{} {}:{}", frame.function,
                                fs::path(frame.file).filename().string(), frame.line));
  }
  return shown;
}

// The same from binutils' addr2line, for each address.
std::map<std::uint64_t, std::vector<std::string>> ByAddr2line(
    const fs::path& file, const std::vector<std::uint64_t>& addresses) {
  std::string input;
  for (const std::uint64_t address : addresses) input += fmt::format("{:#x}\n", address);
  std::istringstream lines(
      Output({"addr2line", "-a", "-f", "-i", "-C", "-e", file.string()}, input));
  std::map<std::uint64_t, std::vector<std::string>> shown;
  std::uint64_t address = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("0x")) {
      address = std::stoull(line, nullptr, 16);
      continue;
    }
    std::string place;
    std::getline(lines, place);
    place = fs::path(place.substr(0, place.find(" (discriminator"))).filename().string();
    // Functions inlined without a linkage name have no arguments there; clones are marked.
    shown[address].push_back(line.substr(0, line.find(" [clone")) + " " + place);
  }
  return shown;
}

void ReplaceFirst(std::string& text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at != std::string::npos) text.replace(at, from.size(), to);
}

class DwarfVersionTest : public ::testing::TestWithParam<const char*> {};

TEST_P(DwarfVersionTest, EveryAddressHasTheFunctionsAndLinesOfAddr2line) {
  const fs::path library = kVictims / GetParam();
  std::vector<std::uint64_t> addresses;
  for (const auto& [name, range] : FunctionsOf(library)) {
    if (name.find("names") == std::string::npos && name.find("local_function") == std::string::npos)
      continue;
    for (std::uint64_t i = 0; i < range.size; ++i) addresses.push_back(range.start + i);
  }
  ASSERT_GT(addresses.size(), 300U);
  const auto expected = ByAddr2line(library, addresses);
  Symbols symbols;
  std::size_t inlined = 0;
  for (const std::uint64_t address : addresses) {
    const auto& frames = symbols.FramesAt(library, "", address);
    ASSERT_FALSE(frames.empty()) << fmt::format("{:#x}", address);
    auto shown = Shown(frames);
    auto peers = expected.at(address);
    // Local functions have no linkage name in debug information, so addr2line shows arguments only
    // sometimes.
    for (auto* const all : {&shown, &peers})
      ReplaceFirst(all->back(), "local_function(int, int)", "local_function");
    EXPECT_EQ(shown, peers) << fmt::format("{:#x}", address);
    inlined = std::max(inlined, frames.size());
  }
  EXPECT_GE(inlined, 3U);
}

INSTANTIATE_TEST_SUITE_P(Versions, DwarfVersionTest,
                         ::testing::Values("libnames4-2.1.so.3", "libnames5-2.1.so.3"),
                         [](const auto& test) { return std::string(test.param).substr(3, 6); });

TEST(SymbolsTest, ModulesHaveTheirNameInEveryVersion) {
  Symbols symbols;
  const auto& library = symbols.ModuleOf(kLibrary, "");
  EXPECT_TRUE(library.readable);
  EXPECT_EQ(library.soname, "libnames5-2.1.so.3");
  EXPECT_EQ(library.name, "libnames5-2.1.so");
  EXPECT_EQ(library.build_id, testing::BuildIdOfFile(kLibrary));
  EXPECT_EQ(symbols.ModuleOf(kVictims / "names_program", "").name, "names_program");
}

TEST(SymbolsTest, AFileOfAnotherBuildIsNotUsed) {
  const std::string build_id = testing::BuildIdOfFile(kLibrary);
  const std::uint64_t address = FunctionsOf(kLibrary)["names_all"].start;
  Symbols symbols;
  EXPECT_FALSE(symbols.FramesAt(kLibrary, build_id, address).empty());
  const std::string other(build_id.size(), '0');
  EXPECT_THAT(symbols.FramesAt(kLibrary, other, address), IsEmpty());
  const auto& module = symbols.ModuleOf(kLibrary, other);
  EXPECT_FALSE(module.readable);
  EXPECT_EQ(module.build_id, other);
  EXPECT_EQ(module.name, "libnames5-2.1.so");  // from its path
}

TEST(SymbolsTest, WithoutDebugInformationSymbolsGiveTheFunction) {
  const auto functions = FunctionsOf(kLibrary);
  Symbols symbols(std::vector<fs::path>{});
  const fs::path stripped = kVictims / "names_strip_debug.so";
  const Range plain = functions.at("names_plain");
  const auto& frames = symbols.FramesAt(stripped, "", plain.start + plain.size / 2);
  EXPECT_THAT(Shown(frames), ElementsAre("names_plain :0"));
  for (const auto& [name, range] : functions) {
    if (name.starts_with("_ZL14local_function")) {
      EXPECT_THAT(
          symbols.FramesAt(stripped, "", range.start),
          ElementsAre(::testing::AllOf(Field(&SourceFrame::function, "local_function(int, int)"),
                                       Field(&SourceFrame::local, true))));
      // With only dynamic symbols, it has no name.
      EXPECT_THAT(symbols.FramesAt(kVictims / "names_strip_unneeded.so", "", range.start),
                  IsEmpty());
    }
  }
  EXPECT_THAT(Shown(symbols.FramesAt(kVictims / "names_strip_unneeded.so", "", plain.start)),
              ElementsAre("names_plain :0"));
}

TEST(SymbolsTest, ADebugFileIsFoundByItsBuildIdAndOnlyOfThisBuild) {
  const std::string build_id = testing::BuildIdOfFile(kLibrary);
  const testing::TempDir directory;
  const fs::path place = directory.path() / ".build-id" / build_id.substr(0, 2);
  fs::create_directories(place);
  const fs::path debug_file = place / (build_id.substr(2) + ".debug");
  fs::copy_file(kVictims / "names.debug", debug_file);
  const Range twice = FunctionsOf(kLibrary).at("_ZN5names5TwiceIiEET_S1_");
  Symbols with(std::vector<fs::path>{directory.path()});
  Symbols whole;
  const fs::path stripped = kVictims / "names_strip_unneeded.so";
  for (std::uint64_t i = 0; i < twice.size; ++i) {
    EXPECT_EQ(with.FramesAt(stripped, build_id, twice.start + i),
              whole.FramesAt(kLibrary, "", twice.start + i))
        << i;
  }
  fs::copy_file(kVictims / "libnames4-2.1.so.3", debug_file, fs::copy_options::overwrite_existing);
  Symbols other(std::vector<fs::path>{directory.path()});
  for (std::uint64_t i = 0; i < twice.size; ++i) {
    EXPECT_LE(other.FramesAt(stripped, build_id, twice.start + i).size(), 1U);
  }
}

TEST(SymbolsTest, FilesThatAreNotModulesHaveNoNames) {
  const testing::TempDir directory;
  const fs::path text = directory.path() / "text";
  ASSERT_TRUE(WriteFileAtomically(text, std::string(5000, 'x'), 0600).has_value());
  Symbols symbols;
  for (const fs::path& path :
       {text, directory.path(), directory.path() / "none", fs::path("/dev/null")}) {
    EXPECT_FALSE(symbols.ModuleOf(path, "").readable) << path;
    EXPECT_THAT(symbols.FramesAt(path, "", 0x1000), IsEmpty());
  }
  EXPECT_THAT(symbols.FramesAt(kLibrary, "", 0), IsEmpty());
  EXPECT_THAT(symbols.FramesAt(kLibrary, "", UINT64_MAX), IsEmpty());
}

TEST(SymbolsTest, OfAFileThatEndsTooEarlyThereAreFewerNames) {
  const auto file = ReadFile(kLibrary, 1 << 20);
  ASSERT_TRUE(file.has_value());
  const testing::TempDir directory;
  const std::uint64_t address = FunctionsOf(kLibrary)["names_all"].start;
  std::size_t named = 0;
  for (std::size_t size = 0; size < file->size(); size += file->size() / 40) {
    const fs::path path = directory.path() / std::to_string(size);
    ASSERT_TRUE(
        WriteFileAtomically(path, std::string_view(*file).substr(0, size), 0600).has_value());
    Symbols symbols;
    named += symbols.FramesAt(path, "", address).empty() ? 0U : 1U;
  }
  EXPECT_LT(named, 40U);
}

}  // namespace
}  // namespace fieldcost::symbols
