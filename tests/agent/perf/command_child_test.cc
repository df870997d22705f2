#include "agent/perf/command_child.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "tests/support/wait_until.h"

namespace fieldcost::perf {
namespace {

using fieldcost::testing::kMostPatience;
using std::chrono::milliseconds;

TEST(CommandChildTest, StartsOnRequestAndItsEndIsNoticed) {
  auto child = CommandChild::Prepare({"sh", "-c", "exit $WANTED"}, {{"WANTED", "7"}});
  ASSERT_TRUE(child) << child.error().message;
  EXPECT_FALSE(child->EndsWithin(milliseconds(0)).value());
  child->Go();
  EXPECT_TRUE(child->EndsWithin(kMostPatience).value());
  EXPECT_EQ(child->Wait().value(), 7);
}

TEST(CommandChildTest, ASignalThatEndsItIsInItsStatus) {
  auto child = CommandChild::Prepare({"sh", "-c", "kill -TERM $$"}, {});
  ASSERT_TRUE(child) << child.error().message;
  child->Go();
  EXPECT_EQ(child->Wait().value(), 128 + SIGTERM);
}

TEST(CommandChildTest, ACommandThatIsNotThereIsAnError) {
  auto child = CommandChild::Prepare({"/nowhere/program"}, {});
  ASSERT_TRUE(child) << child.error().message;
  child->Go();
  const auto status = child->Wait();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kNotFound);
  EXPECT_NE(status.error().message.find("/nowhere/program"), std::string::npos);
}

TEST(CommandChildTest, UnstartedChildEndsWithItsOwner) {
  pid_t pid = 0;
  {
    auto child = CommandChild::Prepare({"sleep", "1000"}, {});
    ASSERT_TRUE(child) << child.error().message;
    pid = child->pid();
    EXPECT_EQ(::kill(pid, 0), 0);
  }
  EXPECT_NE(::kill(pid, 0), 0);
}

}  // namespace
}  // namespace fieldcost::perf
