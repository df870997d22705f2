// `publish --to` and `verify-tree`, next to a running service and at its address.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "common/base/error.h"
#include "tests/aggregator/operate/operate_fixture.h"

namespace fieldcost::aggregator {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class TreeCommandsTest : public OperateTest {
 protected:
  // In the directory of the test, where relative paths begin.
  testing::ProcessResult RunHere(std::vector<std::string> words) const {
    words.insert(words.begin(), FIELDCOST_AGGREGATOR);
    return testing::RunProcess({.arguments = std::move(words), .directory = dir_.path()});
  }
  testing::ProcessResult WriteTree() const {
    return RunHere({"publish", "--config", "aggregator.toml", "--to", "tree", "--json"});
  }
};

TEST_F(TreeCommandsTest, TheTreeOfARunningServiceIsWhatItServes) {
  EXPECT_EQ(WriteTree().exit_status, ExitStatus(ErrorCode::kNotFound));
  Start();
  Send(1);
  MustRun({"publish"});
  const testing::ProcessResult written = WriteTree();
  EXPECT_EQ(written.exit_status, 0) << written.errors;
  EXPECT_THAT(written.output, StartsWith("{\"version\":2,\"root_version\":1,\"files\":"));
  EXPECT_EQ(written.errors, "");
  const std::string root = (data() / "publish/root/1").string();
  const testing::ProcessResult on_disk = RunHere({"verify-tree", "tree", "--root", root, "--json"});
  EXPECT_EQ(on_disk.exit_status, 0) << on_disk.output;
  const testing::ProcessResult served = RunHere(
      {"verify-tree", url_, "--ca-file", certificates_.ca.string(), "--root", root, "--json"});
  EXPECT_EQ(served.exit_status, 0) << served.output << served.errors;
  EXPECT_EQ(served.output, on_disk.output);
  Stop();
}

TEST_F(TreeCommandsTest, ProblemsAreNamedAndAnExitStatusOfTheirOwn) {
  Start();
  Stop();
  ASSERT_EQ(WriteTree().exit_status, 0);
  std::ofstream(dir_.path() / "tree/v1/timestamp") << "damaged";
  const testing::ProcessResult damaged = RunHere({"verify-tree", "tree"});
  EXPECT_EQ(damaged.exit_status, 1);
  EXPECT_THAT(damaged.output, StartsWith("tree/v1/timestamp: "));
  EXPECT_THAT(damaged.output, HasSubstr("\nthe tree has 1 problem: version=0 root_version=1 "));
  EXPECT_EQ(RunHere({"verify-tree", "nowhere"}).exit_status, ExitStatus(ErrorCode::kNotFound));
  const testing::ProcessResult unreachable = RunHere({"verify-tree", "http://127.0.0.1:1"});
  EXPECT_EQ(unreachable.exit_status, ExitStatus(ErrorCode::kUnavailable));
  EXPECT_THAT(unreachable.errors, HasSubstr("Connection refused"));
}

}  // namespace
}  // namespace fieldcost::aggregator
