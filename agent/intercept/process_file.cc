#include "agent/intercept/process_file.h"

#include <sys/resource.h>
#include <sys/syscall.h>

#include "agent/intercept/plan_directory.h"
#include "agent/intercept/text_builder.h"
#include "agent/intercept/x86_64/machine.h"

namespace fieldcost::intercept {
namespace {

bool Allows(int resource, uint64_t size) {
  rlimit limit = {};
  return SystemCall(SYS_getrlimit, static_cast<uint64_t>(resource),
                    reinterpret_cast<uint64_t>(&limit)) == 0 &&
         limit.rlim_cur / 2 >= size;
}

// Growing a file beyond the limit would raise SIGXFSZ.
bool IsRoomFor(uint64_t size) { return Allows(RLIMIT_FSIZE, size) && Allows(RLIMIT_AS, size); }

}  // namespace

void* MakeProcessFile(uint32_t pid, const char* suffix, const Beginning& beginning, uint64_t size) {
  if (!IsRoomFor(size)) return nullptr;
  const int64_t directory = OpenPlanDirectory();
  if (directory < 0) return nullptr;
  char name[64];
  TextBuilder(name, sizeof name).AddHex(pid).AddHex(ReadTimeStamp()).Add(suffix);
  void* const mapped =
      CannotFault(directory) ? MakeMappedFile(directory, name, beginning, size) : nullptr;
  SystemCall(SYS_close, static_cast<uint64_t>(directory));
  return mapped;
}

}  // namespace fieldcost::intercept
