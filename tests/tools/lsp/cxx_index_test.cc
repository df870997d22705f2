#include "tools/lsp/cxx_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/lsp/lsp_limits.h"
#include "tools/lsp/source_name.h"

namespace fieldcost::lsp {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Not inlined: g++ 12 mistakes such texts in an expression for short ones.
[[gnu::noinline]] std::string Many(std::size_t count, char c) { return std::string(count, c); }

std::string NameOf(std::string_view symbol) {
  const auto name = ParseCxxName(symbol);
  if (!name) return "(none)";
  std::string text;
  for (const std::string& scope : name->scopes) text += scope + "::";
  return text + name->name;
}

TEST(CxxNameTest, ScopesAndNameWithoutArguments) {
  EXPECT_EQ(NameOf("_Z6globali"), "global");
  EXPECT_EQ(NameOf("_ZN2cv6resizeEii"), "cv::resize");
  EXPECT_EQ(NameOf("_ZNK1a1bIiNS_1cEE3getEv"), "a::b::get");
  EXPECT_EQ(NameOf("_ZN1aC1ERKS_"), "a::a");
  EXPECT_EQ(NameOf("_ZN1aD1Ev"), "a::~a");
  // template <class T> T n::max(T, T): the symbol begins with the result type
  EXPECT_EQ(NameOf("_ZN1n3maxIiEET_S1_S1_"), "n::max");
  EXPECT_EQ(NameOf("_ZN1n4nameB5cxx11Ev"), "n::name");
  EXPECT_EQ(NameOf("_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6appendEPKc"),
            "std::basic_string::append");
}

TEST(CxxNameTest, OmitsSymbolsThatCannotBeCalledByName) {
  for (const char* symbol :
       {"_ZTV1a", "_ZZN1a1bEiENKUliE_clEi", "_ZZ1fvE1x", "_ZTI1a", "_ZGVZ1fvE1x", "_ZThn8_N1a1fEv",
        "_ZN1aplERKS_", "_ZN12_GLOBAL__N_11fEv", "_Z", "_ZN", "open_it", "", "_ZN1a"}) {
    EXPECT_EQ(NameOf(symbol), "(none)") << symbol;
  }
}

TEST(CxxNameTest, ANameThatWouldGrowWithoutBoundIsRefused) {
  // Each function type contains the previous one three times.
  std::string symbol = "_Z1fPFivE";
  const std::string digits = "_0123456789ABCDEFGHIJ";
  for (std::size_t i = 1; symbol.size() < 230 && i + 1 < digits.size(); ++i) {
    const std::string last = i == 1 ? "S0_" : std::string("S") + digits[i] + "_";
    symbol += "PFv" + last + last + last + "E";
  }
  EXPECT_EQ(NameOf(symbol), "(none)");
  EXPECT_EQ(NameOf(std::string("_Z1f") + Many(600, 'i')), "(none)");
}

TEST(CxxNameTest, RefusesNamesThatWouldBecomeEnormous) {
  // The worst case with 24 references: eight levels of three.
  std::string symbol = "_Z1fPFivE";
  std::string last = "S0_";
  const char* const ids[] = {"S2_", "S4_", "S6_", "S8_", "SA_", "SC_", "SE_"};
  for (const char* id : ids) {
    symbol += "PFv" + last + last + last + "E";
    last = id;
  }
  EXPECT_FALSE(ParseCxxName(symbol).has_value());
}

TEST(CxxIndexTest, OverloadsAreFoundTogetherByAnyEndOfTheirScopes) {
  CxxIndex index;
  for (const char* symbol : {"_ZN1a1b1fEi", "_ZN1a1b1fEd", "_ZN1c1fEv", "_Z1fv", "open_it"}) {
    index.Add(symbol);
  }
  index.Finish();
  EXPECT_EQ(index.size(), 4u);
  EXPECT_THAT(index.Find("a::b::f", {}), ElementsAre("_ZN1a1b1fEd", "_ZN1a1b1fEi"));
  EXPECT_THAT(index.Find("b::f", {}), ElementsAre("_ZN1a1b1fEd", "_ZN1a1b1fEi"));
  EXPECT_THAT(index.Find("b :: f", {}), ElementsAre("_ZN1a1b1fEd", "_ZN1a1b1fEi"));
  EXPECT_THAT(index.Find("x::f", {}), IsEmpty());
  EXPECT_THAT(index.Find("f", {}), ElementsAre("_Z1fv"));
  EXPECT_THAT(index.Find("f", {"c"}), ElementsAre("_Z1fv", "_ZN1c1fEv"));
  EXPECT_THAT(index.Find("", {}), IsEmpty());
  EXPECT_THAT(index.Find("::", {}), IsEmpty());
}

TEST(CxxIndexTest, NamesThatBeginSoAreFoundOnceEach) {
  CxxIndex index;
  // Unordered; Json::Reader has a constructor, two overloads of parse(), and a destructor.
  for (const char* symbol :
       {"_ZN4Json6ReaderD1Ev", "_ZN4Json6Reader5parseEPKcS2_", "_ZN4Json6ReaderC1Ev",
        "_ZN4Json6Reader5parseEi", "_ZN4Json4Path7resolveEv", "_ZN5Jsony1fEv", "_Z6globalv",
        "_ZN1aplERKS_", "Json_reader"}) {
    index.Add(symbol);
  }
  index.Finish();
  EXPECT_THAT(index.FindPrefix("Json::Re", 9),
              ElementsAre("Json::Reader::Reader", "Json::Reader::parse"));
  EXPECT_THAT(index.FindPrefix("Json", 9),
              ElementsAre("Json::Path::resolve", "Json::Reader::Reader", "Json::Reader::parse",
                          "Jsony::f"));
  EXPECT_THAT(index.FindPrefix("Json", 2),
              ElementsAre("Json::Path::resolve", "Json::Reader::Reader"));
  EXPECT_THAT(index.FindPrefix("global", 9), ElementsAre("global"));
  EXPECT_THAT(index.FindPrefix("globals", 9), IsEmpty());
  EXPECT_THAT(index.FindPrefix("Reader", 9), IsEmpty()) << "no whole name begins so";
  EXPECT_THAT(index.FindPrefix("", 99), ::testing::SizeIs(5));
}

TEST(CxxIndexTest, AnEmptyIndexHasNoNames) {
  CxxIndex index;
  index.Finish();
  EXPECT_THAT(index.FindPrefix("", 9), IsEmpty());
}

TEST(CxxIndexTest, OfManyOverloadsSomeAreShown) {
  CxxIndex index;
  for (int i = 0; i < 100; ++i) index.Add("_ZN1a1fE" + Many(static_cast<std::size_t>(i) + 1, 'i'));
  index.Finish();
  EXPECT_EQ(index.Find("a::f", {}).size(), kMaxOverloads);
}

}  // namespace
}  // namespace fieldcost::lsp
