#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "common/unwind/module_map.h"
#include "common/unwind/registers.h"

namespace fieldcost::sampler {

// What the kernel writes into a ring, as far as a sampler asks for it (perf_event_open(2)).

// What an event is to write: the layouts below follow from it.
// No PERF_SAMPLE_PERIOD: with it, events of the kernel's own have a sample each time, whatever
// their period is.
inline constexpr std::uint64_t kSampleType = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID |
                                             PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
                                             PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
// rax to rip and r8 to r15, as the kernel numbers them; no flags and segments.
inline constexpr std::uint64_t kUserRegisters = 0xff01ff;

struct SampleRecord {
  std::uint64_t id = 0;  // of the event (PERF_EVENT_IOC_ID), also where it was inherited
  // Which event that is (PerfEvents), and its period. Not of the record: by the id.
  std::size_t event = 0;
  std::uint64_t period = 0;
  pid_t pid = 0;
  pid_t tid = 0;
  std::uint32_t cpu = 0;
  bool in_kernel = false;  // it was in the kernel; registers are those of user mode all the same
  bool is_64_bit = false;  // else there are no registers
  unwind::Registers registers;
  std::span<const std::uint8_t> stack;  // of the record's bytes, from the stack pointer on
  // What was read at `behind_address` when the sample was put aside; empty: it was not.
  std::span<const std::uint8_t> behind;
  std::uint64_t behind_address = 0;
};
struct MapRecord {
  pid_t pid = 0;
  unwind::Mapping mapping;
  bool executable = false;
};
// A new thread, or process: then its pid is not its parent's.
struct ForkRecord {
  pid_t pid = 0;
  pid_t parent_pid = 0;
  pid_t tid = 0;
  pid_t parent_tid = 0;
};
// A process executes another program, as its only thread.
struct ExecRecord {
  pid_t pid = 0;
  std::string_view name;  // of the record's bytes
};
// A thread is called otherwise from now on.
struct NameRecord {
  pid_t pid = 0;
  pid_t tid = 0;
  std::string_view name;  // of the record's bytes
};
struct ExitRecord {
  pid_t pid = 0;
  pid_t tid = 0;
};
struct LostRecord {
  std::uint64_t count = 0;
};
// A thread is taken from its CPU, or gets one.
struct SwitchRecord {
  pid_t pid = 0;
  pid_t tid = 0;
  bool out = false;
  bool preempted = false;  // if out: it wanted to run on
};

struct PerfRecord {
  std::uint64_t time = 0;  // of the event's clock, ns
  std::variant<std::monostate, SampleRecord, MapRecord, ForkRecord, ExecRecord, NameRecord,
               ExitRecord, LostRecord, SwitchRecord>
      content;
};

// A record's time alone, to tell which ring is next; nullopt: it is too short to have one.
std::optional<std::uint64_t> TimeOf(std::span<const std::uint8_t> untrusted_record);

// nullopt: it is not what the kernel writes. Of no kind that is asked for: no content.
std::optional<PerfRecord> ParseRecord(std::span<const std::uint8_t> untrusted_record);

}  // namespace fieldcost::sampler
