#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/unwind/registers.h"
#include "common/shm/probe_file.h"

namespace fieldcost::probe {

// Returns the registers that agent/probe_preload/x86_64/entry.S saved.
inline unwind::Registers RegistersOf(const shm::ProbeRegisters& from) {
  unwind::Registers to;
  // ip is the return address; the call instruction precedes it.
  to.Set(unwind::kRip, from.ip - 1);
  to.Set(unwind::kRsp, from.sp);
  to.Set(unwind::kRbp, from.bp);
  to.Set(unwind::kRbx, from.bx);
  const std::uint64_t others[] = {from.r12, from.r13, from.r14, from.r15};
  for (std::size_t i = 0; i < 4; ++i) to.Set(unwind::kR12 + i, others[i]);
  return to;
}

}  // namespace fieldcost::probe
