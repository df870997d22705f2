#include "common/http/ip_address.h"

#include <gtest/gtest.h>

namespace fieldcost::http {
namespace {

TEST(IpAddressTest, ReadsAndDistinguishesBothKinds) {
  EXPECT_EQ(ParseIpAddress("192.0.2.1")->Text(), "192.0.2.1");
  EXPECT_FALSE(ParseIpAddress("192.0.2.1")->is_v6());
  EXPECT_EQ(ParseIpAddress("2001:DB8:0:0::1")->Text(), "2001:db8::1") << "the shortest form";
  EXPECT_TRUE(ParseIpAddress("::")->is_v6());
}

TEST(IpAddressTest, RejectsEverythingElse) {
  using namespace std::string_view_literals;
  for (const std::string_view text : {""sv, "localhost"sv, "192.0.2"sv, "192.0.2.256"sv, "[::1]"sv,
                                      "::1%eth0"sv, "192.0.2.1:80"sv, "192.0.2.1\0"sv}) {
    EXPECT_FALSE(ParseIpAddress(text)) << text;
  }
  EXPECT_FALSE(IpAddressOf({}));
  const std::array<std::uint8_t, 5> five{};
  EXPECT_FALSE(IpAddressOf(five));
}

TEST(IpAddressTest, LoopbackIsANetworkOfIPv4AndOneAddressOfIPv6) {
  for (const char* text : {"127.0.0.1", "127.255.0.9", "::1"}) {
    EXPECT_TRUE(ParseIpAddress(text)->IsLoopback()) << text;
  }
  for (const char* text : {"126.0.0.1", "0.0.0.0", "::", "::2", "1::1", "::ffff:127.0.0.1"}) {
    EXPECT_FALSE(ParseIpAddress(text)->IsLoopback()) << text;
  }
}

TEST(IpAddressTest, BytesOfACertificateAreAnAddress) {
  const std::array<std::uint8_t, 4> bytes = {10, 0, 0, 7};
  EXPECT_EQ(IpAddressOf(bytes)->Text(), "10.0.0.7");
}

}  // namespace
}  // namespace fieldcost::http
