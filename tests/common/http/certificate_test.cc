#include "common/http/certificate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/file.h"
#include "common/http/issue_certificate.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::http {
namespace {

using std::chrono::days;
using std::chrono::sys_seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr sys_seconds kNow = std::chrono::sys_days(std::chrono::days(20'000));  // 2024-10-04

constexpr CertificateValidity Lasting(int from_day, int to_day) {
  return {.begin = kNow + days(from_day), .end = kNow + days(to_day)};
}

TEST(CertificateTest, ReportsWhyACertificateIsInvalidWithTheDate) {
  EXPECT_EQ(WhyNotValid(Lasting(-1, 1), kNow), "");
  EXPECT_EQ(WhyNotValid(Lasting(0, 0), kNow), "");
  EXPECT_EQ(WhyNotValid(Lasting(-9, -1), kNow), "expired on 2024-10-03 00:00 UTC");
  EXPECT_EQ(WhyNotValid(Lasting(2, 9), kNow), "is not valid before 2024-10-06 00:00 UTC");
}

TEST(CertificateTest, AStarCoversOneLabelOfAHost) {
  const std::vector<std::string> names = {"a.example", "*.b.example", "::1"};
  for (const char* host : {"a.example", "A.Example", "x.b.example", "::1"}) {
    EXPECT_TRUE(IsCertifiedHost(host, names)) << host;
  }
  for (const char* host : {"", "b.example", ".b.example", "x.y.b.example", "x.a.example"}) {
    EXPECT_FALSE(IsCertifiedHost(host, names)) << host;
  }
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
      {kValid, Lasting(-1, 1), true},  // which expires earlier
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
              HasSubstr("expired on 2024-10-03 00:00 UTC; the one in force stays, which is valid"));
}

TEST(CertificateTest, OneThatIsIssuedHoldsForItsNamesAndTimeAndNotForOthers) {
  const testing::TempDir dir;
  const auto issued =
      IssueCertificate({"A.Example", "*.b.example", "192.0.2.7", "2001:db8::1"}, kNow, days(30));
  ASSERT_TRUE(issued.has_value()) << issued.error().message;
  const std::filesystem::path file = dir.path() / "certificate.pem";
  const std::filesystem::path key = dir.path() / "key.pem";
  ASSERT_TRUE(WriteFileAtomically(file, issued->certificate, 0600).has_value());
  ASSERT_TRUE(WriteFileAtomically(key, issued->private_key, 0600).has_value());
  const auto validity = CheckCertificate(file, key);
  ASSERT_TRUE(validity.has_value()) << validity.error().message;
  EXPECT_EQ(*validity, Lasting(-1, 30));
  EXPECT_THAT(CertificateNames(file).value(),
              ElementsAre("a.example", "*.b.example", "192.0.2.7", "2001:db8::1"));
  // Each has its own authority and key.
  const auto again = IssueCertificate({"a.example"}, kNow, days(30));
  ASSERT_TRUE(again.has_value());
  EXPECT_NE(again->authority, issued->authority);
  ASSERT_TRUE(WriteFileAtomically(key, again->private_key, 0600).has_value());
  EXPECT_THAT(CheckCertificate(file, key).error().message, HasSubstr("does not belong to"));
}

TEST(CertificateTest, IssuesNoCertificateForAnInvalidName) {
  const std::vector<std::string> bad = {
      "",     "a b", "a,DNS:b", "https://a", "a:1", "-a",   ".a",
      "a..b", "*",   "*.",      "a\nb",      "a/b", "ü.de", std::string(254, 'a')};
  for (const std::string& name : bad) {
    const auto issued = IssueCertificate({"good.example", name}, kNow, days(1));
    ASSERT_FALSE(issued.has_value()) << name;
    EXPECT_EQ(issued.error().code, ErrorCode::kInvalidArgument);
  }
  EXPECT_FALSE(IssueCertificate({}, kNow, days(1)).has_value());
}

}  // namespace
}  // namespace fieldcost::http
