#include "common/names/rust_name.h"

#include <gtest/gtest.h>

#include "common/names/cxx_name.h"

namespace fieldcost::names {
namespace {

TEST(DemangledRustNameTest, ReadsBothSchemesWithoutWhatDiffersFromBuildToBuild) {
  struct Case {
    const char* symbol;
    const char* name;
  };
  for (const auto& [symbol, name] : {
           Case{"_RNvNtCs7hGsdLQN3KQ_4demo6parser5parse", "demo::parser::parse"},
           Case{"_RNvNtCs1234_4demo6parser5parse", "demo::parser::parse"},
           Case{"_RNvXs_NtCs7hGsdLQN3KQ_4demo6parserNtB4_6ReaderNtB4_6Source10next_value",
                "<demo::parser::Reader as demo::parser::Source>::next_value"},
           Case{"_RINvNtC4demo6parser5parseNCNvC4demo4main0EB4_",
                "demo::parser::parse::<demo::main::{closure#0}>"},
           Case{"_RNvC6_123foo3bar", "123foo::bar"},
           Case{"_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"},
           Case{"_ZN61_$LT$demo..parser..Reader$u20$as$u20$demo..parser..Source$GT$"
                "10next_value17hfedcba9876543210E",
                "<demo::parser::Reader as demo::parser::Source>::next_value"},
           Case{"_ZN4demo4main28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE",
                "demo::main::{{closure}}"},
       }) {
    EXPECT_EQ(DemangledRustName(symbol), name) << symbol;
  }
  for (const char* symbol : {"", "main", "_R", "_Rx", "_RN", "_Z1fi", "_ZN1a1fEi",
                             "_ZN1a1f17h0123456789abcdefEi", "_RNvC4demo", "_ZN", "_"}) {
    EXPECT_EQ(DemangledRustName(symbol), std::nullopt) << symbol;
  }
  EXPECT_EQ(DemangledRustName(std::string("_RNvC4demo4main\0x", 17)), std::nullopt);
}

// Each level doubles the output: it would have 2^40 bytes if it were not stopped.
TEST(DemangledRustNameTest, NamesThatGrowExponentiallyAreLeft) {
  std::string symbol = "_RINvC1a1f";
  std::string type = "TyyE";
  std::size_t at = symbol.size() - 2;  // a back reference counts from after "_R"
  const auto reference = [](std::size_t number) {
    constexpr char kDigits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    std::string digits;
    for (number -= 1;; number /= 62) {
      digits.insert(digits.begin(), kDigits[number % 62]);
      if (number < 62) return "B" + digits + "_";
    }
  };
  symbol += type;
  for (int i = 0; i < 40; ++i) {
    const std::string again = reference(at);
    at = symbol.size() - 2;
    symbol += "T" + again + again + "E";
    EXPECT_EQ(DemangledRustName(symbol + "E").has_value(), i < 9) << i;
  }
}

TEST(WithoutRustEncodingTest, ReadsWhatCxxDemanglersLeave) {
  EXPECT_EQ(WithoutRustEncoding("core::fmt::write::h0123456789abcdef"), "core::fmt::write");
  EXPECT_EQ(WithoutRustEncoding("_$LT$demo..Reader$u20$as$u20$demo..Source$GT$::next::"
                                "h0123456789abcdef"),
            "<demo::Reader as demo::Source>::next");
  EXPECT_EQ(WithoutRustEncoding("<a as b>::f::h0123456789abcdef"), "<a as b>::f");
  for (const char* name : {"", "main", "a::h0123456789abcde", "a::h0123456789abcdeg", "a::b",
                           "::h0123456789abcdef", "_$LT$a$GT$::f"}) {
    EXPECT_EQ(WithoutRustEncoding(name), name);
  }
}

}  // namespace
}  // namespace fieldcost::names
