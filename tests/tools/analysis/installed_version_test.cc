#include "tools/analysis/installed_version.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "common/base/file.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/analysis/cost_rows.h"
#include "tools/analysis/api_cost.h"

namespace fieldcost::analysis {
namespace {

namespace fs = std::filesystem;

class InstalledVersionsTest : public ::testing::Test {
 protected:
  InstalledVersionsTest() { Touch(1); }

  // Simulates a change of the package manager's database.
  void Touch(int hours) const {
    EXPECT_TRUE(WriteFileAtomically(database_, "", 0600));
    fs::last_write_time(database_, fs::file_time_type(std::chrono::hours(hours)));
  }
  InstalledVersions Store() {
    return {{directory_.path() / "none", database_}, cache_, [this](const std::string& soname) {
              asked_.push_back(soname);
              return answer_;
            }};
  }

  const testing::TempDir directory_;
  const fs::path database_ = directory_.path() / "status";
  const fs::path cache_ = directory_.path() / "cache/versions";
  std::string answer_ = "1.2-3";
  std::vector<std::string> asked_;
};

TEST_F(InstalledVersionsTest, AsksOncePerLibraryAcrossProcesses) {
  InstalledVersions first = Store();
  EXPECT_EQ(first.Of("libx.so.1"), "1.2-3");
  EXPECT_EQ(first.Of("libx.so.1"), "1.2-3");
  answer_ = "";
  EXPECT_EQ(first.Of("liby.so.2"), "");
  InstalledVersions second = Store();
  EXPECT_EQ(second.Of("libx.so.1"), "1.2-3");
  EXPECT_EQ(second.Of("liby.so.2"), "");
  EXPECT_EQ(asked_, (std::vector<std::string>{"libx.so.1", "liby.so.2"}));
}

TEST_F(InstalledVersionsTest, AsksAgainAfterAnInstallation) {
  InstalledVersions versions = Store();
  EXPECT_EQ(versions.Of("libx.so.1"), "1.2-3");
  answer_ = "1.3-1";
  Touch(2);
  EXPECT_EQ(versions.Of("libx.so.1"), "1.3-1");
  EXPECT_EQ(Store().Of("libx.so.1"), "1.3-1");
}

TEST_F(InstalledVersionsTest, DamagedCachesAndNamesAreHarmless) {
  for (const std::string text : {"", "\n\n", "x", "-1\nlibx.so.1 9\n", "libx.so.1", " "}) {
    fs::create_directories(cache_.parent_path());
    ASSERT_TRUE(WriteFileAtomically(cache_, text, 0600));
    EXPECT_EQ(Store().Of("libx.so.1"), "1.2-3") << text;
    fs::remove(cache_);
  }
  asked_.clear();
  for (const std::string name : {"", "../../etc/passwd", "a b", "lib*.so", "a/b"}) {
    EXPECT_EQ(Store().Of(name), "") << name;
  }
  EXPECT_TRUE(asked_.empty());
}

TEST_F(InstalledVersionsTest, AsksNothingWithoutADatabase) {
  InstalledVersions versions({directory_.path() / "none"}, cache_, [](const std::string&) {
    ADD_FAILURE() << "asked";
    return std::string();
  });
  EXPECT_EQ(versions.Of("libx.so.1"), "");
}

TEST(AskPackageManagerTest, GivesWhatDpkgHasInstalled) {
  if (::access("/usr/bin/dpkg-query", X_OK) != 0) GTEST_SKIP() << "no dpkg-query";
  const testing::ProcessResult shown = testing::RunProcess(
      {.arguments = {"dpkg-query", "--show", "--showformat=${Version}", "zlib1g"}});
  ASSERT_EQ(shown.exit_status, 0);
  EXPECT_EQ(AskPackageManager()("libz.so.1"), shown.output);
  EXPECT_EQ(AskPackageManager()("libnone.so.77"), "");
}

TEST(CostsOfTest, InstalledVersionElseTheNewestRepresentsTheApi) {
  std::vector<stats::StatRow> rows;
  for (const char* const version : {"1.2", "1.10", "1.9"}) {
    rows.push_back(Row("libx.so.1", "f", stats::Metric::kWallTime, {100}, 1));
    rows.back().key.api.package_version = version;
  }
  const auto shown = [&](const InstalledVersion& installed) {
    return CostsOf(Summarise(rows), Versions::kJoined, installed).at(0);
  };
  const ApiCost installed = shown([](const std::string&) { return "1.9"; });
  EXPECT_EQ(installed.shown().api.package_version, "1.9");
  EXPECT_TRUE(installed.is_installed);
  EXPECT_EQ(installed.versions[1].api.package_version, "1.10");
  EXPECT_EQ(installed.versions[2].api.package_version, "1.2");
  const ApiCost other = shown([](const std::string&) { return "2.0"; });
  EXPECT_EQ(other.shown().api.package_version, "1.10");
  EXPECT_FALSE(other.is_installed);
  EXPECT_EQ(shown({}).shown().api.package_version, "1.10");
}

}  // namespace
}  // namespace fieldcost::analysis
