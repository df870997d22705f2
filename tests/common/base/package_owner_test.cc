#include "common/base/package_owner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "tests/support/fake_rpm.h"
#include "tests/support/temp_dir.h"

namespace fieldcost {
namespace {

TEST(PackagePathsTest, LooksUnderBothSidesOfMergedUsr) {
  EXPECT_THAT(PackagePaths("/lib/nowhere/libx.so.1"),
              ::testing::ElementsAre("/lib/nowhere/libx.so.1", "/usr/lib/nowhere/libx.so.1"));
  EXPECT_THAT(PackagePaths("/usr/lib/nowhere/libx.so.1"),
              ::testing::ElementsAre("/usr/lib/nowhere/libx.so.1", "/lib/nowhere/libx.so.1"));
  for (const char* untrusted : {"", "libx.so.1", "--help", "/lib/*", "/lib/a b", "/lib/[x]"}) {
    EXPECT_TRUE(PackagePaths(untrusted).empty()) << untrusted;
  }
}

TEST(PackageInTest, TakesTheFirstPackageOfALine) {
  EXPECT_EQ(PackageIn("diversion by dash from: /bin/sh\nzlib1g:amd64: /lib/libz.so.1\n"),
            "zlib1g:amd64");
  EXPECT_EQ(PackageIn("a, b: /usr/lib/x\n"), "a");
  EXPECT_EQ(PackageIn("--root=x: /usr/lib/x\nno colon\n"), "");
  EXPECT_EQ(PackageIn(""), "");
}

TEST(RpmOwnerInTest, TakesTheFirstOwnerAndNoMessage) {
  EXPECT_EQ(RpmOwnerIn("zlib 1.2.13-7.fc38\n"),
            (PackageOwner{.package = "zlib", .version = "1.2.13-7.fc38"}));
  EXPECT_EQ(RpmOwnerIn("openssl-libs 1:3.0.9-2.el9\nopenssl-libs 1:3.0.9-3.el9\n"),
            (PackageOwner{.package = "openssl-libs", .version = "1:3.0.9-2.el9"}));
  EXPECT_EQ(RpmOwnerIn("file /lib64/libx.so.1 is not owned by any package\n"), PackageOwner{});
  EXPECT_EQ(RpmOwnerIn("zlib\n"), PackageOwner{});
  EXPECT_EQ(RpmOwnerIn(""), PackageOwner{});
}

class AskOwnerTest : public ::testing::Test {
 protected:
  AskOwnerTest() { std::ofstream(file_) << "x"; }

  const testing::TempDir directory_;
  const std::string file_ = directory_.path() / "libx.so.1";  // belongs to no package here
};

TEST_F(AskOwnerTest, AsksRpmAboutThatFileWhereDpkgKnowsNone) {
  const PackageManagers managers =
      testing::FakeRpm(directory_.path(), "test \"$1 $2 $4\" = '-qf --queryformat " + file_ +
                                              "' && printf '%s\\n' 'libx 1:1.2-3.el9'");
  EXPECT_EQ(AskOwner(managers, file_), (PackageOwner{.package = "libx", .version = "1:1.2-3.el9"}));
}

TEST_F(AskOwnerTest, AsksRpmWithoutDpkg) {
  PackageManagers managers = testing::FakeRpm(directory_.path(), "echo libx 1.2-3");
  managers.dpkg_query = directory_.path() / "none";
  EXPECT_EQ(AskOwner(managers, file_), (PackageOwner{.package = "libx", .version = "1.2-3"}));
}

TEST_F(AskOwnerTest, AsksRpmOnlyWithADatabase) {
  PackageManagers managers = testing::FakeRpm(directory_.path(), "echo libx 1.2-3");
  managers.rpm_databases.pop_back();
  EXPECT_EQ(AskOwner(managers, file_), PackageOwner{});
}

TEST_F(AskOwnerTest, PrefersDpkgsAnswer) {
  if (::access("/usr/bin/dpkg-query", X_OK) != 0) GTEST_SKIP() << "no dpkg-query";
  const PackageManagers managers = testing::FakeRpm(directory_.path(), "echo libx 1.2-3");
  const auto owner = AskOwner(managers, "/lib/x86_64-linux-gnu/libc.so.6");
  ASSERT_TRUE(owner);
  EXPECT_EQ(owner->package, "libc6");
}

TEST_F(AskOwnerTest, AnAnswerWithoutEndIsNotKnownNow) {
  const PackageManagers managers =
      testing::FakeRpm(directory_.path(), "while echo libx 1.2-3; do :; done");
  EXPECT_EQ(AskOwner(managers, file_), std::nullopt);
}

}  // namespace
}  // namespace fieldcost
