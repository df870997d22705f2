#pragma once

#include <cstdint>

namespace fieldcost::trace {

// Computes the CPU time that the kernel has counted and that no sample represents, so that the
// recorded sum equals the kernel's count to the nanosecond. Pure; not thread-safe.
//
// A sample represents one period. The rest is time in the kernel, for which unprivileged users get
// no samples, and the remainder of less than a period that each thread has left on a CPU when it
// ends.
class CpuAccount {
 public:
  explicit CpuAccount(std::uint64_t period_ns) : period_ns_(period_ns) {}

  void AddSample(std::uint64_t weight_ns) { sampled_ns_ += weight_ns; }
  // Called when a thread that ran for this long has ended. Returns its time that no sample
  // represents.
  std::uint64_t AddThread(std::uint64_t run_ns) {
    left_over_ns_ += run_ns % period_ns_;
    return run_ns % period_ns_;
  }

  struct Rest {
    std::uint64_t kernel_ns = 0;
    std::uint64_t left_over_ns = 0;
  };
  // Returns the growth since the previous call, given `total_ns` counted so far. All samples so far
  // must have been added. Holds back one period per running thread and CPU that it used, since
  // samples may still cover that time.
  Rest Take(std::uint64_t total_ns, std::uint64_t running);

 private:
  std::uint64_t period_ns_;
  std::uint64_t sampled_ns_ = 0;
  std::uint64_t left_over_ns_ = 0;
  std::uint64_t given_left_over_ns_ = 0;
  std::uint64_t given_kernel_ns_ = 0;
};

}  // namespace fieldcost::trace
