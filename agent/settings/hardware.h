#pragma once

#include <string>
#include <string_view>

#include "common/stats/api_key.h"

namespace fieldcost::settings {

// The facts that determine this machine's coarse class; texts are the contents of files.
struct HardwareFacts {
  std::string architecture;  // from uname(2)
  std::string cpuinfo;       // /proc/cpuinfo
  std::string meminfo;       // /proc/meminfo
  std::string os_release;    // /etc/os-release
  long cores = 1;            // online
};

// Pure. Unknown parts become "unknown" or 0; texts contain no spaces and have at most
// wire::kMaxClassTextBytes bytes.
stats::HardwareClass ClassOf(const HardwareFacts& facts);

// The class of this machine.
stats::HardwareClass ThisHardware();

}  // namespace fieldcost::settings
