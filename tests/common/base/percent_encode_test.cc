#include "common/base/percent_encode.h"

#include <gtest/gtest.h>

namespace fieldcost {
namespace {

TEST(PercentEncodeTest, EncodesCharactersWithAMeaningInUrls) {
  EXPECT_EQ(PercentEncode("a/B?c=1&d#e f%\"", kUnreserved), "a%2FB%3Fc%3D1%26d%23e%20f%25%22");
  EXPECT_EQ(PercentEncode("/usr/lib/a b", "/-._~"), "/usr/lib/a%20b");
  EXPECT_EQ(PercentEncode("é\n", kUnreserved), "%C3%A9%0A");
  EXPECT_EQ(PercentEncode("", kUnreserved), "");
}

TEST(PercentEncodeTest, AFileHasAUrl) {
  EXPECT_EQ(FileUrl("/home/a b/x~y!#.html"), "file:///home/a%20b/x~y%21%23.html");
}

}  // namespace
}  // namespace fieldcost
