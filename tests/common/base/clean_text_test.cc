#include "common/base/clean_text.h"

#include <gtest/gtest.h>

namespace fieldcost {
namespace {

TEST(CleanTextTest, KeepsCleanText) {
  for (const std::string text : {"", "index_open", "größer – 漢字 🦀"}) {
    EXPECT_TRUE(IsText(text, 64)) << text;
    EXPECT_EQ(CleanText(text, 64), text);
    EXPECT_EQ(CleanPath(text, 64), text);
  }
}

TEST(CleanTextTest, ReplacesForbiddenCharacters) {
  EXPECT_EQ(CleanText("a\nb\x1b[c\xff", 64),
            "a\xef\xbf\xbd"
            "b\xef\xbf\xbd[c\xef\xbf\xbd");
  EXPECT_EQ(CleanText("\xe2\x80\xaetxt.exe", 64), "\xef\xbf\xbdtxt.exe");
  EXPECT_EQ(CleanText("\xc2\x9b"
                      "31m",
                      64),
            "\xef\xbf\xbd"
            "31m");
}

TEST(CleanTextTest, CutsLongTextBetweenCharacters) {
  EXPECT_EQ(CleanText("aä", 2), "a");
  EXPECT_EQ(CleanText("aä", 3), "aä");
  EXPECT_EQ(CleanPath("ä/b", 3), "/b");
  EXPECT_EQ(CleanPath("/long/way/file.cc", 7), "file.cc");
  EXPECT_EQ(CleanText(std::string(300, '\n'), 64).size(), 63U);
}

}  // namespace
}  // namespace fieldcost
