#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/shm/metric.h"

namespace fieldcost::stats {

using shm::Metric;

// The metric's stable name ("wall_time", "alloc_inclusive", ...), "" if unknown.
std::string_view Name(Metric metric);
// Its unit: "ns", "cycles", "bytes" or "calls".
std::string_view Unit(Metric metric);
// True if the number is one of Metric's.
bool IsKnownMetric(std::uint32_t untrusted_number);

// One exported function of one version of one shared library. All text is printable ASCII, the
// symbol UTF-8, without spaces; limits are in common/wire/wire_limits.h.
struct ApiKey {
  std::string soname;           // "libsqlite3.so.0"
  std::string package_version;  // "3.40.1-2+deb12u1", empty if not from a package
  std::string build_id;         // lower-case hex, empty if none
  std::string symbol;           // "sqlite3_step"
  std::string symbol_version;   // "GLIBC_2.2.5", empty if unversioned
  auto operator<=>(const ApiKey&) const = default;
};

// "libsqlite3.so.0!sqlite3_step": how users name an API.
std::string DisplayName(const ApiKey& key);

// Coarse description of the machine. All empty = "all classes" in published rows.
struct HardwareClass {
  std::string architecture;           // "x86_64"
  std::string cpu_family;             // "GenuineIntel-6"
  std::uint32_t log2_cores = 0;       // floor(log2(cores))
  std::uint32_t log2_memory_mib = 0;  // floor(log2(MiB))
  std::string os_release;             // "debian-12"
  auto operator<=>(const HardwareClass&) const = default;
};

// "x86_64/GenuineIntel-6/2^1 cores/2^14 MiB/debian-12", or "all classes"
std::string DisplayName(const HardwareClass& hardware);

// The key of a stored row.
struct RowKey {
  ApiKey api;
  Metric metric = Metric::kWallTime;
  HardwareClass hardware;
  std::uint32_t week = 0;  // whole weeks since 1970-01-01; 0 = all weeks in published rows
  auto operator<=>(const RowKey&) const = default;
};

}  // namespace fieldcost::stats
