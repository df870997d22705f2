#include "tools/lsp/document.h"

#include <gtest/gtest.h>

#include <random>

#include "tools/lsp/lsp_limits.h"

namespace fieldcost::lsp {
namespace {

DocumentChange Edit(Position start, Position end, std::string text) {
  return {Range{start, end}, std::move(text)};
}

// U+00E9 is 2 bytes and 1 unit of UTF-16, U+1F600 is 4 bytes and 2 units.
constexpr char kLine[] = "a\xc3\xa9\xf0\x9f\x98\x80z";

TEST(TextPositionTest, CountsInTheUnitsOfTheEncoding) {
  EXPECT_EQ(ByteOffset(kLine, 4, PositionEncoding::kUtf16), 7u);
  EXPECT_EQ(ByteOffset(kLine, 3, PositionEncoding::kUtf32), 7u);
  EXPECT_EQ(ByteOffset(kLine, 7, PositionEncoding::kUtf8), 7u);
  EXPECT_EQ(CharacterOf(kLine, 7, PositionEncoding::kUtf16), 4u);
  EXPECT_EQ(CharacterOf(kLine, 7, PositionEncoding::kUtf32), 3u);
  EXPECT_EQ(CharacterOf(kLine, 7, PositionEncoding::kUtf8), 7u);
}

TEST(TextPositionTest, InsideACharacterMeansItsStartAndBeyondTheLineItsEnd) {
  EXPECT_EQ(ByteOffset(kLine, 3, PositionEncoding::kUtf16), 3u);  // between two surrogates
  EXPECT_EQ(ByteOffset(kLine, 5, PositionEncoding::kUtf8), 3u);
  EXPECT_EQ(ByteOffset(kLine, 4'000'000'000u, PositionEncoding::kUtf16), 8u);
}

TEST(TextPositionTest, BytesThatAreNotUtf8CountOneEach) {
  EXPECT_EQ(CharacterOf("\xff\xc3z", 3, PositionEncoding::kUtf16), 3u);
  EXPECT_EQ(ByteOffset("\xf0\x9f", 2, PositionEncoding::kUtf16), 2u);
}

TEST(TextPositionDeathTest, AnOffsetBeyondTheLineIsABug) {
  EXPECT_DEATH(CharacterOf(kLine, 9, PositionEncoding::kUtf8), "line.size");
}

TEST(DocumentTest, LinesEndInThreeWays) {
  const Document document("c", "a\nb\r\nc\rd", PositionEncoding::kUtf16);
  EXPECT_EQ(document.OffsetOf({0, 9}), 1u);
  EXPECT_EQ(document.OffsetOf({1, 9}), 3u);
  EXPECT_EQ(document.OffsetOf({2, 9}), 6u);
  EXPECT_EQ(document.OffsetOf({3, 0}), 7u);
  EXPECT_EQ(document.OffsetOf({4, 0}), 8u);  // after the text: its end
  EXPECT_EQ(document.PositionOf(7), (Position{3, 0}));
  EXPECT_EQ(document.PositionOf(4), (Position{1, 1}));  // inside "\r\n"
}

TEST(DocumentTest, EachEditSpeaksOfTheTextThatTheOneBeforeLeft) {
  Document document("c", "one\ntwo\n", PositionEncoding::kUtf16);
  ASSERT_TRUE(document.Apply(std::vector<DocumentChange>{
      Edit({0, 0}, {1, 0}, ""), Edit({0, 3}, {0, 3}, " \xc3\xa9"), Edit({1, 0}, {9, 9}, "end")}));
  EXPECT_EQ(document.text(), "two \xc3\xa9\nend");
}

TEST(DocumentTest, AnEditThatJoinsCarriageReturnAndLineFeedMovesTheLines) {
  Document document("c", "a\rb\nc", PositionEncoding::kUtf16);
  ASSERT_TRUE(document.Apply(std::vector<DocumentChange>{Edit({1, 0}, {1, 1}, "")}));
  EXPECT_EQ(document.text(), "a\r\nc");
  EXPECT_EQ(document.OffsetOf({1, 0}), 3u);
  EXPECT_EQ(document.OffsetOf({2, 0}), 4u);
}

TEST(DocumentTest, AThousandRandomEditsLeaveTheLinesOfAFreshText) {
  std::mt19937 random(7);
  const std::vector<std::string> pieces = {"",     "x",  "\n",   "\r",
                                           "\r\n", "yz", "\n\r", "\xf0\x9f\x98\x80"};
  Document document("c", "", PositionEncoding::kUtf16);
  for (int i = 0; i < 1000; ++i) {
    const Document fresh("c", document.text(), PositionEncoding::kUtf16);
    ASSERT_EQ(document.PositionOf(document.text().size()), fresh.PositionOf(fresh.text().size()));
    std::size_t begin = random() % (document.text().size() + 1);
    std::size_t end = std::min<std::size_t>(document.text().size(), begin + random() % 4);
    const Range range = fresh.RangeOf(begin, end);
    begin = fresh.OffsetOf(range.start);
    end = fresh.OffsetOf(range.end);
    std::string wanted = document.text();
    std::string piece = pieces[random() % pieces.size()];
    wanted.replace(begin, end - begin, piece);
    ASSERT_TRUE(document.Apply(std::vector<DocumentChange>{Edit(range.start, range.end, piece)}));
    ASSERT_EQ(document.text(), wanted);
    for (std::size_t at = 0; at <= wanted.size(); ++at) {
      ASSERT_EQ(document.PositionOf(at),
                Document("c", wanted, PositionEncoding::kUtf16).PositionOf(at));
    }
    if (wanted.size() > 60) {
      ASSERT_TRUE(document.Apply(std::vector<DocumentChange>{{std::nullopt, "\r"}}));
    }
  }
}

TEST(DocumentTest, AfterAnEditThatCannotBeTheTextIsUnknownUntilAllOfItComes) {
  Document document("c", "abc", PositionEncoding::kUtf16);
  EXPECT_FALSE(document.Apply(std::vector<DocumentChange>{Edit({0, 2}, {0, 1}, "x")}));
  EXPECT_FALSE(document.usable());
  EXPECT_FALSE(document.Apply(std::vector<DocumentChange>{Edit({0, 0}, {0, 0}, "x")}));
  EXPECT_TRUE(document.Apply(std::vector<DocumentChange>{{std::nullopt, "new"}}));
  EXPECT_TRUE(document.usable());
  EXPECT_EQ(document.text(), "new");
}

TEST(DocumentTest, ATextAboveTheLimitIsNotKept) {
  Document document("c", std::string(kMaxDocumentBytes + 1, 'x'), PositionEncoding::kUtf16);
  EXPECT_FALSE(document.usable());
  EXPECT_EQ(document.text(), "");
  ASSERT_TRUE(document.Apply(
      std::vector<DocumentChange>{{std::nullopt, std::string(kMaxDocumentBytes, 'x')}}));
  const auto grown = document.Apply(std::vector<DocumentChange>{Edit({0, 0}, {0, 0}, "y")});
  ASSERT_FALSE(grown);
  EXPECT_EQ(grown.error().code, ErrorCode::kTooLarge);
  EXPECT_FALSE(document.usable());
}

}  // namespace
}  // namespace fieldcost::lsp
