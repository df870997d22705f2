#include "tools/cli/run/pick.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/text.h"

namespace fieldcost::cli {
namespace {

TEST(PickTest, GlobsOfSonameAndSymbolAreAccepted) {
  for (const char* pick :
       {"libz.so.1!deflate", "libsqlite3.so.0!sqlite3_*", "*!open?", "liba.so!f,libb.so!g*"}) {
    EXPECT_EQ(*ResolvePick(pick), pick);
  }
}

TEST(PickTest, ASymbolIsThatOfAllLibraries) {
  EXPECT_EQ(*ResolvePick("sqlite3_step"), "*!sqlite3_step");
  EXPECT_EQ(*ResolvePick("deflate*,libz.so.1!crc32"), "*!deflate*,libz.so.1!crc32");
}

TEST(PickTest, LibraryNamesAreNotFunctions) {
  const Result<std::string> status = ResolvePick("libz.so.1");
  ASSERT_FALSE(status.has_value());
  EXPECT_THAT(status.error().message, ::testing::HasSubstr("'libz.so.1!*'"));
}

TEST(PickTest, AnythingElseIsRefused) {
  for (const char* pick : {"", "libz.so.1", "-x", "a/b", "!deflate", "libz.so.1!", "a!b!c", "a!b,",
                           "a!b,,c!d", "a!b c", "a!b\n"}) {
    const Result<std::string> status = ResolvePick(pick);
    ASSERT_FALSE(status.has_value()) << pick;
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
  }
  EXPECT_FALSE(ResolvePick("a!" + std::string(5000, 'x')).has_value());
}

bool Picks(const char* pick, const std::string& symbol) {
  std::string list = *ResolvePick(pick) + ",";
  for (; !list.empty(); list.erase(0, list.find(',') + 1)) {
    if (GlobMatch(list.substr(0, list.find(',')), "liba.so.1!" + symbol)) return true;
  }
  return false;
}

TEST(PickTest, NamesOfCxxAreTheirOverloadsAndNothingElse) {
  for (const char* pick : {"liba.so.1!a::Reader::read", "liba.so.1!Reader::read", "a::Reader::read",
                           "x!y,a::Reader::read", "*!a::Reader::*"}) {
    EXPECT_TRUE(Picks(pick, "_ZN1a6Reader4readEi")) << pick;
    EXPECT_TRUE(Picks(pick, "_ZNK1a6Reader4readEv") || pick == std::string("Reader::read")) << pick;
    EXPECT_TRUE(Picks(pick, "_ZN1a6Reader4readIiEEvT_")) << pick;
    EXPECT_TRUE(Picks(pick, "_ZN1a6Reader4readB5cxx11Ev")) << pick;
    for (const char* other : {"_ZN1a6Writer4readEi", "_ZN1a7ReadersEv", "_Z4readv", "read",
                              "_ZN3foo4readERKN1a6ReaderE", "_ZN1a9MyReader24readEv"}) {
      EXPECT_FALSE(Picks(pick, other)) << pick << " " << other;
    }
  }
  EXPECT_FALSE(Picks("a::Reader::read", "_ZN1a6Reader7readAllEv"));
  EXPECT_TRUE(Picks("a::Reader::*", "_ZN1a6Reader7readAllEv"));
  EXPECT_FALSE(Picks("libb.so.1!a::Reader::read", "_ZN1a6Reader4readEi"));
  EXPECT_TRUE(Picks("a::Reader::Reader", "_ZN1a6ReaderC1ERKS0_"));
  EXPECT_FALSE(Picks("a::Reader::Reader", "_ZN1a6ReaderD1Ev"));
  EXPECT_TRUE(Picks("a::Reader::~Reader", "_ZN1a6ReaderD0Ev"));
}

TEST(PickTest, NamesOfCxxThatSymbolsDoNotSpellAreRefused) {
  for (const char* pick :
       {"a::", "::f", "a::b::", "a::f(int)", "a::B<int>::f", "a::operator+", "a::operator",
        "std::string::append", "x!std::getline", "a::*::f", "a::re*", "a::9", "a::~B"}) {
    const Result<std::string> globs = ResolvePick(pick);
    ASSERT_FALSE(globs.has_value()) << pick << " " << *globs;
    EXPECT_EQ(globs.error().code, ErrorCode::kInvalidArgument);
  }
}

TEST(MetricsTest, NamesComeInAnyOrder) {
  EXPECT_EQ(*NormalizeMetrics("time"), "time");
  EXPECT_EQ(*NormalizeMetrics("alloc"), "alloc");
  EXPECT_EQ(*NormalizeMetrics("time,alloc"), "time,alloc");
  EXPECT_EQ(*NormalizeMetrics("alloc,time"), "time,alloc");
  EXPECT_EQ(*NormalizeMetrics("cycles,io,time"), "time,io,cycles");
  EXPECT_EQ(*NormalizeMetrics("cycles,alloc,io,time"), "time,alloc,io,cycles");
  EXPECT_EQ(*NormalizeMetrics("io,io"), "io");
  for (const char* text : {"", "wall", "time,", "time,alloc,disk", "io cycles"}) {
    EXPECT_FALSE(NormalizeMetrics(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace fieldcost::cli
