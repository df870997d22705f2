#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace fieldcost::trace {

// Adds up a thread's waits that are too short to be reported individually. Pure; not thread-safe.
//
// The sums are reported as consecutive spans directly before the end of the last wait, so they do
// not overlap waits reported before, provided that each thread's waits do not overlap.
class ShortWaits {
 public:
  enum class Kind : std::uint8_t { kWait, kPreempted };
  struct Span {
    pid_t pid = 0;
    pid_t tid = 0;
    Kind kind = Kind::kWait;
    std::uint64_t end_ns = 0;
    std::uint64_t length_ns = 0;  // greater than 0
  };

  void Add(const Span& wait);
  // Return what was added since the previous call, for one thread or all; older spans first.
  std::vector<Span> TakeOf(pid_t tid);
  std::vector<Span> TakeAll();

 private:
  struct Sum {
    pid_t pid = 0;
    std::uint64_t end_ns = 0;
    std::array<std::uint64_t, 2> length_ns{};  // [kind]
  };
  static void Append(pid_t tid, const Sum& sum, std::vector<Span>& spans);

  std::unordered_map<pid_t, Sum> sums_;
};

}  // namespace fieldcost::trace
