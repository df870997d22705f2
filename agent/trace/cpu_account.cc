#include "agent/trace/cpu_account.h"

#include <algorithm>

namespace fieldcost::trace {

CpuAccount::Rest CpuAccount::Take(std::uint64_t total_ns, std::uint64_t running) {
  const std::uint64_t told = sampled_ns_ + given_left_over_ns_ + given_kernel_ns_;
  std::uint64_t untold = total_ns - std::min(total_ns, told);
  const std::uint64_t held_back = std::min(untold, running * period_ns_);
  untold -= held_back;
  Rest rest;
  rest.left_over_ns = std::min(left_over_ns_ - given_left_over_ns_, untold);
  rest.kernel_ns = untold - rest.left_over_ns;
  given_left_over_ns_ += rest.left_over_ns;
  given_kernel_ns_ += rest.kernel_ns;
  return rest;
}

}  // namespace fieldcost::trace
