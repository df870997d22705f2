#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

// Facts about the machine that unwinding needs. machine_return_path.cc decodes its instructions.

namespace fieldcost::unwind {

inline constexpr unsigned kElfMachine = EM_X86_64;
inline constexpr std::string_view kMachineName = "x86-64";
inline constexpr std::size_t kPageBytes = 4096;

// Registers by their DWARF numbers (System V ABI for AMD64, figure 3.36).
inline constexpr std::size_t kRax = 0;
inline constexpr std::size_t kRdx = 1;
inline constexpr std::size_t kRcx = 2;
inline constexpr std::size_t kRbx = 3;
inline constexpr std::size_t kRsi = 4;
inline constexpr std::size_t kRdi = 5;
inline constexpr std::size_t kRbp = 6;
inline constexpr std::size_t kRsp = 7;
inline constexpr std::size_t kR8 = 8;
inline constexpr std::size_t kR12 = 12;
inline constexpr std::size_t kR15 = 15;
inline constexpr std::size_t kRip = 16;
inline constexpr std::size_t kRegisters = 17;
inline constexpr std::size_t kInstructionPointer = kRip;
inline constexpr std::size_t kStackPointer = kRsp;
inline constexpr std::size_t kFramePointer = kRbp;

// Bits of the registers that calls preserve, and of the frame's location: rbx, rbp, rsp, r12 to
// r15.
inline constexpr std::uint32_t kPreservedByCalls =
    1U << kRbx | 1U << kRbp | 1U << kRsp | 0xfU << 12;

// The code that a signal handler returns to in C libraries that do not describe it (musl):
// mov $15, %rax; syscall.
inline constexpr std::string_view kSignalReturn("\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05", 9);

// Where the kernel saves the registers r8 to r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip: in
// struct ucontext, at the stack pointer.
inline constexpr std::int32_t kFirstRegisterInContext = 40;
inline constexpr std::uint8_t kRegistersInContext[] = {
    8, 9, 10, 11, 12, 13, 14, 15, kRdi, kRsi, kRbp, kRbx, kRdx, kRax, kRcx, kRsp, kRip};

}  // namespace fieldcost::unwind
