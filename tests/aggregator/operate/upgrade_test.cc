// golden_v2/ is a data directory of the version before agent weights, written over HTTPS (three
// agents, two batches each, one publication). Its sums of bytes are too low.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/aggregator/service/service_fixture.h"

namespace fieldcost::aggregator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class UpgradeTest : public ServiceTest {
 protected:
  void SetUp() override {
    const std::filesystem::path data = dir_.path() / "data";
    std::filesystem::copy(std::filesystem::path(FIELDCOST_TEST_DATA) / "golden_v2", data,
                          std::filesystem::copy_options::recursive);
    for (const auto& key : std::filesystem::directory_iterator(data / "keys")) {
      ASSERT_EQ(::chmod(key.path().c_str(), 0600), 0);
    }
  }
};

TEST_F(UpgradeTest, EveryCommandRefusesAnOlderStoreAndNamesTheWayOut) {
  const std::string backups = (dir_.path() / "backups").string();
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"verify"}, {"serve"}, {"publish"}, {"compact"}, {"backup", "--to", backups}}) {
    const auto ended = testing::RunProcess(Command(command));
    EXPECT_EQ(ended.exit_status, 78) << command.front();
    EXPECT_THAT(ended.errors, AllOf(HasSubstr("open the store in "), HasSubstr("too low"),
                                    HasSubstr("Move the store away")))
        << command.front();
  }
  EXPECT_FALSE(std::filesystem::exists(backups));
}

TEST_F(UpgradeTest, WithoutTheOldStoreTheSameKeysServeANewOneWhoseVersionsGoOn) {
  std::filesystem::rename(dir_.path() / "data" / "store", dir_.path() / "old_store");
  ASSERT_NO_FATAL_FAILURE(Start());
  Stop();
  const auto published = testing::RunProcess(Command({"publish"}));
  EXPECT_EQ(published.exit_status, 0) << published.errors;
  ASSERT_NO_FATAL_FAILURE(Start());
  EXPECT_GT(DownloadSnapshot().version, 1U) << "the older program published version 1";
  Stop();
  EXPECT_THAT(testing::RunProcess(Command({"verify"})).output, HasSubstr("the store is good: "));
}

}  // namespace
}  // namespace fieldcost::aggregator
