#pragma once

#include <string>
#include <string_view>

#include "common/stats/api_key.h"

namespace fieldcost::agent {

// The facts that determine the coarse class of this machine; texts are the contents of files.
struct HardwareFacts {
  std::string architecture;  // of uname(2)
  std::string cpuinfo;       // /proc/cpuinfo
  std::string meminfo;       // /proc/meminfo
  std::string os_release;    // /etc/os-release
  long cores = 1;            // online
};

// Pure. Unknown parts become "unknown" or 0; texts have no spaces and at most
// wire::kMaxClassTextBytes bytes.
stats::HardwareClass ClassOf(const HardwareFacts& facts);

// This machine's.
stats::HardwareClass ThisHardware();

}  // namespace fieldcost::agent
