#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "agent/unwind/registers.h"

// The registers in samples of this machine.

namespace fieldcost::perf {

// rax to rip and r8 to r15, in the kernel's numbering; no flags or segments.
inline constexpr std::uint64_t kUserRegisters = 0xff01ff;

// The DWARF numbers of rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp, rip, r8 …, in the kernel's order.
inline constexpr std::size_t kUserRegisterOrder[] = {unwind::kRax,
                                                     unwind::kRbx,
                                                     unwind::kRcx,
                                                     unwind::kRdx,
                                                     unwind::kRsi,
                                                     unwind::kRdi,
                                                     unwind::kRbp,
                                                     unwind::kRsp,
                                                     unwind::kRip,
                                                     8,
                                                     9,
                                                     10,
                                                     11,
                                                     12,
                                                     13,
                                                     14,
                                                     15};
static_assert(std::size(kUserRegisterOrder) == unwind::kRegisters);

}  // namespace fieldcost::perf
