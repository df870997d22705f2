#include "agent/settings/hardware.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <bit>

#include "common/base/file.h"
#include "common/base/text.h"
#include "common/base/units.h"
#include "common/wire/wire_limits.h"

namespace fieldcost::settings {
namespace {

constexpr std::size_t kMaxFactBytes = 4 * kMiB;

constexpr std::string_view kBlanks = " \t\r\"'";

// The value of the first line "name<blanks><separator>value".
std::string_view ValueOf(std::string_view text, std::string_view name, char separator) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t at = line.find(separator);
    if (at != std::string_view::npos && Trim(line.substr(0, at), kBlanks) == name) {
      return Trim(line.substr(at + 1), kBlanks);
    }
  }
  return {};
}

std::string Clean(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, wire::kMaxClassTextBytes)) {
    out += c > ' ' && c <= '~' ? c : '_';
  }
  return out.empty() ? "unknown" : out;
}

std::string Joined(std::string_view a, std::string_view b) {
  if (a.empty()) return "unknown";
  return Clean(b.empty() ? std::string(a) : fmt::format("{}-{}", a, b));
}

std::uint32_t FloorLog2(std::uint64_t value) {
  return value == 0 ? 0 : static_cast<std::uint32_t>(std::bit_width(value) - 1);
}

std::string TextOf(const char* path) {
  auto text = ReadFile(path, kMaxFactBytes);
  return text ? std::move(*text) : std::string();
}

}  // namespace

stats::HardwareClass ClassOf(const HardwareFacts& facts) {
  const std::string_view memory = ValueOf(facts.meminfo, "MemTotal", ':');  // "16318324 kB"
  const auto memory_kib = ParseUint64(memory.substr(0, memory.find(' ')));
  return {.architecture = Clean(facts.architecture),
          .cpu_family = Joined(ValueOf(facts.cpuinfo, "vendor_id", ':'),
                               ValueOf(facts.cpuinfo, "cpu family", ':')),
          .log2_cores = FloorLog2(facts.cores > 0 ? static_cast<std::uint64_t>(facts.cores) : 0),
          .log2_memory_mib = FloorLog2(memory_kib.value_or(0) / kKiB),
          .os_release = Joined(ValueOf(facts.os_release, "ID", '='),
                               ValueOf(facts.os_release, "VERSION_ID", '='))};
}

stats::HardwareClass ThisHardware() {
  utsname names{};
  ::uname(&names);
  return ClassOf({.architecture = names.machine,
                  .cpuinfo = TextOf("/proc/cpuinfo"),
                  .meminfo = TextOf("/proc/meminfo"),
                  .os_release = TextOf("/etc/os-release"),
                  .cores = ::sysconf(_SC_NPROCESSORS_ONLN)});
}

}  // namespace fieldcost::settings
