// The library's only entry: a constructor that returns at once unless this process was asked to
// take part and is drawn. After any failure the library is inert.
#include <sys/random.h>
#include <sys/syscall.h>

#include "agent/intercept/elf_object.h"
#include "agent/intercept/x86_64/machine.h"
#include "agent/preload/measuring_run.h"
#include "agent/preload/preload_policy.h"

namespace fieldcost::preload {
namespace {

__attribute__((constructor)) void Start(int, char**, char** environment) {
  static RunRequest request;
  if (!intercept::IsKnownLibc() || !ReadRequest(environment, &request)) return;
  uint64_t random = request.policy.draw_seed;
  const bool has_random =
      random != 0 || intercept::SystemCall(SYS_getrandom, reinterpret_cast<uint64_t>(&random),
                                           sizeof random, GRND_NONBLOCK) == sizeof random;
  request.is_chosen = (random & 0xffff) < request.policy.selection_per_65536;
  const bool takes_part = request.is_forced() || request.is_asked || request.is_chosen;
  if (!has_random) return;
  const shm::Skip skip = takes_part ? BeginRun(&request, random) : shm::Skip::kNotDrawn;
  if (skip != kNoSkip) CountSkip(request, skip);
}

}  // namespace
}  // namespace fieldcost::preload
