#pragma once

#include <cstddef>
#include <iterator>

#include "agent/idle/idle_events.h"
#include "agent/unwind/registers.h"

namespace fieldcost::idle_agent {

// Returns the registers that idle.bpf.c copied from the kernel's pt_regs.
inline unwind::Registers RegistersOf(const fc_stack& stack) {
  unwind::Registers registers;
  registers.Set(unwind::kRip, stack.ip);
  registers.Set(unwind::kRsp, stack.sp);
  registers.Set(unwind::kRbp, stack.bp);
  registers.Set(unwind::kRbx, stack.bx);
  const std::uint64_t rest[] = {stack.r12, stack.r13, stack.r14, stack.r15};
  for (std::size_t i = 0; i < std::size(rest); ++i) registers.Set(unwind::kR12 + i, rest[i]);
  return registers;
}

}  // namespace fieldcost::idle_agent
