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
#include "common/idle/schema.h"

namespace fieldcost::idle_agent {

// A thread is without a CPU. Times are CLOCK_MONOTONIC.
struct ThreadWait {
  enum class Stack {
    kUnread,
    kRead,   // and not known whether the thread had gone on by then
    kKnown,  // it is that of this wait
    kNone    // it is not available
  };
  pid_t pid = 0;
  pid_t tid = 0;
  bool preempted = false;  // it wants to run on
  bool ended = false;      // there is no such thread any more
  bool begins = false;     // it is none: the thread had not run before
  bool is_over = false;    // it went on
  Stack state = Stack::kUnread;
  std::uint64_t read_ns = 0;
  std::optional<StackId> stack;  // of kRead and kKnown
};
using WaitPointer = std::shared_ptr<ThreadWait>;

// Which thread left each CPU idle, and which went on there, by what the kernel says of switches of
// monitored threads, and by looks that found CPUs idle. An idle tick is of who had left the CPU
// last, in the longest time within the look in which no monitored thread was there.
//
// A stack is read while its thread waits, so it counts once it is known that the thread had not
// gone on by then: what is told may be a while back. Pure; not thread-safe.
class IdleAccount {
 public:
  // How many threads' stacks, of those that ran last, are read beside those of who left a CPU idle.
  static constexpr std::size_t kMostRecent = 64;

  // What is told: a CPU was idle, or a thread went on there after that.
  struct Told {
    std::uint32_t cpu = 0;
    bool goes_on = false;
    std::uint64_t begin_ns = 0;  // of an idle period: as many multiples of a tick as it has ticks
    std::uint64_t end_ns = 0;    // of one who goes on: when
    WaitPointer wait;            // of who left, or went on; null: there is none
    idle::Why why = idle::Why::kNotMonitored;  // without one
  };

  explicit IdleAccount(std::uint64_t tick_ns) : tick_ns_(tick_ns) {}

  // Takes what happened, ascending by time, looks by their end.
  void In(std::uint32_t cpu, pid_t pid, pid_t tid, std::uint64_t time_ns);
  void Out(std::uint32_t cpu, pid_t pid, pid_t tid, std::uint64_t time_ns, bool preempted);
  void Exit(std::uint32_t cpu, pid_t tid, std::uint64_t time_ns);
  void Look(std::uint32_t cpu, const CpuLook& look);
  // What happened on the CPU is not known.
  void Lost(std::uint32_t cpu, std::uint64_t time_ns);
  // A thread waits, by what is known from elsewhere; it is not known where it was.
  void Waits(pid_t pid, pid_t tid);

  // Waits whose stacks are to be read now: of who left a CPU that was idle, then of those who ran
  // last, but for those that gave none before. Each wait once. An answer is expected.
  std::vector<WaitPointer> ToRead();
  // Takes the answer: the stack, and when it had been read; nullopt: it is not available.
  void Read(ThreadWait& wait, std::uint64_t time_ns, std::optional<StackId> stack);
  // The wait of the thread that left the CPU last, if it still waits; else null.
  WaitPointer LastOn(std::uint32_t cpu) const;

  // Tells what can be told now that all that happened until then is known; by CPU, ascending by
  // end.
  std::vector<Told> Tell(std::uint64_t until_ns);
  // Tells all that is left.
  std::vector<Told> TellRest();

 private:
  // A time in which no monitored thread was on a CPU.
  struct Gap {
    std::uint64_t begin_ns = 0;
    std::uint64_t end_ns = UINT64_MAX;  // it goes on
    WaitPointer holder;
    idle::Why why = idle::Why::kNotMonitored;
    bool went_on = false;       // a thread's going on ended it
    WaitPointer ender;          // that thread's wait
    std::vector<Told> periods;  // ticks, merged
  };
  struct Cpu {
    std::uint32_t number = 0;
    std::deque<Gap> gaps;         // ascending; older ones are told
    std::uint64_t looked_ns = 0;  // until then
    std::uint64_t last_tick = 0;  // the number of the last one told or kept
    bool owes = false;            // idle time was told, and nobody who went on after it
    std::deque<Told> untold;
  };
  struct Thread {
    WaitPointer wait;
    std::uint32_t cpu = 0;  // which it left last
    bool mute = false;      // gave no stack
  };
  static constexpr std::size_t kMostThreads = 65'536;
  static constexpr std::size_t kMostGaps = 4096;
  // The most ticks in one period; then it is told.
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
  std::vector<WaitPointer> unsure_;  // read, and not known whether in time
};

}  // namespace fieldcost::idle_agent
