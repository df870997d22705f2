#include "common/stats/api_key.h"

#include <fmt/format.h>

#include "common/stats/metric_traits.h"

namespace fieldcost::stats {

std::string_view Name(Metric metric) {
  return IsKnownMetric(static_cast<std::uint32_t>(metric)) ? TraitsOf(metric).name : "";
}

std::string_view Unit(Metric metric) {
  return IsKnownMetric(static_cast<std::uint32_t>(metric)) ? TraitsOf(metric).unit : "";
}

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
