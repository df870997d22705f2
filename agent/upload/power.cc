#include "agent/upload/power.h"

#include <systemd/sd-bus.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <system_error>

#include "agent/settings/pause.h"
#include "common/base/file.h"

namespace fieldcost::upload {
namespace {

constexpr std::size_t kMaxAttributeBytes = 4096;  // a page, the maximum in sysfs
constexpr std::size_t kMaxSupplies = 64;
constexpr std::chrono::seconds kBusLimit{1};

constexpr char kService[] = "org.freedesktop.NetworkManager";
constexpr char kObject[] = "/org/freedesktop/NetworkManager";
// NMMetered: 1 yes, 3 guessed yes.
constexpr std::uint32_t kMeteredYes = 1;
constexpr std::uint32_t kMeteredGuessedYes = 3;

using SteadyClock = std::chrono::steady_clock;

// In microseconds; 0 = the deadline has passed.
std::uint64_t LeftUntil(SteadyClock::time_point deadline) {
  const auto left =
      std::chrono::duration_cast<std::chrono::microseconds>(deadline - SteadyClock::now());
  return left.count() > 0 ? static_cast<std::uint64_t>(left.count()) : 0;
}

struct CloseBus {
  void operator()(sd_bus* bus) const { ::sd_bus_close_unref(bus); }
};
struct FreeMessage {
  void operator()(sd_bus_message* message) const { ::sd_bus_message_unref(message); }
};
using Bus = std::unique_ptr<sd_bus, CloseBus>;
using Message = std::unique_ptr<sd_bus_message, FreeMessage>;

std::string Attribute(const std::filesystem::path& supply, const char* name) {
  auto text = ReadFile(supply / name, kMaxAttributeBytes);
  if (!text) return {};
  return text->substr(0, text->find('\n'));
}

Bus OpenBus(const std::string& address) {
  sd_bus* made = nullptr;
  if (address.empty()) return Bus(::sd_bus_open_system(&made) < 0 ? nullptr : made);
  if (::sd_bus_new(&made) < 0) return nullptr;
  Bus bus(made);
  const bool is_open = ::sd_bus_set_address(bus.get(), address.c_str()) >= 0 &&
                       ::sd_bus_set_bus_client(bus.get(), 1) >= 0 && ::sd_bus_start(bus.get()) >= 0;
  return is_open ? std::move(bus) : nullptr;
}

// Waits for the asynchronous connect; gives up at the deadline if the bus does not respond.
bool BecomesReady(sd_bus* bus, SteadyClock::time_point deadline) {
  for (;;) {
    const int ready = ::sd_bus_is_ready(bus);
    if (ready != 0) return ready > 0;
    const int processed = ::sd_bus_process(bus, nullptr);
    if (processed < 0) return false;
    if (processed > 0) continue;
    const std::uint64_t left = LeftUntil(deadline);
    if (left == 0 || ::sd_bus_wait(bus, left) < 0) return false;
  }
}

}  // namespace

bool IsOnBattery(const std::filesystem::path& power_supply_dir) {
  bool discharging = false;
  std::size_t seen = 0;
  std::error_code error;
  std::filesystem::directory_iterator entries(power_supply_dir, error);
  for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    if (++seen > kMaxSupplies) break;
    const std::filesystem::path& supply = entries->path();
    const std::string type = Attribute(supply, "type");
    if (type == "Battery") {
      const bool is_of_device = Attribute(supply, "scope") == "Device";
      discharging |= !is_of_device && Attribute(supply, "status") == "Discharging";
    } else if (Attribute(supply, "online") == "1") {
      return false;
    }
  }
  return discharging;
}

bool IsMetered(const std::string& bus_address) {
  const SteadyClock::time_point deadline = SteadyClock::now() + kBusLimit;
  const Bus bus = OpenBus(bus_address);
  if (!bus || !BecomesReady(bus.get(), deadline)) return false;
  sd_bus_message* made = nullptr;
  if (::sd_bus_message_new_method_call(bus.get(), &made, kService, kObject,
                                       "org.freedesktop.DBus.Properties", "Get") < 0) {
    return false;
  }
  const Message call(made);
  ::sd_bus_message_set_auto_start(call.get(), 0);
  if (::sd_bus_message_append(call.get(), "ss", kService, "Metered") < 0) return false;
  sd_bus_message* answered = nullptr;
  const std::uint64_t left = LeftUntil(deadline);
  if (left == 0 || ::sd_bus_call(bus.get(), call.get(), left, nullptr, &answered) < 0) return false;
  const Message answer(answered);
  std::uint32_t metered = 0;
  if (::sd_bus_message_read(answer.get(), "v", "u", &metered) < 0) return false;
  return metered == kMeteredYes || metered == kMeteredGuessedYes;
}

std::string WaitReason(const settings::AgentPaths& paths, const settings::AgentConfig& config,
                       WallTime now) {
  if (settings::PausedUntil(paths, now)) return "the end of the pause";
  if (!config.on_battery && IsOnBattery(paths.power_supply_dir)) return "mains power";
  if (!config.on_metered && IsMetered(paths.bus_address)) {
    return "a connection that is not metered";
  }
  return {};
}

}  // namespace fieldcost::upload
