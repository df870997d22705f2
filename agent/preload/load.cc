#include "agent/preload/load.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "agent/intercept/x86_64/machine.h"
#include "agent/preload/memory_directory.h"
#include "common/shm/run_file.h"

namespace fieldcost::preload {
namespace {

using intercept::SystemCall;

using intercept::kPageBytes;
constexpr size_t kPrefixBytes = sizeof shm::kAskedRunPrefix - 1;
void* lease;  // the mapping that holds the lease

// Reads the beginning of a small kernel file; returns false if it is missing.
bool ReadText(const char* path, char* text, size_t capacity) {
  const int64_t fd = intercept::OpenFile(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const int64_t got = SystemCall(SYS_read, static_cast<uint64_t>(fd),
                                 reinterpret_cast<uint64_t>(text), capacity - 1);
  SystemCall(SYS_close, static_cast<uint64_t>(fd));
  text[got > 0 ? got : 0] = '\0';
  return got > 0;
}

// Parses a number with two decimals; returns hundredths.
uint64_t ParseHundredths(const char* text) {
  uint64_t hundredths = 0;
  for (; (*text >= '0' && *text <= '9') || *text == '.'; ++text) {
    if (*text != '.') hundredths = hundredths * 10 + static_cast<uint64_t>(*text - '0');
  }
  return hundredths;
}

// Returns the 1-minute load average in percent of the usable cores; 0 if unknown.
uint64_t LoadPercent() {
  char text[64];
  if (!ReadText("/proc/loadavg", text, sizeof text)) return 0;
  cpu_set_t cores;
  const int64_t bytes =
      SystemCall(SYS_sched_getaffinity, 0, sizeof cores, reinterpret_cast<uint64_t>(&cores));
  uint64_t count = 0;
  for (int64_t i = 0; i < bytes; ++i) {
    count += static_cast<uint64_t>(__builtin_popcount(reinterpret_cast<uint8_t*>(&cores)[i]));
  }
  return count == 0 ? 0 : ParseHundredths(text) / count;
}

// Returns the number of entries, of all kinds, of a directory on tmpfs: its size is 20 bytes per
// entry, including "." and "..". (Reading 60 entries would take 15 us.) Returns 0 if the size is
// meaningless, as on ramfs.
uint64_t EntriesOf(int64_t fd) {
  constexpr uint64_t kBytesPerEntry = 20;
  struct stat found;
  if (fstat(static_cast<int>(fd), &found) != 0) return 0;
  const auto bytes = static_cast<uint64_t>(found.st_size);
  return bytes % kBytesPerEntry == 0 ? bytes / kBytesPerEntry : 0;
}

// Returns the part of the last 10 s in which some task waited for a CPU, in hundredths of a
// percent; 0 if the kernel does not report it.
uint64_t CpuPressure() {
  char text[128];
  if (!ReadText("/proc/pressure/cpu", text, sizeof text)) return 0;
  const char* const average = intercept::AfterText(text, "avg10=");  // of the first line, "some"
  return average == nullptr ? 0 : ParseHundredths(average);
}

}  // namespace

MachineLoad ReadMachineLoad() {
  return {.load_percent = LoadPercent(), .pressure_hundredths = CpuPressure()};
}

bool AreTooManyRunFiles(const RunRequest& request) {
  const bool asked = request.is_only_asked();
  if (!asked && request.policy.max_run_files == 0) return false;
  const int64_t fd = OpenInMemory(request, shm::kRunDirectoryName, O_RDONLY | O_DIRECTORY);
  if (fd < 0) return false;  // creating the run file will report the reason
  const uint32_t most = asked ? shm::kMaxAskedRunFiles : request.policy.max_run_files;
  if (const uint64_t entries = EntriesOf(fd); entries != 0 && entries < most) {
    SystemCall(SYS_close, static_cast<uint64_t>(fd));
    return false;
  }
  uint32_t count = 0;
  alignas(dirent64) char entries[4096];
  for (;;) {
    const int64_t got = SystemCall(SYS_getdents64, static_cast<uint64_t>(fd),
                                   reinterpret_cast<uint64_t>(entries), sizeof entries);
    if (got <= 0) break;
    for (int64_t at = 0; at < got;) {
      const auto* entry = reinterpret_cast<const dirent64*>(entries + at);
      const bool is_asked = strncmp(entry->d_name, shm::kAskedRunPrefix, kPrefixBytes) == 0;
      if (entry->d_type == DT_REG && is_asked == asked) ++count;
      at += entry->d_reclen;
    }
  }
  SystemCall(SYS_close, static_cast<uint64_t>(fd));
  return count >= most;
}

bool TakeLease(const RunRequest& request) {
  if (request.policy.max_leases == 0) return true;
  const int64_t fd = OpenInMemory(request, shm::kLeaseFileName, O_RDWR | O_CREAT | O_NONBLOCK);
  if (fd < 0) return false;
  void* mapped = MAP_FAILED;
  for (uint32_t i = 0; i < request.policy.max_leases; ++i) {
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = i;
    lock.l_len = 1;
    if (SystemCall(SYS_fcntl, static_cast<uint64_t>(fd), F_OFD_SETLK,
                   reinterpret_cast<uint64_t>(&lock)) != 0) {
      continue;
    }
    // Never accessed; the mapping only keeps the open file, and with it the lock, after the
    // descriptor is closed.
    mapped = mmap(nullptr, kPageBytes, PROT_NONE, MAP_SHARED, static_cast<int>(fd), 0);
    break;
  }
  if (mapped != MAP_FAILED && madvise(mapped, kPageBytes, MADV_DONTFORK) != 0) {
    munmap(mapped, kPageBytes);
    mapped = MAP_FAILED;
  }
  SystemCall(SYS_close, static_cast<uint64_t>(fd));
  if (mapped == MAP_FAILED) return false;
  lease = mapped;
  return true;
}

void GiveBackLease() {
  if (lease == nullptr) return;
  munmap(lease, kPageBytes);
  lease = nullptr;
}

}  // namespace fieldcost::preload
