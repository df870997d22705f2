#include "common/config/nearest_name.h"

#include <gtest/gtest.h>

namespace fieldcost::config {
namespace {

TEST(NearestNameTest, TakesTheFewestEdits) {
  const std::vector<std::string> keys = {"listen.address", "listen.port", "store.directory"};
  EXPECT_EQ(NearestName("listen.prot", keys), "listen.port");
  EXPECT_EQ(NearestName("listn.addres", keys), "listen.address");
  EXPECT_EQ(NearestName("store.dir", keys), "store.directory");
  EXPECT_EQ(NearestName("listen.port", keys), "listen.port");
}

TEST(NearestNameTest, FirstOfEqualsAndNothingOfNothing) {
  EXPECT_EQ(NearestName("x", {"a", "b"}), "a");
  EXPECT_EQ(NearestName("", {"ab", "c"}), "c");
  EXPECT_EQ(NearestName("x", {}), "");
}

}  // namespace
}  // namespace fieldcost::config
