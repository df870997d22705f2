#include "common/serve/new_directory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "common/http/certificate.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::serve {
namespace {

constexpr std::chrono::sys_seconds kNow{std::chrono::seconds(1'795'400'000)};

TEST(ServeNewDirectoryTest, OnlyThisMachinesNamesAreServedOnLoopback) {
  EXPECT_EQ(ListenAddress("", {"localhost", "127.0.0.1", "::1"}), "127.0.0.1");
  EXPECT_EQ(ListenAddress("", {"localhost", "probes.example.org"}), "0.0.0.0");
  EXPECT_EQ(ListenAddress("192.0.2.1", {"localhost"}), "192.0.2.1");
}

TEST(ServeNewDirectoryTest, TheCertificateIsValidForYearsAndItsKeyIsPrivate) {
  const testing::TempDir dir;
  const CertificateFiles files = CertificateFilesIn(dir.path());
  ASSERT_TRUE(WriteCertificate(*IssueForYears({"localhost"}, kNow), files));
  const auto validity = http::CheckCertificate(files.certificate, files.private_key);
  ASSERT_TRUE(validity) << validity.error().message;
  EXPECT_EQ(http::WhyNotValid(*validity, kNow + std::chrono::days(3'649)), "");
  EXPECT_NE(http::WhyNotValid(*validity, kNow + std::chrono::days(3'651)), "");
  struct stat key {};
  ASSERT_EQ(::stat(files.private_key.c_str(), &key), 0);
  EXPECT_EQ(key.st_mode & 0777, 0600U);
  EXPECT_TRUE(std::filesystem::exists(files.authority));
}

TEST(ServeNewDirectoryTest, ACertificateForThisMachineIsAlsoForTheAddressOfItsListener) {
  const testing::TempDir dir;
  const CertificateFiles files = CertificateFilesIn(dir.path());
  const auto names_for = [&](const std::vector<std::string>& hosts) {
    EXPECT_TRUE(WriteCertificate(*IssueForYears(hosts, kNow), files));
    return http::CertificateNames(files.certificate).value_or(std::vector<std::string>{});
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names_for({"localhost"}), (Names{"localhost", "127.0.0.1"}));
  EXPECT_EQ(names_for({"127.0.0.1", "localhost"}).size(), 2U);
  EXPECT_EQ(names_for({"localhost", "probes.example.org"}),
            (Names{"localhost", "probes.example.org"}));
}

TEST(ServeNewDirectoryTest, AnExistingCertificateIsUsedWhereItLies) {
  const testing::TempDir dir;
  const CertificateFiles given = CertificateFilesIn(dir.path());
  ASSERT_TRUE(WriteCertificate(*IssueForYears({"localhost"}, kNow), given));
  const auto used = CertificateFor(given, {"LOCALHOST"}, dir.path() / "new", kNow);
  ASSERT_TRUE(used) << used.error().message;
  EXPECT_FALSE(used->issued);
  EXPECT_EQ(used->files.certificate, given.certificate);
  EXPECT_EQ(used->files.authority, "");
  EXPECT_EQ(CertificateFor(given, {"localhost", "b.example"}, dir.path(), kNow).error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_TRUE(CertificateFor({}, {"b.example"}, dir.path(), kNow)->issued);
}

TEST(ServeNewDirectoryTest, ADirectoryThatAUnitCannotNameIsRefused) {
  EXPECT_EQ(PathForUnit("/srv/a_b-c@d:e/").value_or(""), "/srv/a_b-c@d:e");
  for (const char* path : {"/srv/a b", "/srv/%h", "/srv/$HOME", "/srv/\"a\""}) {
    EXPECT_EQ(PathForUnit(path).error().code, ErrorCode::kInvalidArgument) << path;
  }
}

TEST(ServeNewDirectoryTest, ConfigurationNamesNeighbouringFilesByName) {
  EXPECT_EQ(NameInConfig("/srv/a/certificate.pem", "/srv/a"), "\"certificate.pem\"");
  EXPECT_EQ(NameInConfig("/etc/\"x\".pem", "/srv/a"), "\"/etc/\\\"x\\\".pem\"");
}

}  // namespace
}  // namespace fieldcost::serve
