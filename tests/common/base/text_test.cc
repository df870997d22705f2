#include "common/base/text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace fieldcost {
namespace {

TEST(EscapeControlTest, LeavesNoTerminalControlCharacters) {
  EXPECT_EQ(EscapeControl("plain text"), "plain text");
  EXPECT_EQ(EscapeControl("a\nb\r\t"), "a\\x0ab\\x0d\\x09");
  EXPECT_EQ(EscapeControl("\x1b[31m\x7f"), "\\x1b[31m\\x7f");
  EXPECT_EQ(EscapeControl(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(EscapeControl("\xc3\xa4"), "\xc3\xa4");
  EXPECT_EQ(EscapeControl("\xc2\x9bm"), "\\xc2\\x9bm");
  EXPECT_EQ(EscapeControl("\xc2\x80\xc2\x9f\xc2\xa0"), "\\xc2\\x80\\xc2\\x9f\xc2\xa0");
}

TEST(EscapeControlTest, EscapesBytesThatAreNotUtf8) {
  EXPECT_EQ(EscapeControl("\x9b"
                          "31m"),
            "\\x9b31m")
      << "the 8-bit form of ESC [";
  EXPECT_EQ(EscapeControl("a\x80\x9f"
                          "b"),
            "a\\x80\\x9fb");
  EXPECT_EQ(EscapeControl("\xe4"), "\\xe4") << "Latin-1";
  EXPECT_EQ(EscapeControl("\xe2\x80"), "\\xe2\\x80") << "a character that was cut";
  EXPECT_EQ(EscapeControl("\xe4\x9b\x84"), "\xe4\x9b\x84") << "0x9b inside a character";
}

TEST(EscapeControlTest, EscapesMarksOfDirectionAndInvisibleCharacters) {
  EXPECT_EQ(EscapeControl("a\u202e"
                          "b"),
            "a\\xe2\\x80\\xaeb");
  for (const char* mark : {"\u061c", "\u200e", "\u200f", "\u202a", "\u202e", "\u2066", "\u2069",
                           "\u00ad", "\u200b", "\u2028", "\u2029", "\ufeff", "\U000e0041"}) {
    EXPECT_EQ(EscapeControl(mark).find(mark), std::string::npos) << HexEncode(mark);
  }
  for (const char* letter : {"\u05d0", "\u0627", "\u2010", "\u2030", "\u4e2d"}) {
    EXPECT_EQ(EscapeControl(letter), letter);
  }
}

TEST(EscapeControlTest, EscapesCannotBeForged) {
  EXPECT_NE(EscapeControl("\n"), EscapeControl("\\x0a"));
}

TEST(QuoteJsonTest, AlwaysProducesAValidString) {
  EXPECT_EQ(QuoteJson("plain"), R"("plain")");
  EXPECT_EQ(QuoteJson("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(QuoteJson("a\nb\x7f\xc2\x9b"), R"("a\u000ab\u007f\u009b")");
  EXPECT_EQ(QuoteJson(std::string_view("\0", 1)), R"("\u0000")");
  EXPECT_EQ(QuoteJson("\u202e\U000e0041"), R"("\u202e\udb40\udc41")");
  EXPECT_EQ(QuoteJson("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"),
            "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"");
}

TEST(QuoteJsonTest, ReplacesInvalidUtf8) {
  EXPECT_EQ(QuoteJson("a\xff"), R"("a\ufffd")");
  EXPECT_EQ(QuoteJson("\xc3"), R"("\ufffd")");
  EXPECT_EQ(QuoteJson("\xc0\x80"), R"("\ufffd\ufffd")");            // overlong
  EXPECT_EQ(QuoteJson("\xed\xa0\x80"), R"("\ufffd\ufffd\ufffd")");  // a surrogate
  EXPECT_EQ(QuoteJson("\xf4\x90\x80\x80z"), R"("\ufffd\ufffd\ufffd\ufffdz")");
}

TEST(HexTest, EveryByteSurvives) {
  std::vector<std::uint8_t> bytes(256);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i);
  const std::string digits = HexEncode(bytes);
  EXPECT_EQ(digits.substr(0, 6), "000102");
  EXPECT_EQ(digits.substr(510), "ff");
  EXPECT_EQ(HexDecode(digits), std::string(bytes.begin(), bytes.end()));
}

TEST(HexTest, OnlyPairsOfDigitsAreDecoded) {
  EXPECT_EQ(HexDecode(""), "");
  EXPECT_EQ(HexDecode("aAfF"), "\xaa\xff");
  for (const char* text : {"a", "abc", "0x", "g0", "0g", " 00", "00 ", "-1"}) {
    EXPECT_EQ(HexDecode(text), std::nullopt) << text;
  }
}

TEST(ParseUint64Test, TakesDigitsOnlyAndTheWholeRange) {
  EXPECT_EQ(ParseUint64("0"), 0u);
  EXPECT_EQ(ParseUint64("007"), 7u);
  EXPECT_EQ(ParseUint64("18446744073709551615"), ~std::uint64_t{0});
  for (const char* text :
       {"", " 1", "1 ", "+1", "-1", "0x1", "1.0", "1e3", "18446744073709551616"}) {
    EXPECT_EQ(ParseUint64(text), std::nullopt) << text;
  }
}

TEST(GlobMatchTest, StarIsAnyRunAndQuestionMarkAnyOne) {
  for (const auto& [pattern, text] : std::vector<std::pair<const char*, const char*>>{
           {"", ""},
           {"*", ""},
           {"*", "abc"},
           {"a*c", "ac"},
           {"a*c", "abbc"},
           {"a?c", "abc"},
           {"*b*", "abc"},
           {"**", "x"},
           {"a*b*c", "aXbXbXc"},
           {"libsqlite3.so.0!sqlite3_*", "libsqlite3.so.0!sqlite3_step"}}) {
    EXPECT_TRUE(GlobMatch(pattern, text)) << pattern << " " << text;
  }
  for (const auto& [pattern, text] :
       std::vector<std::pair<const char*, const char*>>{{"", "a"},
                                                        {"a", ""},
                                                        {"?", ""},
                                                        {"a?c", "ac"},
                                                        {"a*c", "abd"},
                                                        {"*b", "abc"},
                                                        {"ab", "abc"},
                                                        {"A", "a"}}) {
    EXPECT_FALSE(GlobMatch(pattern, text)) << pattern << " " << text;
  }
}

TEST(TrimTest, TakesOffWhatIsAroundAndNothingWithin) {
  EXPECT_EQ(Trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(Trim("a"), "a");
  EXPECT_EQ(Trim(" \n"), "");
  EXPECT_EQ(Trim(""), "");
  EXPECT_EQ(Trim("\"a\" ", "\""), "a\" ");
}

TEST(SplitTest, KeepsEmptyParts) {
  using Parts = std::vector<std::string_view>;
  EXPECT_EQ(Split("a,b c", ", "), (Parts{"a", "b", "c"}));
  EXPECT_EQ(Split(",a,,b,", ","), (Parts{"", "a", "", "b", ""}));
  EXPECT_EQ(Split("a", ","), Parts{"a"});
  EXPECT_EQ(Split("", ","), Parts{""});
}

TEST(CountedTest, OneIsSingularAndThousandsStandInGroups) {
  EXPECT_EQ(Counted(1, "batch", "batches"), "1 batch");
  EXPECT_EQ(Counted(0, "batch", "batches"), "0 batches");
  EXPECT_EQ(Counted(1, "call"), "1 call");
  EXPECT_EQ(Counted(2, "call"), "2 calls");
  EXPECT_EQ(Counted(1'234'567, "call"), "1,234,567 calls");
}

TEST(ListTextTest, TextsAreEscapedAndWhatIsLeftOutIsCounted) {
  const std::vector<std::string> texts = {"a", "b\n", "c", "d"};
  EXPECT_EQ(ListText(texts, 4), "a, b\\x0a, c, d");
  EXPECT_EQ(ListText(texts, 2), "a, b\\x0a and 2 more");
  EXPECT_EQ(ListText({}, 2), "");
}

TEST(FormatCountTest, EveryDigitIsShown) {
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(1000), "1,000");
  EXPECT_EQ(FormatCount(~std::uint64_t{0}), "18,446,744,073,709,551,615");
}

TEST(GlobMatchTest, ManyStarsStayCheap) {
  std::string pattern;
  for (int i = 0; i < 30; ++i) pattern += "*a";
  EXPECT_FALSE(GlobMatch(pattern + "b", std::string(2000, 'a')));
}

}  // namespace
}  // namespace fieldcost
