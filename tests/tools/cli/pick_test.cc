#include "tools/cli/pick.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fieldcost::cli {
namespace {

TEST(PickTest, GlobsOfSonameAndSymbolAreAccepted) {
  for (const char* pick :
       {"libz.so.1!deflate", "libsqlite3.so.0!sqlite3_*", "*!open?", "liba.so!f,libb.so!g*"}) {
    EXPECT_TRUE(CheckPick(pick).has_value()) << pick;
  }
}

TEST(PickTest, AnythingElseIsRefused) {
  for (const char* pick :
       {"", "deflate", "!deflate", "libz.so.1!", "a!b!c", "a!b,", "a!b,,c!d", "a!b c", "a!b\n"}) {
    const Status status = CheckPick(pick);
    ASSERT_FALSE(status.has_value()) << pick;
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
  }
  EXPECT_FALSE(CheckPick("a!" + std::string(5000, 'x')).has_value());
}

TEST(MetricsTest, NamesComeInAnyOrder) {
  EXPECT_EQ(*NormalizeMetrics("time"), "time");
  EXPECT_EQ(*NormalizeMetrics("alloc"), "alloc");
  EXPECT_EQ(*NormalizeMetrics("time,alloc"), "time,alloc");
  EXPECT_EQ(*NormalizeMetrics("alloc,time"), "time,alloc");
  EXPECT_EQ(*NormalizeMetrics("cycles,io,time"), "time,io,cycles");
  EXPECT_EQ(*NormalizeMetrics("cycles,alloc,io,time"), "time,alloc,io,cycles");
  EXPECT_EQ(*NormalizeMetrics("io,io"), "io");
  for (const char* text : {"", "wall", "time,", "time,alloc,disk", "io cycles"}) {
    EXPECT_FALSE(NormalizeMetrics(text).has_value()) << text;
  }
}

TEST(PreloadVariableTest, OursComesFirstAndOnce) {
  EXPECT_EQ(PreloadVariable("/l/ours.so", ""), "/l/ours.so");
  EXPECT_EQ(PreloadVariable("/l/ours.so", "/x/a.so b.so"), "/l/ours.so:/x/a.so:b.so");
  EXPECT_EQ(PreloadVariable("/l/ours.so", "/x/a.so:/l/ours.so"), "/l/ours.so:/x/a.so");
  EXPECT_EQ(PreloadVariable("/l/ours.so", "/session/ours.so:/x/hours.so"),
            "/l/ours.so:/x/hours.so");
}

}  // namespace
}  // namespace fieldcost::cli
