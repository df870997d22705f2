// Which client address a request is attributed to.
#include "aggregator/probe_server/web/forwarded.h"

#include <gtest/gtest.h>

namespace fieldcost::probe_server {
namespace {

std::string ClientOf(const std::string& peer, const std::vector<std::string>& forwarded) {
  const std::vector<AddressRange> trusted = {*ParseAddressRange("10.0.0.0/8"),
                                             *ParseAddressRange("127.0.0.1"),
                                             *ParseAddressRange("2001:db8:1::/48")};
  http::Request request{.peer_address = peer};
  for (const std::string& value : forwarded) request.headers.emplace_back("forwarded", value);
  return ClientAddress(request, trusted);
}

TEST(ForwardedTest, ReadsTheFormsOfRfc7239) {
  EXPECT_EQ(ClientOf("127.0.0.1", {"for=192.0.2.1"}), "192.0.2.1");
  EXPECT_EQ(ClientOf("127.0.0.1", {"For=\"192.0.2.1:4711\";proto=https;by=10.1.1.1"}), "192.0.2.1");
  EXPECT_EQ(ClientOf("127.0.0.1", {"for=192.0.2.1:80"}), "192.0.2.1");
  EXPECT_EQ(ClientOf("127.0.0.1", {"proto=http; for=\"[2001:db8:cafe::17]:4711\""}),
            "2001:db8:cafe::17");
  EXPECT_EQ(ClientOf("127.0.0.1", {"host=\"a,for=192.0.2.9;\\\"\";for=192.0.2.1"}), "192.0.2.1");
  EXPECT_EQ(ClientOf("::ffff:10.0.0.1", {"for=192.0.2.1"}), "192.0.2.1");
  EXPECT_EQ(ClientOf("2001:db8:1::5", {"for=192.0.2.1"}), "192.0.2.1");
}

TEST(ForwardedTest, BelievesTrustedProxiesOnly) {
  EXPECT_EQ(ClientOf("192.0.2.7", {"for=192.0.2.1"}), "192.0.2.7");
  EXPECT_EQ(ClientOf("11.0.0.1", {"for=192.0.2.1"}), "11.0.0.1");
  EXPECT_EQ(ClientOf("2001:db8:2::5", {"for=192.0.2.1"}), "2001:db8:2::5");
  // The client's own entries come first, the nearest proxy's last.
  EXPECT_EQ(ClientOf("10.0.0.1", {"for=198.51.100.1, for=192.0.2.1"}), "192.0.2.1");
  EXPECT_EQ(ClientOf("10.0.0.1", {"for=198.51.100.1", "for=192.0.2.1, for=10.0.0.2"}), "192.0.2.1");
  EXPECT_EQ(ClientOf("10.0.0.1", {"for=10.0.0.3, for=10.0.0.2"}), "10.0.0.3");
}

TEST(ForwardedTest, CountsWhatItCannotReadAsTheProxy) {
  for (const char* value :
       {"", "for=", "for=unknown", "for=_hidden", "for", "by=192.0.2.1", "for=\"",
        "for=\"192.0.2.1", "for=[2001:db8::1", "for=1.2.3", ",", ";;", "\\"}) {
    EXPECT_EQ(ClientOf("10.0.0.1", {value}), "10.0.0.1") << value;
    EXPECT_EQ(ClientOf("10.0.0.1", {"for=192.0.2.1", value}), "10.0.0.1") << value;
  }
  EXPECT_EQ(ClientOf("10.0.0.1", {}), "10.0.0.1");
}

TEST(ForwardedTest, RefusesInvalidRanges) {
  for (const char* text : {"", "x", "10.0.0.0/33", "10.0.0.0/0", "10.0.0.0/", "10.0.0.0/8/8", "/8",
                           "::/129", "proxy.example.org"}) {
    EXPECT_FALSE(ParseAddressRange(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace fieldcost::probe_server
