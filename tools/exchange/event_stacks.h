#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/base/result.h"
#include "tools/exchange/tree_builder.h"

namespace fieldcost::exchange {

// Calls that begin and end, by thread, as a tree: an event charges the time since the thread's last
// one to the function on top. What does not fit is counted and told, nothing is made up:
// - an exit of what is not open is left out;
// - an exit of what is not on top also closes what is;
// - a time before the thread's last one is taken for that one, so no time is charged;
// - what is open at the end has the time up to the thread's last event.
// Threads are those of the builder's timed(), which gets the same by time. Not thread-safe.
class EventStacks {
 public:
  // Charges `wall` (ns) and counts `calls`, metrics of `builder`, which outlives this.
  EventStacks(TreeBuilder& builder, Remarks& remarks, std::size_t wall, std::size_t calls)
      : builder_(builder), remarks_(remarks), wall_(wall), calls_(calls) {}

  // kTooLarge beyond the limits.
  Status Enter(std::uint32_t thread, std::uint64_t ns, tree::FrameId frame);
  // `is_any`: of whatever is on top.
  Status Exit(std::uint32_t thread, std::uint64_t ns, tree::FrameId frame, bool is_any = false);
  // Counts what is still open.
  void End();

  enum class What : std::uint8_t { kEnter, kExit, kExitAny };
  struct Event {
    std::uint64_t ns;
    tree::FrameId frame;  // of kExitAny: none
    What what;
  };
  // Adds all events of a thread, given in any order, in the order of their times. Events of equal
  // times keep their order if all are in order already. Otherwise, calls that were open before end
  // first, then each exit follows its entry; more than kMostTies events keep their order.
  Status AddInAnyOrder(std::uint32_t thread, std::vector<Event> events);
  static constexpr std::size_t kMostTies = 16;

 private:
  struct Open {
    tree::PathId path;
    tree::FrameId frame;
    std::uint64_t since_ns;
  };
  struct Thread {
    std::vector<Open> stack;
    std::uint64_t last_ns = 0;
  };

  Result<Thread*> At(std::uint32_t number, std::uint64_t ns);
  Status Add(std::uint32_t thread, const Event& event);
  // Which one of events at one time is next.
  std::size_t NextOf(std::uint32_t thread, const std::vector<Event>& ties) const;

  TreeBuilder& builder_;
  Remarks& remarks_;
  std::size_t wall_;
  std::size_t calls_;
  std::unordered_map<std::uint32_t, Thread> threads_;
};

// Calls as intervals of one thread, in any order, as a tree: the self time of each is its own less
// that of those in it. One that begins in another and ends after it (by more than kRoundingNs) is
// left out, and counted.
class IntervalStacks {
 public:
  // By how much a call may end after the one that it begins in, and is then ended with it: times
  // are rounded to microseconds by those who write them.
  static constexpr std::uint64_t kRoundingNs = 1'000;

  struct Interval {
    std::uint64_t begin;
    std::uint64_t length;
    tree::FrameId frame;
  };

  // Charges each interval's self time to `value`, and adds one to `calls` unless it is kNoCalls.
  static constexpr std::size_t kNoCalls = static_cast<std::size_t>(-1);
  static Status Add(std::vector<Interval> intervals, std::uint32_t thread, std::size_t value,
                    std::size_t calls, TreeBuilder& builder, Remarks& remarks);
};

}  // namespace fieldcost::exchange
