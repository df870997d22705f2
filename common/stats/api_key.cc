#include "common/stats/api_key.h"

#include <fmt/format.h>

#include <array>

namespace fieldcost::stats {
namespace {

struct MetricText {
  std::string_view name;
  std::string_view unit;
};

// Indexed by metric number.
constexpr std::array<MetricText, shm::kMaxMetric + 1> kMetricTexts = {{
    {"", ""},
    {"wall_time", "ns"},
    {"cpu_cycles", "cycles"},
    {"alloc_inclusive", "bytes"},
    {"alloc_exclusive", "bytes"},
    {"alloc_size", "bytes"},
    {"disk_read", "bytes"},
    {"disk_written", "bytes"},
    {"net_received", "bytes"},
    {"net_sent", "bytes"},
    {"calls_per_run", "calls"},
    {"first_call", "ns"},
    {"time_per_run", "ns"},
    {"wall_time_busy", "ns"},
    {"not_measured", "reason"},
}};

const MetricText& TextOf(Metric metric) {
  const auto number = static_cast<std::uint32_t>(metric);
  return kMetricTexts[IsKnownMetric(number) ? number : 0];
}

}  // namespace

std::string_view Name(Metric metric) { return TextOf(metric).name; }

std::string_view Unit(Metric metric) { return TextOf(metric).unit; }

bool IsKnownMetric(std::uint32_t untrusted_number) {
  return untrusted_number >= 1 && untrusted_number <= shm::kMaxMetric;
}

std::string DisplayName(const ApiKey& key) { return fmt::format("{}!{}", key.soname, key.symbol); }

std::string DisplayName(const HardwareClass& hardware) {
  if (hardware == HardwareClass{}) return "all classes";
  return fmt::format("{}/{}/2^{} cores/2^{} MiB/{}", hardware.architecture, hardware.cpu_family,
                     hardware.log2_cores, hardware.log2_memory_mib, hardware.os_release);
}

}  // namespace fieldcost::stats
