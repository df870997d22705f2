#include "common/http/own_host.h"

#include <gtest/gtest.h>

namespace fieldcost::http {
namespace {

TEST(OwnHostTest, AddressesAndLocalhostAreAlwaysOwn) {
  for (const char* host : {"127.0.0.1:8444", "127.0.0.1", "localhost:8444", "LOCALHOST",
                           "[::1]:8444", "[::1]", "192.0.2.1:1"}) {
    EXPECT_TRUE(IsOwnHost(host, {})) << host;
  }
  for (const char* host :
       {"rebound.example:8444", "rebound.example", "localhost.rebound.example",
        "127.0.0.1.rebound.example", "127.1", "::1", "[127.0.0.1]", "[", "[]", ":8444", ""}) {
    EXPECT_FALSE(IsOwnHost(host, {})) << host;
  }
}

TEST(OwnHostTest, AStarMatchesOneLabel) {
  EXPECT_TRUE(IsOwnHost("example.org:8445", {"example.org"}));
  EXPECT_TRUE(IsOwnHost("a.example.org", {"*.example.org"}));
  EXPECT_FALSE(IsOwnHost("a.b.example.org", {"*.example.org"}));
  EXPECT_FALSE(IsOwnHost("example.org", {"*.example.org"}));
  EXPECT_FALSE(IsOwnHost(".example.org", {"*.example.org"}));
}

}  // namespace
}  // namespace fieldcost::http
