#include "agent/probe_recorder/unreached.h"
#include "tests/support/binary_dir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fieldcost::probe {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const std::string kProbed = FIELDCOST_BINARY_DIR "/victims/probed";

NamedPoint PointAt(const std::string& at) { return {.label = "load", .at = at}; }

TEST(ExplainUnreachedTest, GivesTheReasonOfEachPointThatWasNotPassed) {
  SeenPoints seen;
  seen.modules = {kProbed};
  seen.passed = {{"libc.so.6!usleep", "load"}};
  seen.placed[0] = 1 << 2;
  const auto lines = ExplainUnreached(
      {PointAt("libc.so.6!usleep"), PointAt("libnowhere.so.1!f"), PointAt("libc.so.6!getpid"),
       PointAt("probed!main"), PointAt("probed!mian")},
      seen);
  ASSERT_THAT(lines, SizeIs(4));
  EXPECT_THAT(lines[0], HasSubstr("libnowhere.so.1!f: no program or library called"));
  EXPECT_THAT(lines[1], HasSubstr("libc.so.6!getpid: no call of it was seen"));
  EXPECT_THAT(lines[2], HasSubstr("probed!main: it is not called through a slot"));
  EXPECT_THAT(lines[2], HasSubstr("FIELDCOST_POINT"));
  EXPECT_THAT(lines[3], HasSubstr("no such function in probed: did you mean main?"));
}

TEST(ExplainUnreachedTest, AnotherLabelOrFunctionDoesNotCount) {
  SeenPoints seen;
  seen.passed = {{"libc.so.6!usleep", "other"}, {"libc.so.6!sleep", "load"}};
  EXPECT_THAT(ExplainUnreached({PointAt("libc.so.6!usleep")}, seen), SizeIs(1));
  EXPECT_THAT(ExplainUnreached({PointAt("libc.so.6!*sleep")}, seen), SizeIs(0));
  NamedPoint begins{.event = "other", .at = "libc.so.6!usleep", .begins = true};
  EXPECT_THAT(ExplainUnreached({begins}, seen), SizeIs(0));
}

TEST(ExplainUnreachedTest, TextsOfProgramsAreEscaped) {
  EXPECT_THAT(ExplainUnreached({PointAt("lib\x1b!f")}, {}),
              ElementsAre(::testing::Not(HasSubstr("\x1b"))));
}

}  // namespace
}  // namespace fieldcost::probe
