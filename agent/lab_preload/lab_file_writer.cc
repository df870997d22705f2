#include "agent/lab_preload/lab_file_writer.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "agent/intercept/mapped_memory.h"
#include "agent/intercept/text.h"
#include "agent/intercept/x86_64/machine.h"
#include "agent/lab_preload/plan_file.h"
#include "agent/lab_preload/process.h"

namespace fieldcost::lab_preload {
namespace {

using intercept::SystemCall;

constexpr uint64_t kPicosecondsPerNanosecond = 1000;

uint64_t UnixNanoseconds() {
  timespec now = {};
  SystemCall(SYS_clock_gettime, CLOCK_REALTIME, reinterpret_cast<uint64_t>(&now));
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
}

bool Allows(int resource, uint64_t size) {
  rlimit limit = {};
  return SystemCall(SYS_getrlimit, static_cast<uint64_t>(resource),
                    reinterpret_cast<uint64_t>(&limit)) == 0 &&
         limit.rlim_cur / 2 >= size;
}

// Growing a file past the limit would send SIGXFSZ.
bool IsRoomFor(uint64_t size) { return Allows(RLIMIT_FSIZE, size) && Allows(RLIMIT_AS, size); }

void FillHeader(shm::LabHeader* header) {
  memcpy(header->magic, shm::kLabMagic, sizeof header->magic);
  header->version = shm::kLabVersion;
  header->mode = process.mode;
  header->size_bytes = shm::LabFileBytes(process.mode);
  header->pid = process.pid;
  header->parent_pid = static_cast<uint32_t>(SystemCall(SYS_getppid));
  header->attached = 1;
  header->start_unix_ns = UnixNanoseconds();
  header->tsc_to_ns_multiplier = process.ticks_to_ns;
  header->bias_ps = static_cast<uint32_t>(
      (process.bias_ticks * kPicosecondsPerNanosecond * process.ticks_to_ns) >> 32);
  intercept::TextBuilder(header->program, sizeof header->program).Add(ProgramName());
}

}  // namespace

bool CreateLabFile() {
  const uint64_t size = shm::LabFileBytes(process.mode);
  if (!IsRoomFor(size)) return false;
  const int64_t directory = OpenLabDirectory();
  if (directory < 0) return false;
  static shm::LabHeader page;
  FillHeader(&page);
  char name[64];
  intercept::TextBuilder(name, sizeof name)
      .AddHex(process.pid)
      .AddHex(intercept::ReadTimeStamp())
      .Add(shm::kLabFileSuffix);
  void* const mapped =
      intercept::CannotFault(directory)
          ? intercept::MakeMappedFile(
                directory, name, {&page, sizeof page, offsetof(shm::LabHeader, complete)}, size)
          : nullptr;
  SystemCall(SYS_close, static_cast<uint64_t>(directory));
  if (mapped == nullptr) return false;
  process.file = reinterpret_cast<uint64_t>(mapped);
  process.header = static_cast<shm::LabHeader*>(mapped);
  return true;
}

}  // namespace fieldcost::lab_preload
