// Reads Chrome's trace events, alone or in {"traceEvents": [...]}:
//   {"ph": "B", "ts": 1.5, "pid": 1, "tid": 7, "name": "f"}
// B enters and E leaves a function; X does both, separated by "dur". Times are in µs.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/text.h"
#include "tools/exchange/event_stacks.h"
#include "tools/exchange/exchange_limits.h"
#include "tools/exchange/exchange_numbers.h"
#include "tools/exchange/frame_text.h"
#include "tools/exchange/importers.h"
#include "tools/exchange/json_reader.h"

namespace fieldcost::exchange {
namespace {

constexpr unsigned kTimeDecimals = 3;  // from us to ns

struct TraceEvent {
  std::optional<std::string> name;
  std::string phase;
  std::string process;
  std::string thread;
  std::optional<Scaled> begin_ns;
  std::optional<std::uint64_t> length_ns;
  std::string args_name;  // the name of a process or thread
  // Members that only fieldcost writes.
  std::string args_metric;
  recording::Thread args_thread;
};

class Chrome : public JsonEvents {
 public:
  explicit Chrome(Remarks& remarks) : remarks_(remarks) {}

  Status BeginObject() override {
    ++depth_;
    if (depth_ == events_depth_ + 1) event_ = {};
    return {};
  }
  Status EndObject() override {
    const bool is_event = events_depth_ != 0 && depth_ == events_depth_ + 1;
    --depth_;
    if (!is_event) return {};
    ++events_;
    return Add(event_);
  }
  Status BeginArray() override {
    ++depth_;
    if (depth_ == 1 || (depth_ == 2 && events_depth_ == 0 && key_ == "traceEvents")) {
      events_depth_ = depth_;
      is_found_ = true;
    }
    return {};
  }
  Status EndArray() override {
    if (depth_ == events_depth_) events_depth_ = 0;
    --depth_;
    return {};
  }
  Status Key(std::string_view untrusted_name) override {
    if (depth_ <= 1 || InEvent()) {
      key_ = untrusted_name;
    } else if (InArgs()) {
      args_key_ = untrusted_name;
    }
    return {};
  }
  Status String(std::string_view untrusted_text) override {
    if (InArgs()) TakeArgument(untrusted_text);
    if (!InEvent()) return {};
    if (key_ == "name") event_.name = untrusted_text;
    if (key_ == "ph") event_.phase = untrusted_text;
    return Place(untrusted_text);
  }
  Status Number(std::string_view untrusted_digits) override {
    if (InArgs()) TakeNumber(untrusted_digits);
    if (!InEvent()) return {};
    if (key_ == "ts") event_.begin_ns = ScaledValue(untrusted_digits, kTimeDecimals);
    if (key_ == "dur") event_.length_ns = ScaledNumber(untrusted_digits, kTimeDecimals);
    return Place(untrusted_digits);
  }
  Status Other() override { return {}; }

  // Reports the missing parts of a truncated text.
  Status EndEarly();
  Result<Built> End();

 private:
  using Thread = std::pair<std::string, std::string>;  // process, thread
  struct Call {
    Scaled begin;
    std::uint64_t length;  // of X
    tree::FrameId frame;
    EventStacks::What what;  // of B and E
  };
  struct Calls {
    std::vector<Call> intervals;  // X
    std::vector<Call> events;     // B and E
  };

  bool InEvent() const { return events_depth_ != 0 && depth_ == events_depth_ + 1; }
  bool InArgs() const {
    return events_depth_ != 0 && depth_ == events_depth_ + 2 && key_ == "args";
  }

  void TakeArgument(std::string_view untrusted_text) {
    if (args_key_ == "name") event_.args_name = untrusted_text;
    if (args_key_ == "metric") event_.args_metric = untrusted_text;
    if (args_key_ == "process") event_.args_thread.process = NameOfText(untrusted_text);
    if (args_key_ == "thread") event_.args_thread.name = NameOfText(untrusted_text);
  }
  void TakeNumber(std::string_view untrusted_digits) {
    const auto number = ScaledNumber(untrusted_digits, 0);
    if (!number || *number > UINT32_MAX) return;
    if (args_key_ == "pid") event_.args_thread.pid = static_cast<std::uint32_t>(*number);
    if (args_key_ == "tid") event_.args_thread.tid = static_cast<std::uint32_t>(*number);
  }
  Status Place(std::string_view untrusted_text) {
    if (key_ == "pid") event_.process = untrusted_text;
    if (key_ == "tid") event_.thread = untrusted_text;
    return {};
  }
  Status Add(const TraceEvent& event);
  Status AddCall(const TraceEvent& event);
  Result<std::vector<IntervalStacks::Interval>> IntervalsOf(const std::vector<Call>& calls) const;
  Status AddThread(const Thread& thread, const Calls& calls);
  Status NeedMetrics();
  Result<std::uint32_t> NumberOf(const Thread& thread);
  void AddName(const TraceEvent& event);
  // The number of a thread in a process that fieldcost wrote.
  Result<std::uint32_t> OwnNumberOf(const Thread& thread);
  void NameThreads();

  Remarks& remarks_;
  TreeBuilder builder_;
  std::optional<EventStacks> stacks_;
  std::size_t wall_ = 0;
  std::size_t calls_ = 0;
  std::map<Thread, Calls> calls_of_;
  ZeroShift shift_;
  std::map<std::string, tree::Metric> metrics_;  // by process that we wrote
  std::map<std::string, recording::Thread> own_processes_;
  std::map<Thread, recording::Thread> own_threads_;
  std::map<Thread, std::uint32_t> numbers_;
  std::map<Thread, std::string> thread_names_;
  std::map<std::string, std::string> process_names_;

  std::size_t depth_ = 0;
  std::uint64_t events_ = 0;      // complete ones
  std::size_t events_depth_ = 0;  // of the array of events, while it is read
  bool is_found_ = false;
  std::string key_;
  std::string args_key_;
  TraceEvent event_;
};

Status Chrome::NeedMetrics() {
  if (stacks_) return {};
  FIELDCOST_ASSIGN(wall_, builder_.AddMetric({.name = "wall"}));
  FIELDCOST_ASSIGN(calls_, builder_.AddMetric({.name = "calls", .unit = tree::Unit::kCount}));
  stacks_.emplace(builder_, remarks_, wall_, calls_);
  return {};
}

// Ids may be strings, which are then names.
recording::Thread ThreadNamed(const std::string& process, const std::string& thread) {
  recording::Thread named;
  const auto number = [](const std::string& text, std::uint32_t& id, std::string& name) {
    const auto parsed = ParseUint64(text);
    if (parsed && *parsed <= UINT32_MAX) {
      id = static_cast<std::uint32_t>(*parsed);
    } else {
      name = text;
    }
  };
  number(process, named.pid, named.process);
  number(thread, named.tid, named.name);
  return named;
}

Result<std::uint32_t> Chrome::NumberOf(const Thread& thread) {
  FIELDCOST_ASSIGN(const std::uint32_t number,
                   builder_.timed().ThreadOf(fmt::format("{}\n{}", thread.first, thread.second),
                                             ThreadNamed(thread.first, thread.second)));
  numbers_.emplace(thread, number);
  return number;
}

// Names may follow the events.
void Chrome::NameThreads() {
  for (const auto& [thread, number] : numbers_) {
    recording::Thread named = builder_.timed().thread(number);
    if (const auto name = thread_names_.find(thread); name != thread_names_.end()) {
      named.name = name->second;
    }
    if (const auto name = process_names_.find(thread.first); name != process_names_.end()) {
      named.process = name->second;
    }
    builder_.timed().SetThread(number, std::move(named));
  }
}

Status Chrome::AddCall(const TraceEvent& event) {
  const bool is_interval = event.phase == "X";
  if (is_interval && !event.length_ns) {
    remarks_.Count("events without a duration, left out");
    return {};
  }
  Call call = {.begin = *event.begin_ns,
               .length = event.length_ns.value_or(0),
               .frame = {},
               .what = EventStacks::What::kEnter};
  if (event.phase == "E") {
    call.what = event.name ? EventStacks::What::kExit : EventStacks::What::kExitAny;
  }
  if (call.what != EventStacks::What::kExitAny) {
    FIELDCOST_ASSIGN(call.frame, builder_.AddFrameText(event.name.value_or("")));
  }
  shift_.Look(call.begin);
  Calls& calls = calls_of_[{event.process, event.thread}];
  (is_interval ? calls.intervals : calls.events).push_back(call);
  if (calls_of_.size() <= kMaxThreads) return {};
  return Fail(ErrorCode::kTooLarge, "there are more than {} threads", kMaxThreads);
}

void Chrome::AddName(const TraceEvent& event) {
  const Thread thread = {event.process, event.thread};
  if (event.name == "thread_name" && thread_names_.size() < kMaxThreads) {
    thread_names_.insert_or_assign(thread, event.args_name);
    own_threads_.insert_or_assign(thread, event.args_thread);
  }
  if (event.name != "process_name" || process_names_.size() == kMaxThreads) return;
  process_names_.insert_or_assign(event.process, event.args_name);
  tree::Metric metric;
  const bool has_threads = !event.args_metric.empty();
  if (!TakeMetricText(has_threads ? event.args_metric : event.args_name, metric)) return;
  metrics_.insert_or_assign(event.process, metric);
  if (has_threads) own_processes_.insert_or_assign(event.process, event.args_thread);
}

Result<std::uint32_t> Chrome::OwnNumberOf(const Thread& thread) {
  recording::Thread named;
  if (const auto own = own_threads_.find(thread); own != own_threads_.end()) named = own->second;
  const auto process = own_processes_.find(thread.first);
  if (process == own_processes_.end()) {
    builder_.timed().LeaveOut();  // its paths are laid out consecutively, not at their times
  } else {
    named.pid = process->second.pid;
    named.process = process->second.process;
  }
  return builder_.timed().ThreadOf(named);
}

Status Chrome::Add(const TraceEvent& event) {
  if (event.phase == "M") {
    AddName(event);
    return {};
  }
  if (event.phase != "B" && event.phase != "E" && event.phase != "X") {
    remarks_.Count("events of kinds other than B, E and X, left out");
    return {};
  }
  if (!event.begin_ns) {
    remarks_.Count("events whose time is missing or beyond 2^64 ns, left out");
    return {};
  }
  return AddCall(event);
}

Result<std::vector<IntervalStacks::Interval>> Chrome::IntervalsOf(
    const std::vector<Call>& calls) const {
  std::vector<IntervalStacks::Interval> intervals;
  for (const Call& call : calls) {
    FIELDCOST_ASSIGN(const std::uint64_t begin, shift_.At(call.begin));
    intervals.push_back({begin, call.length, call.frame});
  }
  return intervals;
}

// Intervals that are mixed with other events become entries and exits, enclosing ones first.
Status Chrome::AddThread(const Thread& thread, const Calls& calls) {
  FIELDCOST_TRY(NeedMetrics());
  FIELDCOST_ASSIGN(const std::uint32_t number, NumberOf(thread));
  FIELDCOST_ASSIGN(std::vector<IntervalStacks::Interval> intervals, IntervalsOf(calls.intervals));
  if (calls.events.empty()) {
    return IntervalStacks::Add(std::move(intervals), number, wall_, calls_, builder_, remarks_);
  }
  std::vector<EventStacks::Event> events;
  std::ranges::stable_sort(intervals, std::ranges::greater(), &IntervalStacks::Interval::length);
  for (const IntervalStacks::Interval& interval : intervals) {
    events.push_back({interval.begin, interval.frame, EventStacks::What::kEnter});
  }
  std::ranges::reverse(intervals);
  for (const IntervalStacks::Interval& interval : intervals) {
    std::uint64_t end = 0;
    if (__builtin_add_overflow(interval.begin, interval.length, &end)) {
      return Fail(ErrorCode::kTooLarge, "a call ends after 2^64 - 1 ns");
    }
    events.push_back({end, interval.frame, EventStacks::What::kExit});
  }
  for (const Call& call : calls.events) {
    FIELDCOST_ASSIGN(const std::uint64_t ns, shift_.At(call.begin));
    events.push_back({ns, call.frame, call.what});
  }
  return stacks_->AddInAnyOrder(number, std::move(events));
}

Status Chrome::EndEarly() {
  if (events_ == 0) return Fail(ErrorCode::kCorrupt, "it ends before the first event does");
  const bool is_in_event = events_depth_ != 0 && depth_ > events_depth_;
  remarks_.Say(fmt::format("the file ends early, as that of a program that crashed: {} {}",
                           Counted(events_, "whole event"),
                           is_in_event ? "were read, a cut one is left out" : "were read"));
  return {};
}

Result<Built> Chrome::End() {
  if (!is_found_) return Fail(ErrorCode::kCorrupt, "no events: neither an array nor traceEvents");
  if (calls_of_.empty() && metrics_.empty() && events_ != 0) {
    return Fail(ErrorCode::kCorrupt, "none of its {} is a call (B, E or X) with its times",
                Counted(events_, "event"));
  }
  for (const auto& [thread, calls] : calls_of_) {
    const auto own = metrics_.find(thread.first);
    if (own == metrics_.end() || !calls.events.empty()) {
      FIELDCOST_TRY(AddThread(thread, calls));
      continue;
    }
    FIELDCOST_ASSIGN(const std::size_t value, builder_.AddMetric(own->second));
    FIELDCOST_ASSIGN(const std::uint32_t number, OwnNumberOf(thread));
    FIELDCOST_ASSIGN(std::vector<IntervalStacks::Interval> intervals, IntervalsOf(calls.intervals));
    FIELDCOST_TRY(IntervalStacks::Add(std::move(intervals), number, value, IntervalStacks::kNoCalls,
                                      builder_, remarks_));
  }
  if (stacks_) stacks_->End();
  // Our own files may have metrics without costs.
  for (const auto& [process, metric] : metrics_) {
    FIELDCOST_TRY(builder_.AddMetric(metric));
  }
  NameThreads();
  return builder_.BuildTimed(remarks_);
}

}  // namespace

Result<Built> ImportChrome(std::string_view untrusted_json, Remarks& remarks) {
  Chrome chrome(remarks);
  FIELDCOST_ASSIGN(const bool is_whole, ReadJsonBeginning(untrusted_json, chrome));
  if (!is_whole) FIELDCOST_TRY(chrome.EndEarly());
  return chrome.End();
}

}  // namespace fieldcost::exchange
