#include "common/http/certificate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fieldcost::http {
namespace {

using std::chrono::days;
using std::chrono::sys_seconds;
using ::testing::HasSubstr;

constexpr sys_seconds kNow = std::chrono::sys_days(std::chrono::days(20'000));  // 2024-10-04

constexpr CertificateValidity Lasting(int from_day, int to_day) {
  return {.begin = kNow + days(from_day), .end = kNow + days(to_day)};
}

TEST(CertificateTest, WhyItIsNotValidIsSaidWithItsDay) {
  EXPECT_EQ(WhyNotValid(Lasting(-1, 1), kNow), "");
  EXPECT_EQ(WhyNotValid(Lasting(0, 0), kNow), "");
  EXPECT_EQ(WhyNotValid(Lasting(-9, -1), kNow), "expired on 2024-10-03 00:00 UTC");
  EXPECT_EQ(WhyNotValid(Lasting(2, 9), kNow), "is not valid before 2024-10-06 00:00 UTC");
}

TEST(CertificateTest, NoValidOneIsReplacedByOneThatIsNot) {
  constexpr CertificateValidity kValid = Lasting(-9, 9);
  constexpr CertificateValidity kExpired = Lasting(-9, -1);
  const struct {
    CertificateValidity in_force;
    CertificateValidity next;
    bool taken;
  } cases[] = {
      {kValid, kValid, true},
      {kValid, Lasting(-1, 1), true},  // which ends earlier
      {kValid, kExpired, false},
      {kValid, Lasting(1, 90), false},
      {kExpired, kValid, true},
      {kExpired, kExpired, true},
      {kExpired, Lasting(1, 90), true},
      {kExpired, Lasting(-99, -9), false},
      {Lasting(1, 90), Lasting(-99, -9), false},
      {Lasting(1, 90), kValid, true},
  };
  for (const auto& [in_force, next, taken] : cases) {
    const Status status = CheckReplacement(in_force, next, kNow, "/etc/x.pem");
    EXPECT_EQ(status.has_value(), taken);
    if (status) continue;
    EXPECT_THAT(status.error().message, HasSubstr("certificate /etc/x.pem "));
  }
  EXPECT_THAT(CheckReplacement(kValid, kExpired, kNow, "x").error().message,
              HasSubstr("expired on 2024-10-03 00:00 UTC, and the one in force stays, which ends"));
}

}  // namespace
}  // namespace fieldcost::http
