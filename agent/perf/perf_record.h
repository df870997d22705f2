#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "agent/unwind/module_map.h"
#include "agent/unwind/registers.h"

namespace fieldcost::perf {

// The records that the kernel writes to a ring, as configured by a sampler (perf_event_open(2)).

// The content of samples, from which the layouts below follow. PERF_SAMPLE_PERIOD is not used: with
// it, software events write a sample each time, regardless of their period.
inline constexpr std::uint64_t kSampleType = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID |
                                             PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
                                             PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;

struct SampleRecord {
  std::uint64_t id = 0;  // of the event (PERF_EVENT_IOC_ID), even if inherited
  // The event's number (PerfEvents) and period. Not in the record: found by the id.
  std::size_t event = 0;
  std::uint64_t period = 0;
  pid_t pid = 0;
  pid_t tid = 0;
  std::uint32_t cpu = 0;
  bool in_kernel = false;  // interrupted in the kernel; registers are still those of user mode
  bool is_64_bit = false;  // false: there are no registers
  unwind::Registers registers;
  std::span<const std::uint8_t> stack;  // in the record, starting at the stack pointer
  // Memory read at `behind_address` when the sample was stashed; empty if it was not stashed.
  std::span<const std::uint8_t> behind;
  std::uint64_t behind_address = 0;
};
struct MapRecord {
  pid_t pid = 0;
  unwind::Mapping mapping;
  bool executable = false;
};
// A new thread or a new process; if it is a process, its pid differs from its parent's.
struct ForkRecord {
  pid_t pid = 0;
  pid_t parent_pid = 0;
  pid_t tid = 0;
  pid_t parent_tid = 0;
};
// A process executes another program; it then has one thread.
struct ExecRecord {
  pid_t pid = 0;
  std::string_view name;  // refers to the record's bytes
};
// A thread changes its name.
struct NameRecord {
  pid_t pid = 0;
  pid_t tid = 0;
  std::string_view name;  // refers to the record's bytes
};
struct ExitRecord {
  pid_t pid = 0;
  pid_t tid = 0;
};
struct LostRecord {
  std::uint64_t count = 0;
};
// A thread loses or gets a CPU.
struct SwitchRecord {
  pid_t pid = 0;
  pid_t tid = 0;
  bool out = false;
  bool preempted = false;  // if out: it was still runnable
};

struct PerfRecord {
  std::uint64_t time = 0;  // by the event's clock, ns
  std::variant<std::monostate, SampleRecord, MapRecord, ForkRecord, ExecRecord, NameRecord,
               ExitRecord, LostRecord, SwitchRecord>
      content;
};

// Returns only a record's time, to find the ring to read next; nullopt if the record is too short.
std::optional<std::uint64_t> TimeOf(std::span<const std::uint8_t> untrusted_record);

// Parses a record; returns nullopt if it is invalid. Records of other kinds have no content.
std::optional<PerfRecord> ParseRecord(std::span<const std::uint8_t> untrusted_record);

}  // namespace fieldcost::perf
