#pragma once

#include <cstdint>

namespace fieldcost::serve {

// The kernel's statistics of this process; 0 where unavailable.
struct ProcessFacts {
  double cpu_seconds = 0;
  double start_seconds = 0;  // Unix time
  std::uint64_t resident_bytes = 0;
  std::uint64_t virtual_bytes = 0;
  std::uint64_t open_fds = 0;
  std::uint64_t max_fds = 0;
};

ProcessFacts ReadProcessFacts();

}  // namespace fieldcost::serve
