#include "agent/refresh/automatic_refresh.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>

#include <filesystem>
#include <fstream>

#include "agent/settings/pause.h"
#include "common/base/file.h"
#include "tests/agent/upload/network_manager_stand_in.h"
#include "tests/common/catalog/sync_fixture.h"

namespace fieldcost::refresh {
namespace {

using std::chrono::hours;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class AutomaticRefreshTest : public catalog::SyncTest {
 protected:
  AutomaticRefreshTest() {
    const catalog::SyncOptions client = publisher_.Client(directory_.path());
    paths_ = {.config_file = directory_.path() / "agent.toml",
              .state_dir = directory_.path() / "state",
              .catalog_file = directory_.path() / "copy" / "catalog.db",
              .catalog_root_file = client.root_file,
              .system_file = directory_.path() / "system.toml",
              .power_supply_dir = directory_.path() / "power_supply",
              .bus_address = "unix:path=" + (directory_.path() / "bus").string()};
    config_.url = client.server.url;
    config_.ca_file = client.server.ca_file;
    publisher_.Publish(testing::MakeRows(50, 1000), 3, catalog::kNow);
  }

  RefreshOutcome Refresh() {
    const auto outcome = RefreshIfDue(paths_, config_, clock_);
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome.value_or(RefreshOutcome());
  }
  RefreshStatus Look() const { return GetStatus(paths_, config_, clock_); }

  settings::AgentPaths paths_;
  settings::AgentConfig config_;
};

TEST_F(AutomaticRefreshTest, IsOffUntilSwitchedOnAndThenContactsTheServiceOnlyWhenDue) {
  EXPECT_FALSE(IsOn(paths_));
  EXPECT_FALSE(Refresh().report);
  EXPECT_EQ(Look().next, std::nullopt);
  EXPECT_FALSE(std::filesystem::exists(paths_.catalog_file));
  EXPECT_FALSE(std::filesystem::exists(paths_.state_dir));
  EXPECT_THAT(publisher_.TakeRequests(), IsEmpty());

  ASSERT_TRUE(SwitchOn(paths_));
  ASSERT_TRUE(Refresh().report);
  EXPECT_FALSE(publisher_.TakeRequests().empty());
  EXPECT_FALSE(Refresh().report);
  const auto next = NextTime(paths_, config_, clock_);
  ASSERT_TRUE(next && *next);
  EXPECT_EQ(Look().next, *next);
  clock_.Advance(**next - clock_.Now() - std::chrono::seconds(1));
  EXPECT_FALSE(Refresh().report);
  EXPECT_THAT(publisher_.TakeRequests(), IsEmpty());
  publisher_.Publish(testing::MakeRows(50, 1000), 3, clock_.Now());
  clock_.Advance(std::chrono::seconds(1));
  EXPECT_TRUE(Refresh().report);

  ASSERT_TRUE(SwitchOff(paths_));
  ASSERT_TRUE(SwitchOff(paths_));
  clock_.Advance(hours(24 * 30));
  publisher_.TakeRequests();
  EXPECT_FALSE(Refresh().report);
  EXPECT_THAT(publisher_.TakeRequests(), IsEmpty());
}

TEST_F(AutomaticRefreshTest, WaitsForMainsPowerUnlessTheSettingsPermit) {
  ASSERT_TRUE(SwitchOn(paths_));
  std::filesystem::create_directories(paths_.power_supply_dir / "BAT0");
  std::ofstream(paths_.power_supply_dir / "BAT0" / "type") << "Battery\n";
  std::ofstream(paths_.power_supply_dir / "BAT0" / "status") << "Discharging\n";
  EXPECT_EQ(Refresh().why_not, "mains power");
  EXPECT_EQ(Look().waiting_for, "mains power");
  EXPECT_EQ(Look().next, clock_.Now() + catalog::kRefreshPostponed);
  EXPECT_THAT(publisher_.TakeRequests(), IsEmpty());
  config_.on_battery = true;
  EXPECT_FALSE(Refresh().report) << "put off for an hour";
  clock_.Advance(catalog::kRefreshPostponed);
  EXPECT_TRUE(Refresh().report);
}

TEST_F(AutomaticRefreshTest, WaitsForAConnectionThatIsNotMeteredUnlessTheSettingsPermit) {
  ASSERT_TRUE(SwitchOn(paths_));
  testing::NetworkManagerStandIn network;
  network.StartBus(directory_.path());
  network.StartService(1);
  for (const std::uint32_t metered : {1U, 3U}) {  // yes, and guessed yes
    network.SetMetered(metered);
    EXPECT_EQ(Refresh().why_not, "a connection that is not metered");
    EXPECT_EQ(Look().waiting_for, "a connection that is not metered");
    EXPECT_EQ(Look().next, clock_.Now() + catalog::kRefreshPostponed);
    EXPECT_THAT(publisher_.TakeRequests(), IsEmpty());
    EXPECT_EQ(Look().failures, 0U);
    clock_.Advance(catalog::kRefreshPostponed);
  }
  // The user is at home again.
  network.SetMetered(2);
  EXPECT_TRUE(Refresh().report);
  EXPECT_FALSE(publisher_.TakeRequests().empty());

  network.SetMetered(1);
  const auto next = NextTime(paths_, config_, clock_);
  clock_.Advance(**next - clock_.Now());
  publisher_.Publish(testing::MakeRows(50, 1000), 3, clock_.Now());
  EXPECT_EQ(Refresh().why_not, "a connection that is not metered");
  config_.on_metered = true;
  clock_.Advance(catalog::kRefreshPostponed);
  EXPECT_EQ(Look().waiting_for, "");
  EXPECT_TRUE(Refresh().report);
}

TEST_F(AutomaticRefreshTest, WaitsForTheEndOfAPause) {
  ASSERT_TRUE(SwitchOn(paths_));
  ASSERT_TRUE(settings::SavePause(paths_, clock_.Now() + hours(2)));
  EXPECT_EQ(Refresh().why_not, "the end of the pause");
  EXPECT_THAT(publisher_.TakeRequests(), IsEmpty());
}

TEST_F(AutomaticRefreshTest, ARequestInProgressEndsOnceItIsSwitchedOff) {
  ASSERT_TRUE(SwitchOn(paths_));
  // Deletes the decision as soon as the first request of the attempt is being prepared: the record
  // of the attempt is stored before.
  class SwitchingClock : public Clock {
   public:
    SwitchingClock(const Clock& clock, const settings::AgentPaths& paths)
        : clock_(clock), paths_(paths) {}
    WallTime Now() const override {
      const auto stored = catalog::LoadRefresh(paths_.catalog_file);
      if (stored && stored->state.failures != 0) {
        EXPECT_TRUE(SwitchOff(paths_));
      }
      return clock_.Now();
    }

   private:
    const Clock& clock_;
    const settings::AgentPaths& paths_;
  };
  const SwitchingClock clock(clock_, paths_);
  const auto outcome = RefreshIfDue(paths_, config_, clock);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::kPermissionDenied) << outcome.error().message;
  EXPECT_EQ(publisher_.TakeFragmentRequests(), 0U);
}

// In a mount namespace, so that the small file system disappears with the process.
TEST_F(AutomaticRefreshTest, AFullDiskIsReportedAndTheOldCatalogueStays) {
  std::filesystem::create_directories(paths_.catalog_file.parent_path());
  if (::unshare(CLONE_NEWNS) != 0 ||
      ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("none", paths_.catalog_file.parent_path().c_str(), "tmpfs", MS_NOSUID | MS_NODEV,
              "size=3m") != 0) {
    GTEST_SKIP() << "needs the privilege to mount a file system";
  }
  ASSERT_TRUE(SwitchOn(paths_));
  ASSERT_TRUE(Refresh().report);
  const auto rows = [&] {
    const auto opened = catalog::Catalog::Open(paths_.catalog_file);
    return opened ? opened->AllRows().value().size() : 0;
  };
  const std::size_t before = rows();
  EXPECT_GT(before, 0U);
  const auto next = NextTime(paths_, config_, clock_);
  clock_.Advance(**next - clock_.Now());
  publisher_.Publish(testing::MakeRows(50, 2000), 3, clock_.Now());
  {
    std::ofstream filler(paths_.catalog_file.parent_path() / "filler");
    const std::string block(64 * 1024, 'x');
    while (filler.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
    }
  }
  publisher_.TakeFragmentRequests();
  const auto full = RefreshIfDue(paths_, config_, clock_);
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, ErrorCode::kIo) << full.error().message;
  EXPECT_EQ(publisher_.TakeFragmentRequests(), 0U);
  // SQLite cannot open it while no byte is free.
  std::filesystem::remove(paths_.catalog_file.parent_path() / "filler");
  EXPECT_EQ(rows(), before);
  if (const auto retry = NextTime(paths_, config_, clock_); *retry > clock_.Now()) {
    EXPECT_THAT(Look().problem, HasSubstr("free"));
    clock_.Advance(**retry - clock_.Now());
  }
  publisher_.Publish(testing::MakeRows(50, 2000), 3, clock_.Now());
  EXPECT_TRUE(Refresh().report);
  EXPECT_EQ(Look().problem, "");
  ::umount2(paths_.catalog_file.parent_path().c_str(), MNT_DETACH);
}

}  // namespace
}  // namespace fieldcost::refresh
