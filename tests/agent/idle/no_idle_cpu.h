#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace fieldcost::idle_agent::testing {

// Detects whether other processes have used all CPUs since this object was constructed, so that
// there was no idle time to record. Relies on the kernel's count (/proc/stat), not on the recorder
// under test.
class NoIdleCpu {
 public:
  // Whether all CPUs together were idle for less than 1 % of a period of at least kLongEnough.
  bool IsProven() const {
    const Times since = Since();
    return since.all >= kLongEnough * since.cpus && 100 * since.idle < since.all;
  }

  // tests/skips.py reads this: it accepts the reason only with less than 1 %.
  std::string Reason() const {
    const Times since = Since();
    const double percent =
        since.all == 0 ? 0 : 100 * static_cast<double>(since.idle) / static_cast<double>(since.all);
    return "too little idle time to record: all CPUs were idle for " + std::to_string(percent) +
           " % of the time";
  }

 private:
  // In kernel ticks, summed over all CPUs.
  struct Times {
    std::uint64_t idle = 0;
    std::uint64_t all = 0;
    std::uint64_t cpus = 0;
  };
  static constexpr std::uint64_t kLongEnough = 1'000;  // ticks: 10 s

  static Times Read() {
    std::ifstream stat("/proc/stat");
    Times times;
    std::string word;
    stat >> word;  // "cpu": the sum of all CPUs
    constexpr int kIdle = 3;
    constexpr int kIoWait = 4;
    constexpr int kSteal = 7;  // later fields are included in earlier ones
    for (int field = 0; field <= kSteal; ++field) {
      std::uint64_t ticks = 0;
      stat >> ticks;
      times.all += ticks;
      if (field == kIdle || field == kIoWait) times.idle += ticks;
    }
    for (std::string line; std::getline(stat, line);) {
      if (line.starts_with("cpu")) ++times.cpus;
    }
    return times;
  }

  Times Since() const {
    const Times now = Read();
    return {.idle = now.idle - begin_.idle, .all = now.all - begin_.all, .cpus = now.cpus};
  }

  Times begin_ = Read();
};

}  // namespace fieldcost::idle_agent::testing
