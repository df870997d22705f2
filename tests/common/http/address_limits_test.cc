#include "common/http/address_limits.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cstring>
#include <string>

namespace fieldcost::http {
namespace {

using Kind = AddressLimits::Decision::Kind;
using std::chrono::milliseconds;
using std::chrono::seconds;

const AddressLimits::TimePoint kStart{std::chrono::hours(1000)};

ClientNetwork Network(const std::string& text) {
  sockaddr_storage peer{};
  sockaddr_in v4{.sin_family = AF_INET};
  sockaddr_in6 v6{.sin6_family = AF_INET6};
  if (::inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1) {
    std::memcpy(&peer, &v4, sizeof v4);
  } else {
    EXPECT_EQ(::inet_pton(AF_INET6, text.c_str(), &v6.sin6_addr), 1) << text;
    std::memcpy(&peer, &v6, sizeof v6);
  }
  return NetworkOf(peer);
}

ClientNetwork Numbered(std::uint64_t number) { return {.v6 = true, .bits = number}; }

TEST(AddressLimitsTest, AClientIsAnIpv4AddressOrAnIpv6Network) {
  EXPECT_EQ(Network("192.0.2.1"), Network("::ffff:192.0.2.1"));
  EXPECT_NE(Network("192.0.2.1"), Network("192.0.2.2"));
  EXPECT_EQ(Network("2001:db8:1:2::1"), Network("2001:db8:1:2:ffff:ffff:ffff:ffff"));
  EXPECT_NE(Network("2001:db8:1:2::1"), Network("2001:db8:1:3::1"));
  EXPECT_NE(Network("::"), Network("0.0.0.0"));
}

TEST(AddressLimitsTest, WithoutLimitsServesAllAndRemembersNoAddress) {
  AddressLimits limits({});
  EXPECT_TRUE(limits.off());
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(limits.Connect(Numbered(1), kStart).kind, Kind::kServe);
    EXPECT_EQ(limits.Request(Numbered(1), kStart), std::nullopt);
  }
  EXPECT_EQ(limits.size(), 0U);
}

TEST(AddressLimitsTest, LimitsConnectionsPerAddress) {
  AddressLimits limits({.max_connections = 2});
  EXPECT_EQ(limits.Connect(Numbered(1), kStart).kind, Kind::kServe);
  EXPECT_EQ(limits.Connect(Numbered(1), kStart).kind, Kind::kServe);
  const AddressLimits::Decision third = limits.Connect(Numbered(1), kStart);
  EXPECT_EQ(third.kind, Kind::kRefuse);
  EXPECT_GE(third.retry_after, seconds(1));
  EXPECT_EQ(limits.Connect(Numbered(2), kStart).kind, Kind::kServe);
  limits.Disconnect(Numbered(1), kStart);
  EXPECT_EQ(limits.Connect(Numbered(1), kStart).kind, Kind::kServe);
  EXPECT_EQ(limits.Connect(Numbered(1), kStart).kind, Kind::kRefuse);
}

TEST(AddressLimitsTest, AfterAFewPoliteRefusalsConnectionsAreDropped) {
  AddressLimits limits({.max_connections = 1});
  ASSERT_EQ(limits.Connect(Numbered(1), kStart).kind, Kind::kServe);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(limits.Connect(Numbered(1), kStart).kind, Kind::kRefuse) << i;
  }
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(limits.Connect(Numbered(1), kStart).kind, Kind::kDrop) << i;
  }
  const auto later = kStart + AddressLimits::kPoliteRefusalInterval;
  EXPECT_EQ(limits.Connect(Numbered(1), later).kind, Kind::kRefuse);
  EXPECT_EQ(limits.Connect(Numbered(1), later).kind, Kind::kDrop);
}

TEST(AddressLimitsTest, RefusalsForAnotherReasonArePaidFromTheSameBucket) {
  AddressLimits limits({.max_connections = 1});
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(limits.TakeRefusal(Numbered(1), kStart)) << i;
  EXPECT_FALSE(limits.TakeRefusal(Numbered(1), kStart));
  EXPECT_TRUE(limits.TakeRefusal(Numbered(2), kStart));
  ASSERT_EQ(limits.Connect(Numbered(1), kStart).kind, Kind::kServe);
  EXPECT_EQ(limits.Connect(Numbered(1), kStart).kind, Kind::kDrop);
  AddressLimits off({});
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(off.TakeRefusal(Numbered(1), kStart)) << i;
  EXPECT_EQ(off.size(), 0U);
}

TEST(AddressLimitsTest, RequestsArePaidFromABucketThatFillsWithTime) {
  AddressLimits limits({.requests_per_second = 0.5, .request_burst = 3});
  ASSERT_EQ(limits.Connect(Numbered(1), kStart).kind, Kind::kServe);  // and its first request
  EXPECT_EQ(limits.Request(Numbered(1), kStart), std::nullopt);
  EXPECT_EQ(limits.Request(Numbered(1), kStart), std::nullopt);
  EXPECT_EQ(limits.Request(Numbered(1), kStart), seconds(2));
  EXPECT_EQ(limits.Request(Numbered(1), kStart + milliseconds(1500)), seconds(1));
  EXPECT_EQ(limits.Request(Numbered(1), kStart + seconds(2)), std::nullopt);
  EXPECT_EQ(limits.Request(Numbered(1), kStart + seconds(2)), seconds(2));
  EXPECT_EQ(limits.Request(Numbered(1), kStart - seconds(60)), seconds(2));  // time never goes back
}

TEST(AddressLimitsTest, AConnectionWithoutARequestCostsAsMuchAsOne) {
  AddressLimits limits({.requests_per_second = 1, .request_burst = 10});
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(limits.Connect(Numbered(1), kStart).kind, Kind::kServe);
    limits.Disconnect(Numbered(1), kStart);
  }
  EXPECT_EQ(limits.Connect(Numbered(1), kStart).kind, Kind::kRefuse);
  EXPECT_EQ(limits.Connect(Numbered(1), kStart + seconds(1)).kind, Kind::kServe);
}

TEST(AddressLimitsTest, ADayWithoutRequestsDoesNotGiveMoreThanTheBurst) {
  AddressLimits limits({.requests_per_second = 100, .request_burst = 2});
  ASSERT_EQ(limits.Connect(Numbered(1), kStart).kind, Kind::kServe);
  const auto later = kStart + std::chrono::hours(24);
  EXPECT_EQ(limits.Request(Numbered(1), later), std::nullopt);
  EXPECT_EQ(limits.Request(Numbered(1), later), std::nullopt);
  EXPECT_EQ(limits.Request(Numbered(1), later), seconds(1));
}

TEST(AddressLimitsTest, VerySlowRateStillNamesARetryTime) {
  AddressLimits limits({.requests_per_second = 1e-9});
  ASSERT_EQ(limits.Connect(Numbered(1), kStart).kind, Kind::kServe);
  EXPECT_EQ(limits.Request(Numbered(1), kStart), AddressLimits::kMaxRetryAfter);
}

TEST(AddressLimitsTest, AnAddressIsForgottenOnceThereIsNothingToRemember) {
  AddressLimits limits({.max_connections = 5, .requests_per_second = 1, .request_burst = 4});
  for (std::uint64_t i = 0; i < 100; ++i) {
    ASSERT_EQ(limits.Connect(Numbered(i), kStart).kind, Kind::kServe);
  }
  EXPECT_EQ(limits.size(), 100U);
  for (std::uint64_t i = 0; i < 100; ++i) limits.Disconnect(Numbered(i), kStart);
  EXPECT_EQ(limits.size(), 100U);  // each still owes a request
  ASSERT_EQ(limits.Connect(Numbered(7), kStart + seconds(1)).kind, Kind::kServe);
  EXPECT_EQ(limits.size(), 1U);
}

TEST(AddressLimitsTest, ManyAddressesCannotGrowTheTable) {
  constexpr std::size_t kRemembered = 50;
  AddressLimits limits({.max_connections = 1,
                        .requests_per_second = 0.001,
                        .request_burst = 1,
                        .max_remembered = kRemembered});
  ASSERT_EQ(limits.Connect(Numbered(1'000'000), kStart).kind, Kind::kServe);
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    ASSERT_EQ(limits.Connect(Numbered(i), kStart).kind, Kind::kServe);
    limits.Disconnect(Numbered(i), kStart);
    ASSERT_LE(limits.size(), kRemembered + 1);
  }
  // The address with a connection is still known, and so are the newest ones; the oldest are
  // forgotten.
  EXPECT_NE(limits.Connect(Numbered(1'000'000), kStart).kind, Kind::kServe);
  EXPECT_NE(limits.Connect(Numbered(9'999), kStart).kind, Kind::kServe);
  EXPECT_EQ(limits.Connect(Numbered(0), kStart).kind, Kind::kServe);
}

}  // namespace
}  // namespace fieldcost::http
