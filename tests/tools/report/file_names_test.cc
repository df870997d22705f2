#include "tools/report/file_names.h"

#include <gtest/gtest.h>

#include "tools/report/cards/local_page.h"

namespace fieldcost::report {
namespace {

TEST(SafeFileNameTest, AnyNameBecomesOneThatIsSafeAndItsOwn) {
  EXPECT_EQ(SafeFileName("sqlite3_step"), "sqlite3_step");
  EXPECT_EQ(SafeFileName("../x"), "~2E.~2Fx");
  EXPECT_EQ(SafeFileName("-rf"), "~2Drf");
  EXPECT_EQ(SafeFileName("a~b c\xff"), "a~7Eb~20c~FF");
  EXPECT_NE(SafeFileName(""), "");
  const std::string long_name(250, 'a');
  EXPECT_LE(SafeFileName(long_name).size(), kMaxFileNameBytes + 18);
  EXPECT_NE(SafeFileName(long_name), SafeFileName(long_name + "b"));
  FileNames names;
  EXPECT_EQ(names.Take("Value"), "Value");
  EXPECT_NE(names.Take("value"), "value") << "not everywhere another file";
}

TEST(PagePathTest, NoApiTakesThePlaceOfAnIndex) {
  EXPECT_EQ(PagePath({.soname = "libz.so.1", .symbol = "deflate"}), "libz.so.1/deflate.html");
  EXPECT_EQ(PagePath({.soname = "libstdc++.so.6", .symbol = "_Z1fv"}),
            "libstdc~2B~2B.so.6/_Z1fv.html");
  EXPECT_EQ(PagePath({.soname = "libc.so.6", .symbol = "index"}), "libc.so.6/~69ndex.html");
  EXPECT_EQ(PagePath({.soname = "index.html", .symbol = "f"}), "~69ndex.html/f.html");
}

TEST(LocalPageFileTest, EachApiHasItsOwnFileBelowTheCacheDirectory) {
  EXPECT_EQ(LocalPageFile("/c", {.soname = "libz.so.1", .symbol = "deflate"}),
            "/c/pages/libz.so.1/deflate.html");
  EXPECT_EQ(LocalPageFile("/c", {.soname = "../..", .symbol = "a/b"}),
            "/c/pages/~2E.~2F../a~2Fb.html");
}

}  // namespace
}  // namespace fieldcost::report
