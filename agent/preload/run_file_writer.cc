#include "agent/preload/run_file_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "agent/preload/record.h"
#include "agent/preload/text.h"
#include "agent/preload/x86_64/machine.h"
#include "common/shm/run_file.h"

namespace fieldcost::preload {
namespace {

// Above what programs count descriptors from, below the usual soft limit of 1024.
constexpr uint64_t kLowestDescriptor = 900;

// A program limited to less address space than this is left alone.
constexpr uint64_t kLeastSpace = uint64_t{1} << 30;

uint64_t LimitOf(__rlimit_resource resource) {
  rlimit limit = {};
  return getrlimit(resource, &limit) == 0 ? limit.rlim_cur : 0;
}

void CopyText(char* to, size_t capacity, const char* from) {
  size_t i = 0;
  for (; i + 1 < capacity && from[i] != '\0'; ++i) to[i] = from[i];
  to[i] = '\0';
}

// Field 22 of /proc/self/stat; 0 if it cannot be read.
uint64_t ProcessStartTicks() {
  char text[1024];
  static const char kPath[] = "/proc/self/stat";
  const int64_t fd = SystemCall(SYS_open, reinterpret_cast<uint64_t>(kPath), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const int64_t got = SystemCall(SYS_read, static_cast<uint64_t>(fd),
                                 reinterpret_cast<uint64_t>(text), sizeof text - 1);
  SystemCall(SYS_close, static_cast<uint64_t>(fd));
  if (got <= 0) return 0;
  text[got] = '\0';
  // The second field is the program's name in parentheses and may hold anything.
  const char* at = static_cast<const char*>(memrchr(text, ')', static_cast<size_t>(got)));
  if (at == nullptr) return 0;
  for (int field = 2; field < 22; ++field) {
    at = strchr(at + 1, ' ');
    if (at == nullptr) return 0;
  }
  uint64_t ticks = 0;
  for (++at; *at >= '0' && *at <= '9'; ++at) ticks = ticks * 10 + static_cast<uint64_t>(*at - '0');
  return ticks;
}

uint64_t UnixNanoseconds() {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
}

void FillPick(const Candidate& candidate, shm::MetricSet metrics, uint32_t bias_ns,
              shm::Pick* pick) {
  CopyText(pick->soname, sizeof pick->soname, candidate.provider->soname);
  CopyText(pick->symbol, sizeof pick->symbol, candidate.symbol);
  CopyText(pick->symbol_version, sizeof pick->symbol_version, candidate.version);
  CopyText(pick->module_path, sizeof pick->module_path, candidate.provider->path);
  pick->build_id_bytes = candidate.provider->build_id_bytes;
  memcpy(pick->build_id, candidate.provider->build_id, pick->build_id_bytes);
  pick->metrics = metrics;
  pick->bias_ns = bias_ns;
}

bool WriteAt(int64_t fd, const void* bytes, uint64_t size, uint64_t offset) {
  return SystemCall(SYS_pwrite64, static_cast<uint64_t>(fd), reinterpret_cast<uint64_t>(bytes),
                    size, offset) == static_cast<int64_t>(size);
}

// Moves the descriptor up and locks the file for as long as this process lives.
bool KeepLocked(int64_t* fd) {
  const int64_t high =
      SystemCall(SYS_fcntl, static_cast<uint64_t>(*fd), F_DUPFD_CLOEXEC, kLowestDescriptor);
  if (high < 0) return false;  // a low number would shift those of the program
  SystemCall(SYS_close, static_cast<uint64_t>(*fd));
  *fd = high;
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return SystemCall(SYS_fcntl, static_cast<uint64_t>(*fd), F_SETLK,
                    reinterpret_cast<uint64_t>(&lock)) == 0;
}

}  // namespace

bool CreateRunFile(const Request& request, const Picks& picks, shm::MetricSet metrics,
                   uint64_t random, uint32_t bias_ns) {
  for (uint32_t i = 0; i < picks.count; ++i) {
    const Candidate& candidate = picks.candidates[i];
    if (strlen(candidate.symbol) >= sizeof(shm::Pick::symbol) ||
        strlen(candidate.provider->soname) >= sizeof(shm::Pick::soname) ||
        strlen(candidate.version) >= sizeof(shm::Pick::symbol_version)) {
      return false;  // half a name would be another API's
    }
  }
  char path[kMaxPath];
  TextBuilder builder(path, sizeof path);
  builder.Add(request.state_dir).Add("/").Add(shm::kRunDirectoryName).Add("/");
  builder.AddHex(random).AddHex(ReadTimeStamp()).Add(shm::kRunFileSuffix);
  if (!builder.ok()) return false;

  const auto metric_count = static_cast<uint32_t>(__builtin_popcount(metrics));
  const uint64_t pick_bytes = metric_count * sizeof(shm::Cell);
  const uint64_t slot_bytes = pick_bytes * picks.count;
  const uint64_t cells_offset = shm::CellsOffset(picks.count);
  const uint64_t size = (cells_offset + slot_bytes * shm::kThreadSlots + 4095) & ~uint64_t{4095};

  // Growing a file past the limit would send SIGXFSZ; and what is mapped here a program with little
  // room could miss.
  if (LimitOf(RLIMIT_FSIZE) < size) return false;
  if (LimitOf(RLIMIT_AS) < size + kLeastSpace || LimitOf(RLIMIT_DATA) < kLeastSpace) return false;

  // Put together here and written with one call: measured, the first write through a mapping of a
  // new page costs the host hundreds of microseconds in the file system, this a few.
  static struct {
    shm::RunHeader header;
    shm::Pick picks[shm::kMaxPicks];
  } image;
  shm::RunHeader* const header = &image.header;
  memcpy(header->magic, shm::kRunMagic, sizeof header->magic);
  header->version = shm::kRunVersion;
  header->header_bytes = sizeof(shm::RunHeader);
  header->size_bytes = size;
  if (request.forced_pick != nullptr) header->flags = shm::kRunForced;
  header->policy_serial = request.policy->policy_serial;
  header->pid = process.pid;
  header->pick_count = picks.count;
  header->process_start_ticks = ProcessStartTicks();
  header->start_unix_ns = UnixNanoseconds();
  header->tsc_to_ns_multiplier = process.ticks_to_ns;
  header->start_tsc = ReadTimeStamp();
  header->metrics_per_pick = metric_count;
  header->thread_slots = shm::kThreadSlots;
  header->cells_offset = cells_offset;
  header->candidate_count = picks.candidate_count;
  header->random_draw = random;
  header->attached = 1;
  for (uint32_t i = 0; i < picks.count; ++i) {
    FillPick(picks.candidates[i], metrics, bias_ns, &image.picks[i]);
  }
  const uint64_t image_bytes = sizeof image.header + picks.count * sizeof(shm::Pick);
  const uint32_t complete = 1;  // once everything else is there

  const auto path_address = reinterpret_cast<uint64_t>(path);
  int64_t fd =
      SystemCall(SYS_open, path_address, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  void* mapped = MAP_FAILED;
  // Cells get their space when they are used.
  if (KeepLocked(&fd) && SystemCall(SYS_ftruncate, static_cast<uint64_t>(fd), size) == 0 &&
      WriteAt(fd, &image, image_bytes, 0) &&
      WriteAt(fd, &complete, sizeof complete, offsetof(shm::RunHeader, complete))) {
    mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                  static_cast<int>(fd), 0);
  }
  if (mapped == MAP_FAILED) {
    SystemCall(SYS_unlink, path_address);
    SystemCall(SYS_close, static_cast<uint64_t>(fd));
    return false;
  }
  madvise(mapped, size, MADV_DONTFORK);

  process.header = static_cast<shm::RunHeader*>(mapped);
  process.cells = reinterpret_cast<uint64_t>(mapped) + cells_offset;
  process.slot_bytes = slot_bytes;
  process.pick_bytes = pick_bytes;
  return true;
}

}  // namespace fieldcost::preload
