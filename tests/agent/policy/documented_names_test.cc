#include "agent/policy/documented_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "tests/support/temp_dir.h"

namespace fieldcost::policy {
namespace {

using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

NameSet NamesIn(std::string_view header) {
  NameSet names;
  AddHeaderNames(header, names);
  return names;
}

std::vector<std::uint64_t> NumbersOf(const NameSet& names) {
  std::vector<std::uint64_t> numbers;
  for (const std::string& name : names) numbers.push_back(shm::DocumentedNumber(name.c_str()));
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

TEST(HeaderNamesTest, NamesInFrontOfAParenthesisAreFound) {
  struct Row {
    std::string_view header;
    NameSet names;
  };
  const std::vector<Row> table = {
      {"", {}},
      {"int value; struct other;", {}},
      {"int first(void);\nint second (int);\nint\nthird\n(int);", {"first", "second", "third"}},
      {"extern int inflate OF((z_streamp strm));", {"inflate", "OF"}},
      {"PNG_EXPORT(1, int, png_access, (void));", {"PNG_EXPORT", "png_access"}},
      {"int BZ_API(BZ2_compress) (int);", {"BZ_API", "BZ2_compress"}},
      {"int __fortified(int); void _exit(int);", {}},
      {"int 3d(int); ((x)(y))", {"x"}},
      {"unfinished", {}},
      {"(", {}},
      {"caf\xc3\xa9(1) a\\\n(b)", {"a"}},
  };
  for (const Row& row : table) EXPECT_EQ(NamesIn(row.header), row.names) << row.header;
}

TEST(HeaderNamesTest, IgnoresExcessivelyLongWords) {
  EXPECT_THAT(NamesIn(std::string(257, 'a') + "(); b();"), UnorderedElementsAre("b"));
}

class DocumentedNamesTest : public ::testing::Test {
 protected:
  DocumentedNamesTest() {
    paths_ = {.config_file = directory_.path() / "agent.toml",
              .state_dir = directory_.path() / "state",
              .catalog_file = {},
              .catalog_root_file = {}};
    paths_.manual_dirs = {directory_.path() / "man3"};
    paths_.header_dirs = {directory_.path() / "include"};
  }

  void Write(const std::filesystem::path& name, std::string_view text) const {
    const std::filesystem::path file = directory_.path() / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::vector<std::uint64_t> Find(const DocumentationLimits& limits = {}) const {
    return FindDocumentedNames(paths_, limits);
  }

  testing::TempDir directory_;
  settings::AgentPaths paths_;
};

TEST_F(DocumentedNamesTest, AreThoseOfManualPagesAndHeaders) {
  EXPECT_THAT(Find(), IsEmpty()) << "no directory";
  for (const char* page : {"printf.3.gz", "SSL_read.3ssl", "_exit.3", "std::map.3", ".3", "5.3"}) {
    Write(std::filesystem::path("man3") / page, "unread(");
  }
  Write("include/a.h", "int top(void);");
  Write("include/deep/er/b.h", "int below(void);");
  Write("include/c.hpp", "int other(void);");
  EXPECT_EQ(Find(), NumbersOf({"SSL_read", "_exit", "below", "printf", "top"}));
}

TEST_F(DocumentedNamesTest, LinksAndSpecialFilesAreNotRead) {
  Write("include/a.h", "int top(void);");
  Write("elsewhere/b.h", "int linked(void);");
  const std::filesystem::path include = directory_.path() / "include";
  std::filesystem::create_directory_symlink(include, include / "loop");
  std::filesystem::create_directory_symlink(directory_.path() / "elsewhere", include / "elsewhere");
  std::filesystem::create_symlink(directory_.path() / "elsewhere" / "b.h", include / "b.h");
  std::filesystem::create_symlink("nowhere", include / "c.h");
  std::filesystem::create_directory(include / "d.h");
  ASSERT_EQ(::mkfifo((include / "e.h").c_str(), 0600), 0);
  EXPECT_EQ(Find(), NumbersOf({"top"}));
}

TEST_F(DocumentedNamesTest, ReadsNoMoreThanTheLimits) {
  Write("include/a.h", "int aaa(void);");
  Write("include/b.h", "int bbb(void);       ");
  Write("include/d/c.h", "int ccc(void);");
  Write("include/d/e/f.h", "int fff(void);");
  EXPECT_EQ(Find(), NumbersOf({"aaa", "bbb", "ccc", "fff"}));
  EXPECT_EQ(Find({.files = 3}), NumbersOf({"aaa", "bbb", "ccc"}));
  EXPECT_EQ(Find({.file_bytes = 20}), NumbersOf({"aaa", "ccc", "fff"}));
  EXPECT_EQ(Find({.bytes = 30}), NumbersOf({"aaa", "ccc"}));
  EXPECT_EQ(Find({.depth = 0}), NumbersOf({"aaa", "bbb"}));
  EXPECT_EQ(Find({.depth = 1}), NumbersOf({"aaa", "bbb", "ccc"}));
  EXPECT_THAT(Find({.entries = 0}), IsEmpty());
  EXPECT_EQ(Find({.entries = 3}), NumbersOf({"aaa", "bbb"}));
  EXPECT_THAT(Find({.time = std::chrono::milliseconds(0)}), IsEmpty());
}

bool HasBit(const std::string& bits, const std::string& name) {
  const std::uint64_t bit = shm::DocumentedBit(shm::DocumentedNumber(name.c_str()),
                                               static_cast<std::uint32_t>(bits.size()));
  return (bits[bit / 8] >> (bit % 8) & 1) != 0;
}

TEST(DocumentedBitsTest, HoldEveryNameAndFewOthers) {
  EXPECT_THAT(DocumentedBits({}), IsEmpty());
  EXPECT_EQ(DocumentedBits({shm::DocumentedNumber("printf")}).size(), 64U);
  struct Row {
    int names;
    std::size_t bytes;
    int most_others;  // out of 1000 names that are not in it
  };
  constexpr Row kTable[] = {
      {1000, 2048, 90}, {1025, 4096, 60}, {100'000, 262'144, 75}, {400'000, 262'144, 220}};
  for (const Row& row : kTable) {
    NameSet names;
    for (int i = 0; i < row.names; ++i) names.insert("name_" + std::to_string(i));
    const std::string bits = DocumentedBits(NumbersOf(names));
    EXPECT_EQ(bits.size(), row.bytes);
    EXPECT_TRUE(shm::IsDocumentedSize(static_cast<std::uint32_t>(bits.size())));
    for (const std::string& name : names) ASSERT_TRUE(HasBit(bits, name)) << name;
    int others = 0;
    for (int i = 0; i < 1000; ++i) others += HasBit(bits, "other_" + std::to_string(i)) ? 1 : 0;
    EXPECT_LT(others, row.most_others) << row.names;
  }
}

TEST_F(DocumentedNamesTest, AreLookedForAgainOnlyIfADirectoryChanges) {
  const std::filesystem::path include = directory_.path() / "include";
  const auto age = [&](int hours) {
    for (const std::filesystem::path& changed : {include, include / "sub"}) {
      std::filesystem::last_write_time(
          changed, std::filesystem::file_time_type() + std::chrono::hours(hours));
    }
  };
  Write("include/sub/a.h", "int first(void);");
  age(1);
  const auto names = ChooseDocumentedNames(paths_);
  ASSERT_TRUE(names);
  EXPECT_TRUE(HasBit(names->bits, "first"));
  ASSERT_TRUE(runs::WritePolicyFile(paths_, settings::AgentConfig{}, true, {}, names));
  EXPECT_FALSE(ChooseDocumentedNames(paths_));

  Write("include/sub/b.h", "int second(void);");
  age(2);
  const auto more = ChooseDocumentedNames(paths_);
  ASSERT_TRUE(more);
  EXPECT_TRUE(HasBit(more->bits, "second"));
  std::filesystem::remove_all(include);
  const auto none = ChooseDocumentedNames(paths_);
  ASSERT_TRUE(none);
  EXPECT_THAT(none->bits, IsEmpty());
  ASSERT_TRUE(runs::WritePolicyFile(paths_, settings::AgentConfig{}, true, {}, none));
  EXPECT_FALSE(ChooseDocumentedNames(paths_));
}

}  // namespace
}  // namespace fieldcost::policy
