#include "common/systemd/notify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "tests/support/notify_socket.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::systemd {
namespace {

using ::testing::MatchesRegex;

class NotifyTest : public ::testing::Test {
 protected:
  NotifyTest() { ::setenv("NOTIFY_SOCKET", manager_.path().c_str(), 1); }
  ~NotifyTest() override {
    for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "JOURNAL_STREAM"}) ::unsetenv(name);
  }

  testing::TempDir directory_;
  testing::NotifySocket manager_{directory_.path() / "notify"};
};

TEST_F(NotifyTest, NotifiesTheManagerOfEachStepInItsTerms) {
  NotifyReady("watching");
  EXPECT_EQ(manager_.Next(), "READY=1\nSTATUS=watching");
  NotifyReloading();
  EXPECT_THAT(manager_.Next(),
              MatchesRegex("RELOADING=1\nMONOTONIC_USEC=[0-9]+\nSTATUS=rereading the settings"));
  NotifyAlive();
  EXPECT_EQ(manager_.Next(), "WATCHDOG=1");
  NotifyStopping("collection is off");
  EXPECT_EQ(manager_.Next(), "STOPPING=1\nSTATUS=collection is off");
}

TEST_F(NotifyTest, StatusTextCannotInjectCommands) {
  NotifyReady("a file \"\nSTOPPING=1\"");
  const std::string message = manager_.Next();
  EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 1) << message;
}

TEST_F(NotifyTest, SendsNoNotificationWithoutAManager) {
  ::unsetenv("NOTIFY_SOCKET");
  NotifyReady("watching");
  NotifyAlive();
  ::setenv("NOTIFY_SOCKET", manager_.path().c_str(), 1);
  NotifyStopping("");
  EXPECT_EQ(manager_.Next(), "STOPPING=1\nSTATUS=") << "the first message that came";
}

TEST_F(NotifyTest, TheManagerSetsTheWatchdogInterval) {
  EXPECT_EQ(WatchdogTime(), std::nullopt);
  ::setenv("WATCHDOG_USEC", "60000000", 1);
  EXPECT_EQ(WatchdogTime(), std::chrono::minutes(1));
}

TEST_F(NotifyTest, RecognisesTheJournalByItsStream) {
  ::unsetenv("JOURNAL_STREAM");
  EXPECT_FALSE(LogsToJournal());
  for (const char* other : {"", "1", "1:1", "nonsense"}) {
    ::setenv("JOURNAL_STREAM", other, 1);
    EXPECT_FALSE(LogsToJournal()) << other;
  }
}

}  // namespace
}  // namespace fieldcost::systemd
