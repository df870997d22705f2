#include "tools/exchange/event_stacks.h"

#include <algorithm>

#include "tools/exchange/exchange_limits.h"

namespace fieldcost::exchange {

Result<EventStacks::Thread*> EventStacks::At(std::uint32_t number, std::uint64_t ns) {
  const auto [place, is_new] = threads_.try_emplace(number);
  Thread& thread = place->second;
  if (is_new) thread.last_ns = ns;
  if (ns < thread.last_ns) {
    remarks_.Count("times before the last one of their thread, where no time passes");
    return &thread;
  }
  if (!thread.stack.empty()) {
    const tree::PathId path = thread.stack.back().path;
    FIELDCOST_TRY(builder_.Add(wall_, path, ns - thread.last_ns));
    builder_.timed().AddSpan(wall_, path, number, ns, ns - thread.last_ns);
  }
  thread.last_ns = ns;
  return &thread;
}

Status EventStacks::Enter(std::uint32_t number, std::uint64_t ns, tree::FrameId frame) {
  FIELDCOST_ASSIGN(Thread* const thread, At(number, ns));
  const tree::PathId parent = thread->stack.empty() ? tree::kRootPath : thread->stack.back().path;
  FIELDCOST_ASSIGN(const tree::PathId path, builder_.AddPath(parent, frame));
  thread->stack.push_back({path, frame, thread->last_ns});
  builder_.timed().Add(calls_, path, number, thread->last_ns, 1);
  return builder_.Add(calls_, path, 1);
}

Status EventStacks::Exit(std::uint32_t number, std::uint64_t ns, tree::FrameId frame, bool is_any) {
  FIELDCOST_ASSIGN(Thread* const thread, At(number, ns));
  std::vector<Open>& stack = thread->stack;
  const auto open = is_any ? stack.rbegin()
                           : std::find_if(stack.rbegin(), stack.rend(),
                                          [&](const Open& call) { return call.frame == frame; });
  if (open == stack.rend()) {
    remarks_.Count("exits without an entry, left out");
    return {};
  }
  if (open != stack.rbegin()) {
    remarks_.Count("calls without an exit, ended with their caller",
                   static_cast<std::uint64_t>(open - stack.rbegin()));
  }
  stack.erase(open.base() - 1, stack.end());
  return {};
}

Status EventStacks::Add(std::uint32_t thread, const Event& event) {
  if (event.what == What::kEnter) return Enter(thread, event.ns, event.frame);
  return Exit(thread, event.ns, event.frame, event.what == What::kExitAny);
}

std::size_t EventStacks::NextOf(std::uint32_t thread, const std::vector<Event>& ties) const {
  const auto known = threads_.find(thread);
  const Open* const top = known == threads_.end() || known->second.stack.empty()
                              ? nullptr
                              : &known->second.stack.back();
  const auto ends_top = [&](const Event& event) {
    if (top == nullptr || event.what == What::kEnter) return false;
    return event.what == What::kExitAny || event.frame == top->frame;
  };
  // A call that was open before ends first, because consecutive calls are more common than calls
  // that take no time.
  const bool was_open = top != nullptr && top->since_ns < ties.front().ns;
  for (std::size_t i = 0; i < ties.size() && was_open; ++i) {
    if (ends_top(ties[i])) return i;
  }
  for (std::size_t i = 0; i < ties.size(); ++i) {
    if (ties[i].what == What::kEnter || ends_top(ties[i])) return i;
  }
  return 0;
}

Status EventStacks::AddInAnyOrder(std::uint32_t thread, std::vector<Event> events) {
  const bool is_in_order = std::ranges::is_sorted(events, {}, &Event::ns);
  if (!is_in_order) std::ranges::stable_sort(events, {}, &Event::ns);
  for (auto first = events.begin(); first != events.end();) {
    const auto end = std::find_if(first, events.end(),
                                  [&](const Event& event) { return event.ns != first->ns; });
    std::vector<Event> ties(first, end);
    while (!ties.empty() && !is_in_order && ties.size() <= kMostTies) {
      const std::size_t next = NextOf(thread, ties);
      FIELDCOST_TRY(Add(thread, ties[next]));
      ties.erase(ties.begin() + static_cast<std::ptrdiff_t>(next));
    }
    for (const Event& event : ties) FIELDCOST_TRY(Add(thread, event));
    first = end;
  }
  return {};
}

void EventStacks::End() {
  for (const auto& [number, thread] : threads_) {
    remarks_.Count("calls open at the end, ended with the last event", thread.stack.size());
  }
}

Status IntervalStacks::Add(std::vector<Interval> intervals, std::uint32_t thread, std::size_t value,
                           std::size_t calls, TreeBuilder& builder, Remarks& remarks) {
  std::stable_sort(intervals.begin(), intervals.end(), [](const Interval& a, const Interval& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.length > b.length;
  });
  struct Open {
    tree::PathId path;
    std::uint64_t end;
    std::uint64_t at;  // its self time is charged up to here
  };
  std::vector<Open> stack;
  // Charges the self time of the innermost call, up to `until`.
  const auto charge = [&](std::uint64_t until) -> Status {
    const std::uint64_t own = until - stack.back().at;
    if (calls != kNoCalls) {
      builder.timed().AddSpan(value, stack.back().path, thread, until, own);
    } else {
      builder.timed().AddUntimed(value, stack.back().path, thread, own);
    }
    return builder.Add(value, stack.back().path, own);
  };
  const auto close = [&]() -> Status {
    const std::uint64_t end = stack.back().end;
    FIELDCOST_TRY(charge(end));
    stack.pop_back();
    if (!stack.empty()) stack.back().at = end;
    return {};
  };
  for (const Interval& interval : intervals) {
    std::uint64_t end = 0;
    if (__builtin_add_overflow(interval.begin, interval.length, &end)) {
      return Fail(ErrorCode::kTooLarge, "a call ends after 2^64 - 1 ns");
    }
    while (!stack.empty() && stack.back().end <= interval.begin) FIELDCOST_TRY(close());
    if (!stack.empty() && stack.back().end < end && end - stack.back().end <= kRoundingNs) {
      end = stack.back().end;
    }
    if (!stack.empty() && stack.back().end < end) {
      remarks.Count("calls that begin in another and end after it, left out");
      continue;
    }
    tree::PathId parent = tree::kRootPath;
    if (!stack.empty()) {
      parent = stack.back().path;
      FIELDCOST_TRY(charge(interval.begin));  // the calls within it follow one another
    }
    FIELDCOST_ASSIGN(const tree::PathId path, builder.AddPath(parent, interval.frame));
    if (calls != kNoCalls) {
      builder.timed().Add(calls, path, thread, interval.begin, 1);
      FIELDCOST_TRY(builder.Add(calls, path, 1));
    }
    stack.push_back({path, end, interval.begin});
  }
  while (!stack.empty()) FIELDCOST_TRY(close());
  return {};
}

}  // namespace fieldcost::exchange
