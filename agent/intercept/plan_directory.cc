#include "agent/intercept/plan_directory.h"

#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "agent/intercept/mapped_memory.h"
#include "agent/intercept/text_builder.h"
#include "agent/intercept/x86_64/machine.h"

namespace fieldcost::intercept {
namespace {

char directory[kMaxPath];
char program[kMaxPath];

// Returns false for a plan that another user could have written: the variable may come from another
// user if a program runs with other rights than the process that set it (sudo with env_keep, su
// -m).
bool IsOurs(const struct stat& found) {
  return S_ISREG(found.st_mode) && (found.st_mode & 077) == 0 &&
         found.st_uid == static_cast<uint32_t>(SystemCall(SYS_geteuid));
}

const void* MapFile(int64_t fd, uint64_t* size) {
  struct stat found;
  if (fstat(static_cast<int>(fd), &found) != 0 || !IsOurs(found) || found.st_size <= 0) {
    return nullptr;
  }
  *size = static_cast<uint64_t>(found.st_size);
  void* const mapped = mmap(nullptr, *size, PROT_READ, MAP_PRIVATE, static_cast<int>(fd), 0);
  return mapped == MAP_FAILED ? nullptr : mapped;
}

void ReadProgramPath() {
  const int64_t bytes = ReadLink("/proc/self/exe", program, sizeof program - 1);
  program[bytes > 0 ? bytes : 0] = '\0';
}

}  // namespace

const void* MapPlan(char** environment, const char* variable, const char* plan_name,
                    uint64_t* size) {
  const char* const named = EnvironmentValue(environment, variable);
  if (*named != '/' || getauxval(AT_SECURE) != 0) return nullptr;
  if (!TextBuilder(directory, sizeof directory).Add(named).ok()) return nullptr;
  static char path[kMaxPath];
  if (!TextBuilder(path, sizeof path).Add(named).Add("/").Add(plan_name).ok()) return nullptr;
  const int64_t fd = OpenFile(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return nullptr;
  const void* const plan = CannotFault(fd) ? MapFile(fd, size) : nullptr;
  SystemCall(SYS_close, static_cast<uint64_t>(fd));
  ReadProgramPath();
  return plan;
}

void UnmapPlan(const void* plan, uint64_t size) { munmap(const_cast<void*>(plan), size); }

int64_t OpenPlanDirectory() {
  return OpenFile(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

const char* ProgramPath() { return program; }
const char* ProgramName() { return FileNameOf(program); }

}  // namespace fieldcost::intercept
