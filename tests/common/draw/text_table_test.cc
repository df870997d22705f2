#include "common/draw/text_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/draw/terminal.h"

namespace fieldcost::draw {
namespace {

TEST(TextTableTest, LinesFitTheTerminal) {
  const std::vector<TextColumn> columns = {{"NAME", false, 0, 6},
                                           {"COUNT", true},
                                           {"NOTE", false, 2},
                                           {"MORE", false, 1},
                                           {"NONE", true, 3}};
  const std::vector<TextLine> lines = {{"a_long_name_of_it", "1", "note", "more", "-"},
                                       {"short", "23", "", "m", ""}};
  const auto at = [&](std::size_t width) {
    return TextTable(columns, lines, {.utf8 = true, .columns = width}, " ");
  };
  const std::string whole =
      " NAME               COUNT  NOTE  MORE\n"
      " a_long_name_of_it      1  note  more\n"
      " short                 23        m\n";
  EXPECT_EQ(at(0), whole);
  EXPECT_EQ(at(37), whole);
  EXPECT_EQ(at(27),
            " NAME     COUNT  NOTE  MORE\n"
            " a_lo…it      1  note  more\n"
            " short       23        m\n");
  EXPECT_EQ(at(20),
            " NAME    COUNT  MORE\n"
            " a_lo…t      1  more\n"
            " short      23  m\n");
  EXPECT_EQ(at(3),
            " NAME    COUNT\n"
            " a_lo…t      1\n"
            " short      23\n");
}

TEST(TextTableTest, NamesHavePriorityOverSpareColumns) {
  const std::vector<TextColumn> columns = {
      {"API", false, 0, 16, true}, {"CALLS", true, 2}, {"SPECTRUM", false, 3}};
  const std::vector<TextLine> lines = {{"shop::vault::Compressor::Pack", "60", "spectrum"}};
  const auto at = [&](std::size_t width) {
    return TextTable(columns, lines, {.utf8 = true, .columns = width});
  };
  EXPECT_EQ(at(46),
            "API                            CALLS  SPECTRUM\n"
            "shop::vault::Compressor::Pack     60  spectrum\n");
  EXPECT_EQ(at(45),
            "API                            CALLS\n"
            "shop::vault::Compressor::Pack     60\n");
  EXPECT_EQ(at(27),
            "API                   CALLS\n"
            "…::Compressor::Pack      60\n");
  EXPECT_TRUE(HasColumn(at(46), "SPECTRUM"));
  EXPECT_FALSE(HasColumn(at(45), "SPECTRUM"));
}

TEST(TextTableTest, RemarksAreShortenedByWholeClauses) {
  const std::vector<TextColumn> columns = {
      {"N", true}, {.heading = "SHAPE", .least = 12, .keeps = TextColumn::Keeps::kStart}};
  const std::vector<TextLine> lines = {{"1", "heavy-tailed, 1 % of calls cost >= 20 x the median"},
                                       {"2", "start-up >= 40 x, then bimodal, 4 % of calls"},
                                       {"3", "grows with argument 3, ~n^1.0"}};
  const auto at = [&](std::size_t width) {
    return TextTable(columns, lines, {.utf8 = true, .columns = width});
  };
  EXPECT_EQ(at(34),
            "N  SHAPE\n"
            "1  heavy-tailed\n"
            "2  start-up >= 40 x, then bimodal\n"
            "3  grows with argument 3, ~n^1.0\n");
  EXPECT_EQ(at(26),
            "N  SHAPE\n"
            "1  heavy-tailed\n"
            "2  start-up >= 40 x\n"
            "3  grows with argument 3\n");
  // Too narrow for a clause: breaks between words.
  EXPECT_EQ(at(15),
            "N  SHAPE\n"
            "1  heavy-tailed\n"
            "2  start-up >=…\n"
            "3  grows with…\n");
}

TEST(TextTableDeathTest, ALineWithoutATextForEachColumnIsABug) {
  EXPECT_DEATH(TextTable({{"NAME"}, {"COUNT", true}}, {{"one"}}, {}), "columns.size");
}

TEST(WrapLinesTest, LongLinesAreBrokenAtBlanks) {
  const Style narrow{.columns = 20};
  EXPECT_EQ(WrapLines("short\n", narrow), "short\n");
  EXPECT_EQ(WrapLines("  one two three four five six\n\nend", narrow),
            "  one two three four\n    five six\n\nend\n");
  EXPECT_EQ(WrapLines("a_word_that_is_longer_than_it is whole\n", narrow),
            "a_word_that_is_longer_than_it\n  is whole\n");
  const std::string painted = Paint("1234567890", {}, ColorDepth::kTrue);
  EXPECT_EQ(WrapLines(painted + " 12345678\n", narrow), painted + " 12345678\n");
  EXPECT_EQ(WrapLines("one two three four five\n", {}), "one two three four five\n");
}

}  // namespace
}  // namespace fieldcost::draw
