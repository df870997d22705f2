#pragma once

#include <gtest/gtest.h>
#include <systemd/sd-bus.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>

#include "common/base/file.h"
#include "tests/support/process.h"

namespace fieldcost::testing {

// A separate message bus with a substitute for NetworkManager.
class NetworkManagerStandIn {
 public:
  NetworkManagerStandIn() = default;
  NetworkManagerStandIn(const NetworkManagerStandIn&) = delete;
  NetworkManagerStandIn& operator=(const NetworkManagerStandIn&) = delete;
  ~NetworkManagerStandIn() {
    done_ = true;
    if (thread_.joinable()) thread_.join();
    if (service_ != nullptr) ::sd_bus_close_unref(service_);
  }

  // Its socket is `directory`/bus.
  void StartBus(const std::filesystem::path& directory) {
    address_ = "unix:path=" + (directory / "bus").string();
    const std::string config = "<busconfig><type>custom</type><listen>" + address_ +
                               R"(</listen>
<policy context="default"><allow send_destination="*"/><allow receive_sender="*"/>
<allow own="*"/></policy></busconfig>)";
    ASSERT_TRUE(WriteFileAtomically(directory / "bus.conf", config, 0600));
    daemon_.emplace(
        ProcessOptions{.arguments = {"dbus-daemon", "--nofork", "--print-address",
                                     "--config-file=" + (directory / "bus.conf").string()},
                       .environment = {},
                       .unset = {},
                       .directory = {},
                       .input = {}});
    ASSERT_TRUE(daemon_->WaitForLine("unix:path="));
  }

  // Answers with this value of NetworkManager's enumeration NMMetered.
  void StartService(std::uint32_t metered) {
    metered_ = metered;
    static const sd_bus_vtable kTable[] = {SD_BUS_VTABLE_START(0),
                                           SD_BUS_PROPERTY("Metered", "u", GetMetered, 0, 0),
                                           SD_BUS_VTABLE_END};
    ASSERT_GE(::sd_bus_new(&service_), 0);
    ASSERT_GE(::sd_bus_set_address(service_, address_.c_str()), 0);
    ASSERT_GE(::sd_bus_set_bus_client(service_, 1), 0);
    ASSERT_GE(::sd_bus_start(service_), 0);
    ASSERT_GE(::sd_bus_add_object_vtable(service_, nullptr, "/org/freedesktop/NetworkManager",
                                         "org.freedesktop.NetworkManager", kTable, &metered_),
              0);
    ASSERT_GE(::sd_bus_request_name(service_, "org.freedesktop.NetworkManager", 0), 0);
    thread_ = std::thread([this] {
      while (!done_) {
        while (::sd_bus_process(service_, nullptr) > 0) {
        }
        ::sd_bus_wait(service_, 20'000);  // then checks whether the test is over
      }
    });
  }
  void SetMetered(std::uint32_t metered) { metered_ = metered; }

 private:
  static int GetMetered(sd_bus*, const char*, const char*, const char*, sd_bus_message* reply,
                        void* value, sd_bus_error*) {
    return ::sd_bus_message_append(reply, "u",
                                   static_cast<std::atomic<std::uint32_t>*>(value)->load());
  }

  std::string address_;
  std::optional<BackgroundProcess> daemon_;
  std::atomic<std::uint32_t> metered_ = 0;
  sd_bus* service_ = nullptr;
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

}  // namespace fieldcost::testing
