#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/base/result.h"
#include "tools/exchange/tree_builder.h"

namespace fieldcost::exchange {

// Builds a tree from calls that begin and end, per thread: an event charges the time since the
// thread's previous event to the function on top of the stack. Irregular events are counted and
// reported; nothing is invented:
// - an exit of a call that is not open is ignored;
// - an exit of a call that is not on top also closes the calls above it;
// - a time before the thread's previous one counts as that one, so no time is charged;
// - calls still open at the end get the time up to the thread's last event.
// Threads are those of the builder's timed(), which receives the same data by time. Not
// thread-safe.
class EventStacks {
 public:
  // Charges `wall` (ns) and counts `calls`, both metrics of `builder`. REQUIRES: `builder` outlives
  // this.
  EventStacks(TreeBuilder& builder, Remarks& remarks, std::size_t wall, std::size_t calls)
      : builder_(builder), remarks_(remarks), wall_(wall), calls_(calls) {}

  // kTooLarge beyond the limits.
  Status Enter(std::uint32_t thread, std::uint64_t ns, tree::FrameId frame);
  // `is_any`: ends the call on top, whichever it is.
  Status Exit(std::uint32_t thread, std::uint64_t ns, tree::FrameId frame, bool is_any = false);
  // Counts the calls that are still open.
  void End();

  enum class What : std::uint8_t { kEnter, kExit, kExitAny };
  struct Event {
    std::uint64_t ns;
    tree::FrameId frame;  // none for kExitAny
    What what;
  };
  // Adds all events of a thread, given in any order, in the order of their times. Events with equal
  // times keep their order if all events are already sorted. Otherwise, calls that were open before
  // end first, then each exit follows its entry; more than kMostTies events keep their order.
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
  // Selects the next one of several events at the same time.
  std::size_t NextOf(std::uint32_t thread, const std::vector<Event>& ties) const;

  TreeBuilder& builder_;
  Remarks& remarks_;
  std::size_t wall_;
  std::size_t calls_;
  std::unordered_map<std::uint32_t, Thread> threads_;
};

// Builds a tree from a thread's calls, given as intervals in any order: the self time of a call is
// its time less that of the calls within it. A call that begins within another and ends more than
// kRoundingNs after it is ignored and counted.
class IntervalStacks {
 public:
  // A call that ends at most this much after the enclosing call is ended with it, because writers
  // round times to microseconds.
  static constexpr std::uint64_t kRoundingNs = 1'000;

  struct Interval {
    std::uint64_t begin;
    std::uint64_t length;
    tree::FrameId frame;
  };

  // Charges each interval's self time to `value` and adds one to `calls` unless that is kNoCalls.
  static constexpr std::size_t kNoCalls = static_cast<std::size_t>(-1);
  static Status Add(std::vector<Interval> intervals, std::uint32_t thread, std::size_t value,
                    std::size_t calls, TreeBuilder& builder, Remarks& remarks);
};

}  // namespace fieldcost::exchange
