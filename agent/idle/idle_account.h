#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "agent/idle/idle_probe.h"
#include "agent/idle/idle_writer.h"
#include "common/idle/idle_schema.h"

namespace fieldcost::idle_agent {

// A period in which a thread has no CPU. Times are CLOCK_MONOTONIC.
struct ThreadWait {
  enum class Stack {
    kUnread,
    kRead,   // not yet known whether the thread had resumed by then
    kKnown,  // belongs to this wait
    kNone    // not available
  };
  pid_t pid = 0;
  pid_t tid = 0;
  bool preempted = false;  // the thread is runnable
  bool ended = false;      // the thread has exited
  bool begins = false;     // not a wait: the thread had not run before
  bool is_over = false;    // the thread resumed
  Stack state = Stack::kUnread;
  std::uint64_t read_ns = 0;
  std::optional<StackId> stack;  // if kRead or kKnown
};
using WaitPointer = std::shared_ptr<ThreadWait>;

// Determines which thread left each CPU idle, and which one resumed there, from the switches of
// monitored threads and from checks that found CPUs idle. An idle tick is attributed to the thread
// that left the CPU before the longest interval, within the period checked, in which no monitored
// thread ran there.
//
// A stack is read while its thread waits, so it counts only once it is known that the thread had
// not resumed by then: reports are delayed until that is known. Pure; not thread-safe.
class IdleAccount {
 public:
  // How many of the threads that ran last have their stacks read even if they did not leave a CPU
  // idle.
  static constexpr std::size_t kMostRecent = 64;

  // A report: a CPU was idle, or a thread resumed there after that.
  struct Told {
    std::uint32_t cpu = 0;
    bool goes_on = false;
    std::uint64_t begin_ns = 0;                // idle: both are multiples of the tick
    std::uint64_t end_ns = 0;                  // goes_on: the time at which the thread resumed
    WaitPointer wait;                          // of the thread that left or resumed; null if none
    idle::Why why = idle::Why::kNotMonitored;  // if `wait` is null
  };

  explicit IdleAccount(std::uint64_t tick_ns) : tick_ns_(tick_ns) {}

  // Take events in ascending order of time; checks are ordered by their end.
  void In(std::uint32_t cpu, pid_t pid, pid_t tid, std::uint64_t time_ns);
  void Out(std::uint32_t cpu, pid_t pid, pid_t tid, std::uint64_t time_ns, bool preempted);
  void Exit(std::uint32_t cpu, pid_t tid, std::uint64_t time_ns);
  void Look(std::uint32_t cpu, const CpuLook& look);
  // Events of the CPU were lost.
  void Lost(std::uint32_t cpu, std::uint64_t time_ns);
  // A thread is known from another source to be waiting; the CPU that it left is unknown.
  void Waits(pid_t pid, pid_t tid);

  // Returns the waits whose stacks must be read now: first those of threads that left a CPU that
  // was idle, then those of the threads that ran last, except threads whose stack was unavailable
  // before. Each wait is returned once, and Read() must follow.
  std::vector<WaitPointer> ToRead();
  // Takes the stack and the time at which it was read; nullopt: it is unavailable.
  void Read(ThreadWait& wait, std::uint64_t time_ns, std::optional<StackId> stack);
  // Returns the wait of the thread that last left the CPU if it still waits; else null.
  WaitPointer LastOn(std::uint32_t cpu) const;

  // Returns what can be reported now that all events up to `until_ns` are known; per CPU, in
  // ascending order of end.
  std::vector<Told> Tell(std::uint64_t until_ns);
  // Returns all remaining reports.
  std::vector<Told> TellRest();

 private:
  // An interval in which no monitored thread was on a CPU.
  struct Gap {
    std::uint64_t begin_ns = 0;
    std::uint64_t end_ns = UINT64_MAX;  // not over yet
    WaitPointer holder;
    idle::Why why = idle::Why::kNotMonitored;
    bool went_on = false;       // ended because a thread resumed
    WaitPointer ender;          // that thread's wait
    std::vector<Told> periods;  // ticks, merged
  };
  struct Cpu {
    std::uint32_t number = 0;
    std::deque<Gap> gaps;         // ascending; earlier ones were reported
    std::uint64_t looked_ns = 0;  // end of the latest check
    std::uint64_t last_tick = 0;  // number of the latest tick attributed
    bool owes = false;            // idle time was reported, but no thread that resumed after it
    std::deque<Told> untold;
  };
  struct Thread {
    WaitPointer wait;
    std::uint32_t cpu = 0;  // the one that it last left
    bool mute = false;      // its stack was unavailable
  };
  static constexpr std::size_t kMostThreads = 65'536;
  static constexpr std::size_t kMostGaps = 4096;
  // Maximum number of ticks in one period; longer periods are split.
  static constexpr std::uint64_t kMostTicks = 50;

  Cpu& CpuOf(std::uint32_t number);
  static void Close(Cpu& cpu, std::uint64_t time_ns);
  static void Open(Cpu& cpu, std::uint64_t time_ns, WaitPointer holder, idle::Why why);
  void EndWait(Thread& thread, std::uint32_t cpu, std::uint64_t time_ns);
  void AddTick(Cpu& cpu, Gap& gap, std::uint64_t end_ns);
  void Collect(Cpu& cpu, bool all);
  void Settle(std::uint64_t until_ns);
  static bool IsSettled(const Told& told);

  std::uint64_t tick_ns_;
  std::map<std::uint32_t, Cpu> cpus_;
  std::unordered_map<pid_t, Thread> threads_;
  std::deque<WaitPointer> recent_;   // unread
  std::vector<WaitPointer> unsure_;  // read, but not yet known whether in time
};

}  // namespace fieldcost::idle_agent
