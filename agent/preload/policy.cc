#include "agent/preload/policy.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "agent/preload/text.h"
#include "agent/preload/x86_64/machine.h"

namespace fieldcost::preload {
namespace {

const char* Variable(char** environment, const char* name) {
  const size_t bytes = strlen(name);
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    if (strncmp(*environment, name, bytes) == 0 && (*environment)[bytes] == '=') {
      return *environment + bytes + 1;
    }
  }
  return nullptr;
}

shm::MetricSet ParseMetrics(const char* text) {
  if (text == nullptr) return shm::kTimeMetrics;
  shm::MetricSet metrics = 0;
  while (*text != '\0') {
    const size_t bytes = strcspn(text, ",");
    if (bytes == 4 && memcmp(text, "time", 4) == 0) metrics |= shm::kTimeMetrics;
    if (bytes == 5 && memcmp(text, "alloc", 5) == 0) metrics |= shm::kAllocMetrics;
    text += bytes;
    if (*text == ',') ++text;
  }
  return metrics == 0 ? shm::kTimeMetrics : metrics;
}

bool MapPolicy(Request* request) {
  char path[kMaxPath];
  TextBuilder builder(path, sizeof path);
  builder.Add(request->state_dir).Add("/").Add(shm::kPolicyFileName);
  if (!builder.ok()) return false;
  const int64_t fd = SystemCall(SYS_open, reinterpret_cast<uint64_t>(path),
                                O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return false;
  struct stat info;
  bool good =
      fstat(static_cast<int>(fd), &info) == 0 && S_ISREG(info.st_mode) &&
      info.st_size >= static_cast<off_t>(sizeof(shm::PolicyHeader)) &&
      info.st_size <= static_cast<off_t>(sizeof(shm::PolicyHeader) +
                                         shm::kMaxAllowedModules * sizeof(shm::AllowedModule));
  void* mapped = MAP_FAILED;
  if (good) {
    mapped = mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ, MAP_PRIVATE,
                  static_cast<int>(fd), 0);
  }
  SystemCall(SYS_close, static_cast<uint64_t>(fd));
  if (mapped == MAP_FAILED) return false;
  request->policy = static_cast<const shm::PolicyHeader*>(mapped);
  request->allowed = reinterpret_cast<const shm::AllowedModule*>(request->policy + 1);
  request->policy_bytes = static_cast<uint64_t>(info.st_size);
  const shm::PolicyHeader& policy = *request->policy;
  good = memcmp(policy.magic, shm::kPolicyMagic, sizeof policy.magic) == 0 &&
         policy.version == shm::kPolicyVersion && policy.size_bytes == request->policy_bytes &&
         policy.allowed_module_count <= shm::kMaxAllowedModules &&
         sizeof policy + policy.allowed_module_count * sizeof(shm::AllowedModule) ==
             request->policy_bytes &&
         policy.tsc_to_ns_multiplier != 0 && policy.picks_per_run >= 1 &&
         policy.picks_per_run <= shm::kMaxPicks;
  if (!good) ReleasePolicy(*request);
  return good;
}

// The 1-minute load average in percent of the cores we may use; 0 if it cannot be told.
uint64_t LoadPercent() {
  char text[64];
  static const char kPath[] = "/proc/loadavg";
  const int64_t fd = SystemCall(SYS_open, reinterpret_cast<uint64_t>(kPath), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const int64_t got = SystemCall(SYS_read, static_cast<uint64_t>(fd),
                                 reinterpret_cast<uint64_t>(text), sizeof text - 1);
  SystemCall(SYS_close, static_cast<uint64_t>(fd));
  if (got < 4) return 0;
  text[got] = '\0';
  uint64_t hundredths = 0;
  for (const char* c = text; (*c >= '0' && *c <= '9') || *c == '.'; ++c) {
    if (*c != '.') hundredths = hundredths * 10 + static_cast<uint64_t>(*c - '0');
  }
  cpu_set_t cores;
  const int64_t bytes =
      SystemCall(SYS_sched_getaffinity, 0, sizeof cores, reinterpret_cast<uint64_t>(&cores));
  uint64_t count = 0;
  for (int64_t i = 0; i < bytes; ++i) {
    count += static_cast<uint64_t>(__builtin_popcount(reinterpret_cast<uint8_t*>(&cores)[i]));
  }
  return count == 0 ? 0 : hundredths / count;
}

bool TooManyRunFiles(const Request& request) {
  char path[kMaxPath];
  TextBuilder builder(path, sizeof path);
  builder.Add(request.state_dir).Add("/").Add(shm::kRunDirectoryName);
  const int64_t fd =
      SystemCall(SYS_open, reinterpret_cast<uint64_t>(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (!builder.ok() || fd < 0) return true;
  uint32_t count = 0;
  alignas(dirent64) char entries[4096];
  for (;;) {
    const int64_t got = SystemCall(SYS_getdents64, static_cast<uint64_t>(fd),
                                   reinterpret_cast<uint64_t>(entries), sizeof entries);
    if (got <= 0) break;
    for (int64_t at = 0; at < got;) {
      const auto* entry = reinterpret_cast<const dirent64*>(entries + at);
      if (entry->d_type == DT_REG) ++count;
      at += entry->d_reclen;
    }
  }
  SystemCall(SYS_close, static_cast<uint64_t>(fd));
  return count >= request.policy->max_run_files;
}

}  // namespace

bool ReadRequest(char** environment, Request* request) {
  *request = {};
  request->state_dir = Variable(environment, shm::kStateDirVariable);
  if (request->state_dir == nullptr || request->state_dir[0] != '/') return false;
  if (getauxval(AT_SECURE) != 0) return false;
  request->forced_pick = Variable(environment, shm::kPickVariable);
  if (request->forced_pick != nullptr && *request->forced_pick == '\0') {
    request->forced_pick = nullptr;
  }
  request->metrics = ParseMetrics(Variable(environment, shm::kMetricsVariable));
  if (!MapPolicy(request)) return false;
  if (request->policy->collection_enabled == 0 && request->forced_pick == nullptr) {
    ReleasePolicy(*request);
    return false;
  }
  return true;
}

bool IsAllowed(const Request& request, const char* soname) {
  uint32_t low = 0;
  uint32_t high = request.policy->allowed_module_count;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    const int order = strncmp(request.allowed[middle].soname, soname, shm::kMaxSonameBytes);
    if (order == 0) return true;
    if (order < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return false;
}

bool TakesPart(const Request& request, uint64_t random) {
  if (request.forced_pick != nullptr) return true;
  const shm::PolicyHeader& policy = *request.policy;
  if ((random & 0xffff) >= policy.selection_per_65536) return false;
  if (policy.max_load_per_core_percent != 0 && LoadPercent() > policy.max_load_per_core_percent) {
    return false;
  }
  return policy.max_run_files == 0 || !TooManyRunFiles(request);
}

void ReleasePolicy(const Request& request) {
  munmap(const_cast<shm::PolicyHeader*>(request.policy), request.policy_bytes);
}

}  // namespace fieldcost::preload
