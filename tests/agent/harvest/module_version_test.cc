#include "agent/harvest/module_version.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/spool/state_db.h"
#include "tests/common/base/build_id_of_file.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::agent {
namespace {

constexpr char kLibcPath[] = "/lib/x86_64-linux-gnu/libc.so.6";

TEST(PackagePathsTest, LooksUnderBothSidesOfMergedUsr) {
  EXPECT_THAT(PackagePaths("/lib/nowhere/libx.so.1"),
              ::testing::ElementsAre("/lib/nowhere/libx.so.1", "/usr/lib/nowhere/libx.so.1"));
  EXPECT_THAT(PackagePaths("/usr/lib/nowhere/libx.so.1"),
              ::testing::ElementsAre("/usr/lib/nowhere/libx.so.1", "/lib/nowhere/libx.so.1"));
  for (const char* untrusted : {"", "libx.so.1", "--help", "/lib/*", "/lib/a b", "/lib/[x]"}) {
    EXPECT_TRUE(PackagePaths(untrusted).empty()) << untrusted;
  }
}

class ModuleVersionTest : public ::testing::Test {
 protected:
  // "PACKAGE VERSION" of a file that a run had loaded with that build-id.
  std::string Find(const std::string& soname, const std::string& path, const std::string& id) {
    const auto owner = ModuleVersions(database_).Find({.soname = soname,
                                                       .package_version = {},
                                                       .build_id = id,
                                                       .symbol = "f",
                                                       .symbol_version = {}},
                                                      path);
    EXPECT_TRUE(owner) << owner.error().message;
    return owner->package + ' ' + owner->version;
  }

  testing::TempDir directory_;
  StateDb database_ = std::move(*StateDb::Open(directory_.path() / "agent.db"));
};

TEST_F(ModuleVersionTest, FileOfAPackageHasItsVersionIfTheBuildIsTheRuns) {
  const std::string id = testing::BuildIdOfFile(kLibcPath);
  for (int again = 0; again < 2; ++again) {
    EXPECT_THAT(Find("libc.so.6", kLibcPath, id), ::testing::StartsWith("libc6 2."));
    EXPECT_EQ(Find("libc.so.6", kLibcPath, id.substr(2)), " ");
    EXPECT_EQ(Find("libc.so.6", kLibcPath, ""), " ");
    EXPECT_EQ(Find("libz.so.1", kLibcPath, id), " ") << "another library's file";
    EXPECT_EQ(Find("libc.so.6", "/nowhere/libc.so.6", id), " ");
    EXPECT_EQ(Find("libc.so.6", "/lib", id), " ");
  }
}

TEST_F(ModuleVersionTest, CopyOfAPackagesFileIsOfNoPackage) {
  const auto copy = directory_.path() / "libc.so.6";
  std::filesystem::copy_file(kLibcPath, copy);
  EXPECT_EQ(Find("libc.so.6", copy, testing::BuildIdOfFile(copy)), " ");
}

TEST_F(ModuleVersionTest, FileThatWasReplacedIsLookedAtAnew) {
  const auto file = directory_.path() / "libc.so.6";
  std::filesystem::copy_file(kLibcPath, file);
  const std::string old_id = testing::BuildIdOfFile(file);
  EXPECT_EQ(Find("libc.so.6", file, old_id), " ");
  std::filesystem::copy_file("/lib/x86_64-linux-gnu/libm.so.6", file,
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_NE(testing::BuildIdOfFile(file), old_id);
  EXPECT_EQ(Find("libc.so.6", file, old_id), " ");
}

}  // namespace
}  // namespace fieldcost::agent
