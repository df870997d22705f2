#include "agent/upload/power.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>

#include "common/base/file.h"
#include "tests/agent/upload/network_manager_stand_in.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::upload {
namespace {

class BatteryTest : public ::testing::Test {
 protected:
  void Supply(const std::string& name,
              const std::vector<std::pair<std::string, std::string>>& attributes) {
    const auto supply = directory_.path() / name;
    ASSERT_TRUE(MakeDirectories(supply, 0700));
    for (const auto& [attribute, value] : attributes) {
      ASSERT_TRUE(WriteFileAtomically(supply / attribute, value + "\n", 0600));
    }
  }
  bool OnBattery() const { return IsOnBattery(directory_.path()); }

  const testing::TempDir directory_;
};

TEST_F(BatteryTest, MachineWithoutAnyIsNot) {
  EXPECT_FALSE(OnBattery());
  EXPECT_FALSE(IsOnBattery("/nonexistent"));
  Supply("AC", {{"type", "Mains"}, {"online", "1"}});
  EXPECT_FALSE(OnBattery());
}

TEST_F(BatteryTest, OnlyADischargingBatteryWithoutASupplyCounts) {
  struct Row {
    const char* status;
    const char* online;
    bool on_battery;
  };
  for (const Row& row :
       {Row{"Discharging", "0", true}, Row{"Discharging", "1", false}, Row{"Charging", "1", false},
        Row{"Full", "0", false}, Row{"Not charging", "0", false}, Row{"Unknown", "0", false}}) {
    Supply("BAT0", {{"type", "Battery"}, {"status", row.status}});
    Supply("ucsi", {{"type", "USB"}, {"online", row.online}});
    EXPECT_EQ(OnBattery(), row.on_battery) << row.status << row.online;
  }
}

TEST_F(BatteryTest, BatteryOfAMouseDoesNotCount) {
  Supply("hid", {{"type", "Battery"}, {"status", "Discharging"}, {"scope", "Device"}});
  EXPECT_FALSE(OnBattery());
  Supply("BAT1", {{"type", "Battery"}, {"status", "Discharging"}, {"scope", "System"}});
  EXPECT_TRUE(OnBattery());
}

class MeteredTest : public ::testing::Test {
 protected:
  void StartBus() { network_.StartBus(directory_.path()); }
  void StartService(std::uint32_t metered) { network_.StartService(metered); }
  std::filesystem::path socket() const { return directory_.path() / "bus"; }
  std::string address() const { return "unix:path=" + socket().string(); }

  const testing::TempDir directory_;
  testing::NetworkManagerStandIn network_;
};

TEST_F(MeteredTest, NoBusAndNoNetworkManagerMeanNot) {
  EXPECT_FALSE(IsMetered(address()));
  EXPECT_FALSE(IsMetered("nonsense"));
  StartBus();
  EXPECT_FALSE(IsMetered(address()));
}

TEST_F(MeteredTest, TimesOutOnABusThatNeverAnswers) {
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::strncpy(name.sun_path, socket().c_str(), sizeof name.sun_path - 1);
  ASSERT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
  ASSERT_EQ(::listen(listener, 1), 0);
  EXPECT_FALSE(IsMetered(address()));
  ::close(listener);
}

TEST_F(MeteredTest, NetworkManagersWordCounts) {
  StartBus();
  StartService(0);
  struct Row {
    std::uint32_t said;
    bool metered;
  };
  // Unknown, yes, no, guessed yes, guessed no, and an undefined value.
  for (const Row& row :
       {Row{0, false}, Row{1, true}, Row{2, false}, Row{3, true}, Row{4, false}, Row{99, false}}) {
    network_.SetMetered(row.said);
    EXPECT_EQ(IsMetered(address()), row.metered) << row.said;
  }
  network_.SetMetered(1);
  settings::AgentPaths paths;
  paths.power_supply_dir = directory_.path() / "none";
  paths.bus_address = address();
  settings::AgentConfig config;
  EXPECT_THAT(WaitReason(paths, config, WallTime{}), ::testing::HasSubstr("not metered"));
  config.on_metered = true;
  EXPECT_EQ(WaitReason(paths, config, WallTime{}), "");
}

TEST_F(BatteryTest, TheUserMayIgnoreTheBattery) {
  Supply("BAT0", {{"type", "Battery"}, {"status", "Discharging"}});
  settings::AgentPaths paths;
  paths.power_supply_dir = directory_.path();
  paths.bus_address = "unix:path=/nonexistent";
  settings::AgentConfig config;
  EXPECT_EQ(WaitReason(paths, config, WallTime{}), "mains power");
  config.on_battery = true;
  EXPECT_EQ(WaitReason(paths, config, WallTime{}), "");
}

}  // namespace
}  // namespace fieldcost::upload
