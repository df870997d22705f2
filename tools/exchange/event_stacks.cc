#include "tools/exchange/event_stacks.h"

#include <algorithm>

#include "tools/exchange/limits.h"

namespace fieldcost::exchange {

Result<EventStacks::Thread*> EventStacks::At(const std::string& untrusted_thread,
                                             std::uint64_t ns) {
  const auto [place, is_new] = threads_.try_emplace(untrusted_thread);
  Thread& thread = place->second;
  if (is_new) {
    if (threads_.size() > kMaxThreads) {
      return Fail(ErrorCode::kTooLarge, "there are more than {} threads", kMaxThreads);
    }
    thread.last_ns = ns;
  }
  if (ns < thread.last_ns) {
    remarks_.Count("times before the last one of their thread, where no time passes");
    return &thread;
  }
  if (!thread.stack.empty()) {
    FIELDCOST_TRY(builder_.Add(wall_, thread.stack.back().path, ns - thread.last_ns));
  }
  thread.last_ns = ns;
  return &thread;
}

Status EventStacks::Enter(const std::string& untrusted_thread, std::uint64_t ns,
                          tree::FrameId frame) {
  FIELDCOST_ASSIGN(Thread* const thread, At(untrusted_thread, ns));
  const tree::PathId parent = thread->stack.empty() ? tree::kRootPath : thread->stack.back().path;
  FIELDCOST_ASSIGN(const tree::PathId path, builder_.AddPath(parent, frame));
  thread->stack.push_back({path, frame});
  return builder_.Add(calls_, path, 1);
}

Status EventStacks::Exit(const std::string& untrusted_thread, std::uint64_t ns, tree::FrameId frame,
                         bool is_any) {
  FIELDCOST_ASSIGN(Thread* const thread, At(untrusted_thread, ns));
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

void EventStacks::End() {
  for (const auto& [name, thread] : threads_) {
    remarks_.Count("calls open at the end, ended with the last event", thread.stack.size());
  }
}

Status IntervalStacks::Add(std::vector<Interval> intervals, std::size_t value, std::size_t calls,
                           TreeBuilder& builder, Remarks& remarks) {
  std::stable_sort(intervals.begin(), intervals.end(), [](const Interval& a, const Interval& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.length > b.length;
  });
  struct Open {
    tree::PathId path;
    std::uint64_t end;
    std::uint64_t self;  // less than what is in it
  };
  std::vector<Open> stack;
  const auto close = [&]() -> Status {
    const Open call = stack.back();
    stack.pop_back();
    return builder.Add(value, call.path, call.self);
  };
  for (const Interval& interval : intervals) {
    std::uint64_t end = 0;
    if (__builtin_add_overflow(interval.begin, interval.length, &end)) {
      return Fail(ErrorCode::kTooLarge, "a call ends after 2^64 - 1 ns");
    }
    while (!stack.empty() && stack.back().end <= interval.begin) FIELDCOST_TRY(close());
    if (!stack.empty() && stack.back().end < end) {
      remarks.Count("calls that begin in another and end after it, left out");
      continue;
    }
    tree::PathId parent = tree::kRootPath;
    if (!stack.empty()) {
      parent = stack.back().path;
      stack.back().self -= interval.length;  // those in it follow one another
    }
    FIELDCOST_ASSIGN(const tree::PathId path, builder.AddPath(parent, interval.frame));
    if (calls != kNoCalls) FIELDCOST_TRY(builder.Add(calls, path, 1));
    stack.push_back({path, end, interval.length});
  }
  while (!stack.empty()) FIELDCOST_TRY(close());
  return {};
}

}  // namespace fieldcost::exchange
