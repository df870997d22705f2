#include "agent/harvest/module_version.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/spool/state_db.h"
#include "tests/common/base/build_id_of_file.h"
#include "tests/support/fake_rpm.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::harvest {
namespace {

constexpr char kLibcPath[] = "/lib/x86_64-linux-gnu/libc.so.6";

class ModuleVersionTest : public ::testing::Test {
 protected:
  // "PACKAGE VERSION" of a file that a run had loaded with that build-id.
  std::string Find(const std::string& soname, const std::string& path, const std::string& id) {
    const auto owner = ModuleVersions(database_, managers_)
                           .Find({.soname = soname,
                                  .package_version = {},
                                  .build_id = id,
                                  .symbol = "f",
                                  .symbol_version = {}},
                                 path);
    EXPECT_TRUE(owner) << owner.error().message;
    return owner->package + ' ' + owner->version;
  }

  testing::TempDir directory_;
  PackageManagers managers_;
  spool::StateDb database_ = std::move(*spool::StateDb::Open(directory_.path() / "agent.db"));
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

TEST_F(ModuleVersionTest, CopyOfAPackagesFileBelongsToNoPackage) {
  const auto copy = directory_.path() / "libc.so.6";
  std::filesystem::copy_file(kLibcPath, copy);
  EXPECT_EQ(Find("libc.so.6", copy, testing::BuildIdOfFile(copy)), " ");
}

TEST_F(ModuleVersionTest, AsksRpmForTheOwnerIfDpkgDoesNotKnowIt) {
  const auto copy = directory_.path() / "libc.so.6";
  std::filesystem::copy_file(kLibcPath, copy);
  managers_ = testing::FakeRpm(directory_.path(), "printf '%s\\n' 'glibc 2.37-4.fc38'");
  EXPECT_EQ(Find("libc.so.6", copy, testing::BuildIdOfFile(copy)), "glibc 2.37-4.fc38");
  managers_ = testing::FakeRpm(directory_.path(), "exit 1");
  EXPECT_EQ(Find("libc.so.6", copy, testing::BuildIdOfFile(copy)), "glibc 2.37-4.fc38")
      << "the answer is kept";
}

TEST_F(ModuleVersionTest, IgnoresVersionsThatNoBatchCanHold) {
  const auto copy = directory_.path() / "libc.so.6";
  std::filesystem::copy_file(kLibcPath, copy);
  managers_ = testing::FakeRpm(directory_.path(), "printf 'glibc %04096d' 1");
  EXPECT_EQ(Find("libc.so.6", copy, testing::BuildIdOfFile(copy)), " ");
}

TEST_F(ModuleVersionTest, ReadsAReplacedFileAgain) {
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
}  // namespace fieldcost::harvest
