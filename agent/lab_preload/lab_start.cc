// The library's only entry point: a constructor that returns at once unless the lab has written a
// plan. After any failure the library is inert, and the lab sees that there is no file.
#include "agent/intercept/alloc_wrappers.h"
#include "agent/intercept/block_size.h"
#include "agent/intercept/calibration.h"
#include "agent/intercept/cycle_clock.h"
#include "agent/intercept/elf_object.h"
#include "agent/intercept/every_call.h"
#include "agent/intercept/io_wrappers.h"
#include "agent/intercept/map_wrappers.h"
#include "agent/intercept/mapped_memory.h"
#include "agent/intercept/objects.h"
#include "agent/intercept/plan_directory.h"
#include "agent/intercept/text_builder.h"
#include "agent/intercept/wrappers.h"
#include "agent/lab_preload/lab_plan_reader.h"
#include "agent/lab_preload/lab_process.h"
#include "agent/lab_preload/lab_thread_state.h"

namespace fieldcost::lab_preload {

Process fieldcost_process;
uint32_t fieldcost_takes_time;

namespace {

bool MakeMemory() {
  process.threads = intercept::MapArray<ThreadState>(shm::kThreadSlots);
  return process.threads != nullptr && intercept::MakeTables();
}

uint64_t SumOf(const void* block) {
  uint64_t sum = 0;
  for (const shm::RunBucket& bucket : static_cast<const shm::LabTimeBlock*>(block)->time.buckets) {
    sum += bucket.sum;
  }
  return sum;
}

// Measures the time that a thunk adds to each measurement.
void Calibrate() {
  static shm::LabTimeBlock block;
  static shm::LabHeader no_header;
  const uint64_t ticks_to_ns = process.ticks_to_ns;
  process.header = &no_header;
  process.ticks_to_ns = uint64_t{1} << 32;  // so that the block counts ticks
  Target& target = process.targets[0];
  target.address = reinterpret_cast<uint64_t>(&intercept::fieldcost_known_function);
  target.role = shm::kLabTimed;
  target.argument = shm::kNoArgument;
  target.first_taken = 1;
  fieldcost_attached[0] = 1;
  ThreadState* const thread = CurrentThread();
  if (thread != nullptr) {
    thread->apis[0].block = &block.head;
    const auto timed = reinterpret_cast<intercept::KnownFunction>(intercept::StubOf(0));
    process.bias_ticks = intercept::MeasureBias(timed, SumOf, &block).ticks;
    thread->apis[0].block = nullptr;
  }
  fieldcost_attached[0] = 0;
  target = {};
  process.ticks_to_ns = ticks_to_ns;
}

// Creates the first thread's blocks for timed APIs, so that the first calls find their memory
// ready.
void PrepareBlocks() {
  constexpr uint32_t kMost = 512;
  ThreadState* const thread = CurrentThread();
  if (thread == nullptr || process.mode != shm::kLabTime) return;
  uint32_t timed = 0;
  for (uint32_t i = 0; i < intercept::target_count; ++i) {
    if (process.targets[i].role == shm::kLabTimed) ++timed;
  }
  if (timed > kMost) return;
  for (uint32_t i = 0; i < intercept::target_count; ++i) {
    if (process.targets[i].role == shm::kLabTimed) MakeBlock(thread, i);
  }
}

void FillHeader(shm::LabHeader* header) {
  intercept::BeginHeader(header, shm::kLabMagic, shm::kLabVersion, shm::LabFileBytes(process.mode),
                         process.ticks_to_ns);
  header->mode = process.mode;
  header->start_unix_ns = intercept::UnixNanoseconds();
  header->bias_ps = intercept::PicosecondsOf(process.bias_ticks, process.ticks_to_ns);
  intercept::CopyText(header->program, intercept::ProgramName());
}

// Creates this process's lab file and maps it: sets process.header and .file. If any step fails,
// returns false, and no file remains.
bool CreateLabFile() {
  static shm::LabHeader page;
  FillHeader(&page);
  return process.CreateFile(page, shm::kLabFileSuffix);
}

bool Begin() {
  if (!MakeMemory()) return false;
  const shm::LabPlanHeader& plan = Plan();
  process.mode = plan.mode;
  process.ticks_to_ns = plan.tsc_to_ns_multiplier;
  process.block_bytes = shm::LabBlockBytes(plan.mode);
  fieldcost_takes_time = plan.mode == shm::kLabTime ? 1 : 0;

  if (!intercept::MayIntercept(plan.data_slots != 0, true)) return false;
  if (fieldcost_takes_time != 0) Calibrate();
  if (!CreateLabFile()) return false;

  const intercept::SlotSpace space = intercept::Objects(true);
  intercept::InterceptNotices();
  if (plan.mode == shm::kLabMap) {
    intercept::InstallWrappers(intercept::kAllocFunctions, intercept::kAllocFunctionCount, space,
                               0);
    intercept::InstallFreeWrapper(space);
    process.header->knows_block_sizes = intercept::KnowsBlockSizes() ? 1 : 0;
    intercept::InstallWrappers(intercept::kIoFunctions, intercept::kIoFunctionCount, space, 0);
    intercept::InstallWrappers(intercept::kMapFunctions, intercept::kMapFunctionCount, space, 0);
  }
  fieldcost_attached[0] = 1;
  intercept::StandBeforeCalls(space, 0);
  PrepareBlocks();
  return true;
}

__attribute__((constructor)) void Start(int, char**, char** environment) {
  if (intercept::IsKnownLibc() && ReadPlan(environment)) Begin();
}

}  // namespace
}  // namespace fieldcost::lab_preload
