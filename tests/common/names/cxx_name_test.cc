#include "common/names/cxx_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "tests/support/process.h"

namespace fieldcost::names {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kParse[] =
    "_ZN4Json6Reader5parseERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEERNS_5ValueEb";

TEST(ShortNameTest, IsWhatPeopleWrite) {
  EXPECT_EQ(ShortName("sqlite3_step"), "sqlite3_step");
  EXPECT_EQ(ShortName(kParse), "Json::Reader::parse");
  EXPECT_EQ(ShortName("_ZN1a1BIiE1fIcEEvT_"), "a::B::f");  // void a::B<int>::f<char>(char)
  EXPECT_EQ(ShortName("_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4sizeEv"),
            "std::basic_string::size");
  EXPECT_EQ(ShortName("_ZN3fooltERKS_"), "foo::operator<");
  EXPECT_EQ(ShortName("_ZN3fooclEi"), "foo::operator()");
  EXPECT_EQ(ShortName("_ZN3fooD1Ev"), "foo::~foo");
  EXPECT_EQ(ShortName("_Znwm"), "operator new");
  EXPECT_EQ(ShortName("_ZN12_GLOBAL__N_11fEv"), "(anonymous namespace)::f");
  // Symbols without their own function name: their kind must remain visible.
  EXPECT_EQ(ShortName("_ZTV3foo"), "vtable for foo");
  EXPECT_EQ(ShortName("_ZZN1a1fEvENKUlvE_clEv"), "a::f()::{lambda()#1}::operator()() const");
  EXPECT_EQ(ShortName("_ZN3bad"), "_ZN3bad");
  EXPECT_EQ(ShownName({.soname = "libjsoncpp.so.25", .symbol = kParse}),
            "libjsoncpp.so.25!Json::Reader::parse");
}

TEST(CxxNameQueryTest, AnyScopeMayBeTheFirst) {
  for (const char* typed : {"parse", "Reader::parse", "Json::Reader::parse",
                            "Json::Reader::parse(std::__cxx11::basic_string<char, "
                            "std::char_traits<char>, std::allocator<char> > const&, "
                            "Json::Value&, bool)"}) {
    EXPECT_TRUE(CxxNameQuery(typed).Matches(kParse)) << typed;
  }
  for (const char* typed : {"", "arse", "Json::Reader", "Json::parse", "json::reader::parse",
                            "::parse", "parse()", "son::Reader::parse"}) {
    EXPECT_FALSE(CxxNameQuery(typed).Matches(kParse)) << typed;
  }
  EXPECT_FALSE(CxxNameQuery("sqlite3_step").Matches("sqlite3_step"));  // found by its symbol
  EXPECT_TRUE(CxxNameQuery("operator new").Matches("_Znwm"));
  EXPECT_TRUE(CxxNameQuery("foo::~foo").Matches("_ZN3fooD1Ev"));
}

TEST(SpelledIdentifiersTest, AbbreviationsAreNotSpelledIdentifiers) {
  EXPECT_THAT(SpelledIdentifiers("json::reader"), ElementsAre("json", "reader"));
  EXPECT_THAT(SpelledIdentifiers("std::string::ope"), IsEmpty());
  EXPECT_THAT(SpelledIdentifiers("foo<5>"), ElementsAre("foo"));
}

// Symbols excluded by their letters must not include any whose name would have matched.
TEST(CxxNameQueryTest, LettersLeaveOutNothingThatMatches) {
  const testing::ProcessResult symbols = testing::RunProcess(
      {.arguments = {"sh", "-c",
                     "nm -D --defined-only --format=just-symbols \"$(ldd \"$0\" | sed -n "
                     "'s/.*=> \\(.*libstdc++[^ ]*\\) .*/\\1/p')\"",
                     std::filesystem::read_symlink("/proc/self/exe").string()}});
  std::istringstream lines(symbols.output);
  std::size_t names = 0;
  for (std::string symbol; std::getline(lines, symbol);) {
    symbol = symbol.substr(0, symbol.find('@'));
    if (!IsCxxSymbol(symbol) || ++names % 7 != 0) continue;
    const std::string name = ShortName(symbol);
    ASSERT_TRUE(CxxNameQuery(name).Matches(symbol)) << symbol << " " << name;
    ASSERT_TRUE(CxxNameQuery(DemangledName(symbol)).Matches(symbol) || name.find('(') == 0 ||
                DemangledName(symbol).find('(') == std::string::npos)
        << symbol;
  }
  EXPECT_GT(names, 1000U) << symbols.errors;
}

}  // namespace
}  // namespace fieldcost::names
