#pragma once

#include <elf.h>
#include <linux/audit.h>
#include <sys/syscall.h>

#include <cstdint>

// ELF files and system calls of this machine.

namespace fieldcost::symbols {

// The relocation of a word that holds an address in its own module.
inline constexpr std::uint32_t kRelativeWord = R_X86_64_RELATIVE;

// The machine's ABI in seccomp filters, and the first number of calls of another one (x32).
inline constexpr std::uint32_t kAuditArchitecture = AUDIT_ARCH_X86_64;
inline constexpr std::uint32_t kFirstCallOfOtherAbi = 0x40000000;

// Calls that newer architectures have only in another form.
inline constexpr std::uint32_t kOlderCallsThatAffectOthers[] = {
    SYS_fork,  SYS_vfork, SYS_unlink,  SYS_rename, SYS_creat,
    SYS_mkdir, SYS_link,  SYS_symlink, SYS_chmod,  SYS_chown,
};

}  // namespace fieldcost::symbols
