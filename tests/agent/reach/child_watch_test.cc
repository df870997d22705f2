#include "agent/reach/child_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/support/binary_dir.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::reach {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string kStatic = FIELDCOST_BINARY_DIR "/victims/stays_static";

class ChildWatchTest : public ::testing::Test {
 protected:
  // The watch's reports about a shell command that prints "ready" and keeps running.
  std::vector<std::string> Seen(const std::string& command, int looks = 1) {
    testing::BackgroundProcess shell(
        testing::ProcessOptions{.arguments = {"/bin/sh", "-c", command}, .unset = {"LD_PRELOAD"}});
    EXPECT_TRUE(shell.WaitForLine("ready"));
    ChildWatch watch({.run_dir = "/nowhere", .uid = ::getuid()}, shell.pid());
    for (int i = 0; i < looks; ++i) watch.Look();
    return watch.Unmeasured();
  }
};

TEST_F(ChildWatchTest, FindsStaticChildrenAndTheirs) {
  const std::string phrase = kStatic + ": linked statically, so nothing can be loaded into it";
  EXPECT_THAT(Seen(kStatic + " & wait"), ElementsAre(phrase));
  EXPECT_THAT(Seen("sh -c '" + kStatic + " & wait' & wait", 3), ElementsAre(phrase));
}

TEST_F(ChildWatchTest, KeepsQuietAboutChildrenThatCanBeMeasured) {
  EXPECT_THAT(Seen("sh -c 'echo ready; kill -STOP $$' & wait"), IsEmpty());
  EXPECT_THAT(Seen("echo ready; kill -STOP $$"), IsEmpty());
}

TEST_F(ChildWatchTest, FindsNothingOfAProcessThatIsGone) {
  ChildWatch watch({.run_dir = "/nowhere", .uid = ::getuid()}, INT32_MAX);
  watch.Look();
  EXPECT_THAT(watch.Unmeasured(), IsEmpty());
}

}  // namespace
}  // namespace fieldcost::reach
