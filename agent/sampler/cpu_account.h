#pragma once

#include <cstdint>

namespace fieldcost::sampler {

// What of the CPU time that the kernel has counted is in no sample: so that all that is recorded is
// as much as the kernel says, to the nanosecond. Pure; not thread-safe.
//
// A sample stands for a period. The rest is time in the kernel, whose samples an unprivileged user
// does not get, and what each thread had left over on a CPU when it ended, less than a period.
class CpuAccount {
 public:
  explicit CpuAccount(std::uint64_t period_ns) : period_ns_(period_ns) {}

  void AddSample(std::uint64_t weight_ns) { sampled_ns_ += weight_ns; }
  // Called when a thread that ran for this long has ended. Returns its time that was not
  // attributed.
  std::uint64_t AddThread(std::uint64_t run_ns) {
    left_over_ns_ += run_ns % period_ns_;
    return run_ns % period_ns_;
  }

  struct Rest {
    std::uint64_t kernel_ns = 0;
    std::uint64_t left_over_ns = 0;
  };
  // What has come to it since the last one, of `total_ns` counted by then, all samples until then
  // having been added. Of what goes on, threads and each CPU that they had, a period is held back:
  // samples may yet tell of it.
  Rest Take(std::uint64_t total_ns, std::uint64_t running);

 private:
  std::uint64_t period_ns_;
  std::uint64_t sampled_ns_ = 0;
  std::uint64_t left_over_ns_ = 0;
  std::uint64_t given_left_over_ns_ = 0;
  std::uint64_t given_kernel_ns_ = 0;
};

}  // namespace fieldcost::sampler
