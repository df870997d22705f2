#include "common/draw/terminal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/text.h"

namespace fieldcost::draw {
namespace {

constexpr Style kPlain{};
constexpr Style kUtf8{.utf8 = true};

TEST(ShortenTest, CutsBetweenCharacters) {
  for (std::size_t width = 3; width < 12; ++width) {
    const std::string cut =
        Shorten("\u00e4\u4e2d\u00e4\u4e2d\u00e4\u4e2d\u00e4\u4e2d\u00e4", width, {});
    EXPECT_EQ(cut.find("\\x"), std::string::npos);
    EXPECT_EQ(EscapeControl(cut), cut) << width;
  }
}

TEST(TerminalTest, ColourNeedsATerminalAndNoObjection) {
  const TerminalFacts terminal{true, "", "xterm-256color", "", "C.UTF-8"};
  EXPECT_EQ(ChooseStyle(ColorChoice::kAuto, terminal).color, ColorDepth::k256);
  EXPECT_TRUE(ChooseStyle(ColorChoice::kAuto, terminal).utf8);
  EXPECT_EQ(ChooseStyle(ColorChoice::kNever, terminal).color, ColorDepth::kNone);
  TerminalFacts facts = terminal;
  facts.color_term = "truecolor";
  EXPECT_EQ(ChooseStyle(ColorChoice::kAuto, facts).color, ColorDepth::kTrue);
  facts.no_color = "1";
  EXPECT_EQ(ChooseStyle(ColorChoice::kAuto, facts).color, ColorDepth::kNone);
  EXPECT_EQ(ChooseStyle(ColorChoice::kAlways, facts).color, ColorDepth::kTrue);
  facts = terminal;
  facts.is_terminal = false;
  EXPECT_EQ(ChooseStyle(ColorChoice::kAuto, facts).color, ColorDepth::kNone);
  facts = terminal;
  facts.term = "dumb";
  EXPECT_EQ(ChooseStyle(ColorChoice::kAuto, facts).color, ColorDepth::kNone);
  facts.locale = "C";
  EXPECT_FALSE(ChooseStyle(ColorChoice::kAuto, facts).utf8);
}

TEST(TerminalTest, LongNamesAreCutInTheMiddleAndControlCharactersEscaped) {
  EXPECT_EQ(Shorten("sqlite3_prepare_v2", 10, kPlain), "sqlite~_v2");
  EXPECT_EQ(Shorten("sqlite3_prepare_v2", 10, kUtf8), "sqlite…_v2");
  EXPECT_EQ(Shorten("short", 10, kPlain), "short");
  EXPECT_EQ(Shorten("short", 0, kPlain), "");
  EXPECT_EQ(Shorten("ääääääääääääb", 7, kUtf8), "ääää…äb");
  EXPECT_EQ(Shorten("a\x1b[31mb", 20, kPlain), "a\\x1b[31mb");
}

}  // namespace
}  // namespace fieldcost::draw
