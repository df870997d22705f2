#pragma once

#include <elf.h>

#include <cstdint>

// ELF files of this machine, into which the preload library can be loaded.

namespace fieldcost::reach {

inline constexpr unsigned kElfMachine = EM_X86_64;

// Relocations of slots: for calls, and for function pointers and -fno-plt calls; and of words of
// data that hold an address.
inline constexpr std::uint32_t kCallSlot = R_X86_64_JUMP_SLOT;
inline constexpr std::uint32_t kDataSlot = R_X86_64_GLOB_DAT;
inline constexpr std::uint32_t kAddressWord = R_X86_64_64;

}  // namespace fieldcost::reach
