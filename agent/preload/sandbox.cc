#include "agent/preload/sandbox.h"

#include <sys/prctl.h>
#include <sys/syscall.h>

#include "agent/preload/measuring.h"

namespace fieldcost::preload {
namespace {

uint64_t real_prctl;
uint64_t real_syscall;

void Detach() {
  __atomic_store_n(const_cast<uint32_t*>(process.attached), 0, __ATOMIC_SEQ_CST);
  process.header->attached = 0;
}

// A child of fork() has no header any more.
void DetachIf(bool entering) {
  if (entering && IsAttached()) Detach();
}

// Both are variadic; what the caller did not pass is passed on as it is.
int64_t Prctl(int option, uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
  DetachIf(option == PR_SET_SECCOMP || option == PR_SET_TSC);
  using Function = int64_t(int, uint64_t, uint64_t, uint64_t, uint64_t);
  return reinterpret_cast<Function*>(real_prctl)(option, a, b, c, d);
}

int64_t Syscall(int64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                uint64_t f) {
  DetachIf(number == SYS_seccomp ||
           (number == SYS_prctl && (a == PR_SET_SECCOMP || a == PR_SET_TSC)));
  using Function = int64_t(int64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
  return reinterpret_cast<Function*>(real_syscall)(number, a, b, c, d, e, f);
}

}  // namespace

const AllocFunction kSandboxFunctions[kSandboxFunctionCount] = {
    {"prctl", reinterpret_cast<uint64_t>(&Prctl), &real_prctl},
    {"syscall", reinterpret_cast<uint64_t>(&Syscall), &real_syscall},
};

}  // namespace fieldcost::preload
