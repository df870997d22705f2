#include "agent/lab_preload/lab_file_writer.h"

#include "agent/intercept/cycle_clock.h"
#include "agent/intercept/plan_directory.h"
#include "agent/intercept/text_builder.h"
#include "agent/lab_preload/lab_process.h"

namespace fieldcost::lab_preload {
namespace {

void FillHeader(shm::LabHeader* header) {
  intercept::BeginHeader(header, shm::kLabMagic, shm::kLabVersion, shm::LabFileBytes(process.mode),
                         process.ticks_to_ns);
  header->mode = process.mode;
  header->start_unix_ns = intercept::UnixNanoseconds();
  header->bias_ps = intercept::PicosecondsOf(process.bias_ticks, process.ticks_to_ns);
  intercept::CopyText(header->program, intercept::ProgramName());
}

}  // namespace

bool CreateLabFile() {
  static shm::LabHeader page;
  FillHeader(&page);
  return process.CreateFile(page, shm::kLabFileSuffix);
}

}  // namespace fieldcost::lab_preload
