#include "agent/lab_preload/lab_file_writer.h"

#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#include "agent/intercept/cycle_clock.h"
#include "agent/intercept/plan_directory.h"
#include "agent/intercept/process_file.h"
#include "agent/intercept/text_builder.h"
#include "agent/intercept/x86_64/machine.h"
#include "agent/lab_preload/lab_plan_reader.h"
#include "agent/lab_preload/lab_process.h"

namespace fieldcost::lab_preload {
namespace {

using intercept::SystemCall;

void FillHeader(shm::LabHeader* header) {
  memcpy(header->magic, shm::kLabMagic, sizeof header->magic);
  header->version = shm::kLabVersion;
  header->mode = process.mode;
  header->size_bytes = shm::LabFileBytes(process.mode);
  header->pid = process.pid;
  header->parent_pid = static_cast<uint32_t>(SystemCall(SYS_getppid));
  header->attached = 1;
  header->start_unix_ns = intercept::UnixNanoseconds();
  header->tsc_to_ns_multiplier = process.ticks_to_ns;
  header->bias_ps = intercept::PicosecondsOf(process.bias_ticks, process.ticks_to_ns);
  intercept::CopyText(header->program, intercept::ProgramName());
}

}  // namespace

bool CreateLabFile() {
  const uint64_t size = shm::LabFileBytes(process.mode);
  static shm::LabHeader page;
  FillHeader(&page);
  void* const mapped =
      intercept::MakeProcessFile(process.pid, shm::kLabFileSuffix,
                                 {&page, sizeof page, offsetof(shm::LabHeader, complete)}, size);
  if (mapped == nullptr) return false;
  process.file = reinterpret_cast<uint64_t>(mapped);
  process.header = static_cast<shm::LabHeader*>(mapped);
  return true;
}

}  // namespace fieldcost::lab_preload
