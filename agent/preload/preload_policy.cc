#include "agent/preload/preload_policy.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "agent/intercept/cycle_clock.h"
#include "agent/intercept/mapped_memory.h"
#include "agent/intercept/x86_64/machine.h"
#include "agent/preload/memory_directory.h"

namespace fieldcost::preload {
namespace {

using intercept::EnvironmentValue;
using intercept::SystemCall;

bool CopyVariable(char** environment, const char* name, char* to, size_t capacity) {
  intercept::TextBuilder builder(to, capacity);
  return builder.Add(EnvironmentValue(environment, name)).ok();
}

// Returns 0 unless the text is a number of at most 19 digits.
uint64_t ParseNumber(const char* text) {
  uint64_t number = 0;
  uint32_t digits = 0;
  for (; *text >= '0' && *text <= '9'; ++text, ++digits) {
    number = number * 10 + static_cast<uint64_t>(*text - '0');
  }
  return *text != '\0' || digits > 19 ? 0 : number;
}

shm::MetricSet ParseMetrics(const char* text) {
  static constexpr struct {
    const char* name;
    shm::MetricSet metrics;
  } kNames[] = {{"time", shm::kTimeMetrics},
                {"alloc", shm::kAllocMetrics},
                {"io", shm::kIoMetrics},
                {"cycles", shm::kCycleMetrics}};
  shm::MetricSet metrics = 0;
  while (*text != '\0') {
    const size_t bytes = intercept::PartBytes(text);
    for (const auto& known : kNames) {
      if (bytes == strlen(known.name) && memcmp(text, known.name, bytes) == 0) {
        metrics |= known.metrics;
      }
    }
    text += bytes;
    if (*text == ',') ++text;
  }
  return metrics == 0 ? shm::kTimeMetrics : metrics;
}

// Returns whether the memory directory is a path that contains a root, or absent.
bool IsMemoryUsable(const shm::PolicyHeader& policy) {
  const uint32_t root = policy.memory_root_bytes;
  if (root == 0) return true;
  constexpr uint32_t kLast = shm::kMaxMemoryDirBytes - 1;
  return root <= kLast && policy.memory_dir[0] == '/' && policy.memory_dir[kLast] == '\0' &&
         strlen(policy.memory_dir) >= root &&
         (policy.memory_dir[root] == '\0' || policy.memory_dir[root] == '/');
}

// Returns whether the policy has a known version, so that its memory directory is known.
bool IsKnown(const shm::PolicyHeader& policy) {
  return memcmp(policy.magic, shm::kPolicyMagic, sizeof policy.magic) == 0 &&
         policy.version == shm::kPolicyVersion && IsMemoryUsable(policy);
}

bool IsUsable(const shm::PolicyHeader& policy) {
  return IsKnown(policy) && policy.allowed_module_count <= shm::kMaxAllowedModules &&
         policy.weight_count <= shm::kMaxWeights &&
         shm::IsDocumentedSize(policy.documented_bytes) &&
         policy.size_bytes ==
             sizeof policy + policy.allowed_module_count * sizeof(shm::AllowedModule) +
                 policy.weight_count * sizeof(shm::WeightEntry) + policy.documented_bytes &&
         policy.tsc_to_ns_multiplier != 0 && policy.picks_per_run >= 1 &&
         policy.picks_per_run <= shm::kMaxPicks && policy.max_phases >= 1 &&
         policy.max_leases <= shm::kMaxLeases && policy.sampling_log2 <= shm::kMaxSamplingLog2 &&
         policy.default_weight >= 1 && policy.default_weight <= shm::kFullWeight;
}

int64_t OpenPolicy(const RunRequest& request) {
  static char path[intercept::kMaxPath];  // the host's stack may be small; see measuring_run.h
  intercept::TextBuilder builder(path, sizeof path);
  if (!builder.Add(request.state_dir).Add("/").Add(shm::kPolicyFileName).ok()) return -1;
  return intercept::OpenFile(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

bool ReadAt(int64_t fd, uint64_t offset, void* to, uint64_t bytes) {
  return SystemCall(SYS_pread64, static_cast<uint64_t>(fd), reinterpret_cast<uint64_t>(to), bytes,
                    offset) == static_cast<int64_t>(bytes);
}

uint64_t ModuleBytes(const shm::PolicyHeader& policy) {
  return policy.allowed_module_count * sizeof(shm::AllowedModule);
}

// Opens the policy file again. Returns -1 if it no longer begins with the request's header.
int64_t OpenSamePolicy(const RunRequest& request) {
  static shm::PolicyHeader now;  // the host's stack may be small; see measuring_run.h
  const int64_t fd = OpenPolicy(request);
  if (fd < 0) return fd;
  if (ReadAt(fd, 0, &now, sizeof now) && memcmp(&now, &request.policy, sizeof now) == 0) return fd;
  SystemCall(SYS_close, static_cast<uint64_t>(fd));
  return -1;
}

// Returns the weight of `api_hash` in the policy file that begins with this header; the default if
// it has none.
uint32_t FindWeight(int64_t fd, const shm::PolicyHeader& policy, uint64_t api_hash) {
  const uint64_t table = sizeof policy + ModuleBytes(policy);
  uint32_t low = 0;
  uint32_t high = policy.weight_count;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    shm::WeightEntry entry;
    if (!ReadAt(fd, table + middle * sizeof entry, &entry, sizeof entry)) break;
    if (entry.api_hash == api_hash) return entry.weight;
    if (entry.api_hash < api_hash) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return policy.default_weight;
}

}  // namespace

uint32_t RunRequest::wanted_picks() const {
  constexpr uint32_t kAskedPicks = 32;
  const bool more = is_only_asked() && policy.picks_per_run < kAskedPicks;
  return more ? kAskedPicks : policy.picks_per_run;
}

bool ReadRequest(char** environment, RunRequest* request) {
  if (!CopyVariable(environment, shm::kStateDirVariable, request->state_dir,
                    sizeof request->state_dir) ||
      request->state_dir[0] != '/') {
    return false;
  }
  if (getauxval(AT_SECURE) != 0) return false;
  const bool pick_fits = CopyVariable(environment, shm::kPickVariable, request->forced_pick,
                                      sizeof request->forced_pick);
  request->request_id = ParseNumber(EnvironmentValue(environment, shm::kAskedVariable));
  request->is_asked = request->request_id != 0;
  request->metrics = ParseMetrics(EnvironmentValue(environment, shm::kMetricsVariable));
  const int64_t fd = OpenPolicy(*request);
  if (fd < 0) return false;
  const bool is_whole = ReadAt(fd, 0, &request->policy, sizeof request->policy);
  SystemCall(SYS_close, static_cast<uint64_t>(fd));
  if (!is_whole || !IsKnown(request->policy) || request->policy.memory_root_bytes == 0) {
    return false;
  }
  if (!IsUsable(request->policy)) {
    CountSkip(*request, shm::Skip::kPolicyUnusable);
    return false;
  }
  if (!pick_fits) {  // a truncated list would be a different one
    CountSkip(*request, shm::Skip::kPickTooLong);
    return false;
  }
  return IsCollecting(request->policy) || request->is_forced();
}

bool IsCollecting(const shm::PolicyHeader& policy) {
  if (policy.collection_enabled != 0 || policy.resume_unix_second == 0) {
    return policy.collection_enabled != 0;
  }
  return intercept::UnixNanoseconds() / 1'000'000'000 >= policy.resume_unix_second;
}

bool LoadPolicy(RunRequest* request) {
  const int64_t fd = OpenPolicy(*request);
  if (fd < 0) return false;
  static shm::PolicyHeader policy;  // the host's stack may be small; see measuring_run.h
  void* mapped = MAP_FAILED;
  uint64_t bytes = 0;
  if (ReadAt(fd, 0, &policy, sizeof policy) && IsUsable(policy)) {
    bytes = ModuleBytes(policy);
    mapped = mmap(nullptr, bytes + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  if (mapped != MAP_FAILED && !ReadAt(fd, sizeof policy, mapped, bytes)) {
    munmap(mapped, bytes + 1);
    mapped = MAP_FAILED;
  }
  SystemCall(SYS_close, static_cast<uint64_t>(fd));
  if (mapped == MAP_FAILED) return false;
  ReleasePolicy(request);
  request->policy = policy;
  request->allowed = static_cast<const shm::AllowedModule*>(mapped);
  return true;
}

void ReleasePolicy(RunRequest* request) {
  if (request->allowed == nullptr) return;
  munmap(const_cast<shm::AllowedModule*>(request->allowed), ModuleBytes(request->policy) + 1);
  request->allowed = nullptr;
}

bool IsAllowed(const RunRequest& request, const char* soname) {
  uint32_t low = 0;
  uint32_t high = request.policy.allowed_module_count;
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

uint32_t PolicyWeight(const RunRequest& request, uint64_t api_hash) {
  if (request.policy.weight_count == 0) return request.policy.default_weight;
  const int64_t fd = OpenSamePolicy(request);
  if (fd < 0) return request.policy.default_weight;
  const uint32_t weight = FindWeight(fd, request.policy, api_hash);
  SystemCall(SYS_close, static_cast<uint64_t>(fd));
  return weight;
}

Documented IsDocumented(const RunRequest& request, const char* symbol) {
  const shm::PolicyHeader& policy = request.policy;
  if (policy.documented_bytes == 0) return Documented::kUnknown;
  const int64_t fd = OpenSamePolicy(request);
  if (fd < 0) return Documented::kUnknown;
  const uint64_t bits =
      sizeof policy + ModuleBytes(policy) + policy.weight_count * sizeof(shm::WeightEntry);
  const uint64_t bit = shm::DocumentedBit(shm::DocumentedNumber(symbol), policy.documented_bytes);
  uint8_t byte = 0;
  const bool is_read = ReadAt(fd, bits + bit / 8, &byte, sizeof byte);
  SystemCall(SYS_close, static_cast<uint64_t>(fd));
  if (!is_read) return Documented::kUnknown;
  return (byte >> (bit % 8) & 1) != 0 ? Documented::kYes : Documented::kNo;
}

void CountSkip(const RunRequest& request, shm::Skip reason) {
  const int64_t fd = OpenInMemory(request, shm::kSkipFileName, O_RDWR | O_NONBLOCK);
  if (fd < 0) return;
  struct stat info;
  void* mapped = MAP_FAILED;
  if (fstat(static_cast<int>(fd), &info) == 0 && S_ISREG(info.st_mode) &&
      info.st_size == static_cast<off_t>(sizeof(shm::SkipFile))) {
    mapped = mmap(nullptr, sizeof(shm::SkipFile), PROT_READ | PROT_WRITE, MAP_SHARED,
                  static_cast<int>(fd), 0);
  }
  SystemCall(SYS_close, static_cast<uint64_t>(fd));
  if (mapped == MAP_FAILED) return;
  auto* const file = static_cast<shm::SkipFile*>(mapped);
  // Its creator may have left holes in it.
  if (intercept::Populate(reinterpret_cast<uint64_t>(file), sizeof *file) &&
      memcmp(file->magic, shm::kSkipMagic, sizeof file->magic) == 0) {
    __atomic_fetch_add(&file->counts[static_cast<uint32_t>(reason)], 1, __ATOMIC_RELAXED);
  }
  munmap(mapped, sizeof(shm::SkipFile));
}

}  // namespace fieldcost::preload
