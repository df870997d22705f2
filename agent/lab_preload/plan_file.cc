#include "agent/lab_preload/plan_file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "agent/intercept/mapped_memory.h"
#include "agent/intercept/text.h"
#include "agent/intercept/x86_64/machine.h"

namespace fieldcost::lab_preload {
namespace {

using intercept::SystemCall;

char directory[intercept::kMaxPath];
char program[intercept::kMaxPath];
const shm::LabPlanHeader* plan;
const char* globs;

const char* Variable(char** environment, const char* name) {
  const size_t bytes = strlen(name);
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    if (strncmp(*environment, name, bytes) == 0 && (*environment)[bytes] == '=') {
      return *environment + bytes + 1;
    }
  }
  return "";
}

bool IsUsable(const shm::LabPlanHeader& header, uint64_t size) {
  return size >= sizeof header && size <= shm::kMaxLabPlanBytes &&
         memcmp(header.magic, shm::kLabPlanMagic, sizeof header.magic) == 0 &&
         header.version == shm::kLabVersion && header.size_bytes == size &&
         (header.mode == shm::kLabMap || header.mode == shm::kLabTime) &&
         header.entry_count <= shm::kLabApis && header.glob_bytes >= 1 &&
         size ==
             sizeof header + header.entry_count * sizeof(shm::LabPlanEntry) + header.glob_bytes &&
         header.tsc_to_ns_multiplier != 0 &&
         reinterpret_cast<const char*>(&header)[size - 1] == '\0';
}

// Maps the plan, which nobody changes.
bool MapPlan(int64_t fd) {
  struct stat found;
  if (fstat(static_cast<int>(fd), &found) != 0 ||
      static_cast<uint64_t>(found.st_size) < sizeof(shm::LabPlanHeader)) {
    return false;
  }
  const auto size = static_cast<uint64_t>(found.st_size);
  void* const mapped = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, static_cast<int>(fd), 0);
  if (mapped == MAP_FAILED) return false;
  plan = static_cast<const shm::LabPlanHeader*>(mapped);
  if (IsUsable(*plan, size)) {
    globs = static_cast<const char*>(mapped) + size - plan->glob_bytes;
    return true;
  }
  munmap(mapped, size);
  return false;
}

bool MatchesAny(const char* list, const char* name, size_t bytes) {
  while (*list != '\0') {
    const size_t part = intercept::PartBytes(list);
    if (intercept::GlobMatches(list, part, name, bytes)) return true;
    list += part;
    if (*list == ',') ++list;
  }
  return false;
}

}  // namespace

bool ReadPlan(char** environment) {
  const char* const named = Variable(environment, shm::kLabDirectoryVariable);
  if (*named != '/' || getauxval(AT_SECURE) != 0) return false;
  if (!intercept::TextBuilder(directory, sizeof directory).Add(named).ok()) return false;
  static char path[intercept::kMaxPath];
  if (!intercept::TextBuilder(path, sizeof path).Add(named).Add("/").Add(shm::kLabPlanName).ok()) {
    return false;
  }
  const int64_t fd = SystemCall(SYS_open, reinterpret_cast<uint64_t>(path),
                                O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return false;
  const bool is_mapped = intercept::CannotFault(fd) && MapPlan(fd);
  SystemCall(SYS_close, static_cast<uint64_t>(fd));
  static const char kSelf[] = "/proc/self/exe";
  const int64_t bytes = SystemCall(SYS_readlink, reinterpret_cast<uint64_t>(kSelf),
                                   reinterpret_cast<uint64_t>(program), sizeof program - 1);
  program[bytes > 0 ? bytes : 0] = '\0';
  return is_mapped;
}

const shm::LabPlanHeader& Plan() { return *plan; }

int64_t OpenLabDirectory() {
  return SystemCall(SYS_open, reinterpret_cast<uint64_t>(directory),
                    O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

bool IsWanted(const char* module, const char* symbol) {
  if (globs[0] == '\0') return true;
  char name[512];
  intercept::TextBuilder builder(name, sizeof name);
  builder.Add(module).Add("!").Add(symbol);
  return builder.ok() && MatchesAny(globs, name, strlen(name));
}

PlannedApi PlanOf(uint64_t api_hash) {
  // A map is made of everything.
  if (plan->mode == shm::kLabMap) return {shm::kLabTimed, shm::kNoArgument};
  const auto* const entries = reinterpret_cast<const shm::LabPlanEntry*>(plan + 1);
  uint32_t low = 0;
  uint32_t high = plan->entry_count;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (entries[middle].api_hash == api_hash) {
      return {entries[middle].role, entries[middle].argument};
    }
    if (entries[middle].api_hash < api_hash) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return {shm::kLabNew, shm::kNoArgument};
}

const char* ProgramName() { return intercept::FileNameOf(program); }

}  // namespace fieldcost::lab_preload
