// Reads Chrome's trace events, alone or in {"traceEvents": [...]}:
//   {"ph": "B", "ts": 1.5, "pid": 1, "tid": 7, "name": "f"}
// B and E enter and leave a function, X has done both after its "dur"; times are in µs.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/text.h"
#include "tools/exchange/event_stacks.h"
#include "tools/exchange/frame_text.h"
#include "tools/exchange/importers.h"
#include "tools/exchange/json_reader.h"
#include "tools/exchange/limits.h"

namespace fieldcost::exchange {
namespace {

constexpr unsigned kDecimals = 3;  // from us to ns

struct TraceEvent {
  std::optional<std::string> name;
  std::string phase;
  std::string process;
  std::string thread;
  std::optional<std::uint64_t> begin_ns;
  std::optional<std::uint64_t> length_ns;
  std::string args_name;  // what a process, or thread, is called
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
    if (is_event) return Add(event_);
    return {};
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
    if (key_ == "ts") event_.begin_ns = ScaledNumber(untrusted_digits, kDecimals);
    if (key_ == "dur") event_.length_ns = ScaledNumber(untrusted_digits, kDecimals);
    return Place(untrusted_digits);
  }
  Status Other() override { return {}; }

  Result<Built> End();

 private:
  using Thread = std::pair<std::string, std::string>;  // and its process before it

  bool InEvent() const { return events_depth_ != 0 && depth_ == events_depth_ + 1; }
  bool InArgs() const {
    return events_depth_ != 0 && depth_ == events_depth_ + 2 && key_ == "args";
  }

  void TakeArgument(std::string_view untrusted_text) {
    if (args_key_ == "name") event_.args_name = untrusted_text;
    if (args_key_ == "metric") event_.args_metric = untrusted_text;
    if (args_key_ == "process") event_.args_thread.process = untrusted_text;
    if (args_key_ == "thread") event_.args_thread.name = untrusted_text;
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
  Status AddInterval(const TraceEvent& event);
  Status NeedMetrics();
  Result<std::uint32_t> NumberOf(const Thread& thread);
  void AddName(const TraceEvent& event);
  // The number of a thread whose process fieldcost wrote.
  Result<std::uint32_t> OwnNumberOf(const Thread& thread);
  void NameThreads();

  Remarks& remarks_;
  TreeBuilder builder_;
  std::optional<EventStacks> stacks_;
  std::size_t wall_ = 0;
  std::size_t calls_ = 0;
  std::map<Thread, std::vector<IntervalStacks::Interval>> intervals_;
  std::set<Thread> with_events_;
  std::map<std::string, tree::Metric> metrics_;  // of processes that we wrote
  std::map<std::string, recording::Thread> own_processes_;
  std::map<Thread, recording::Thread> own_threads_;
  std::map<Thread, std::uint32_t> numbers_;
  std::map<Thread, std::string> thread_names_;
  std::map<std::string, std::string> process_names_;

  std::size_t depth_ = 0;
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

// Ids may be texts: then they are names.
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

// Names may stand behind the events.
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

Status Chrome::AddInterval(const TraceEvent& event) {
  if (!event.length_ns) {
    remarks_.Count("events without a duration, left out");
    return {};
  }
  FIELDCOST_ASSIGN(const tree::FrameId frame, builder_.AddFrameText(event.name.value_or("")));
  intervals_[{event.process, event.thread}].push_back({*event.begin_ns, *event.length_ns, frame});
  if (intervals_.size() <= kMaxThreads) return {};
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
    builder_.timed().LeaveOut();  // its paths stand one behind the other, whenever they were
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
  const bool is_enter = event.phase == "B";
  if (!is_enter && event.phase != "E" && event.phase != "X") {
    remarks_.Count("events of kinds other than B, E and X, left out");
    return {};
  }
  if (!event.begin_ns) {
    remarks_.Count("events whose time is missing, negative or above 2^64 ns, left out");
    return {};
  }
  if (event.phase == "X") return AddInterval(event);
  FIELDCOST_TRY(NeedMetrics());
  const Thread thread = {event.process, event.thread};
  with_events_.insert(thread);
  tree::FrameId frame;
  if (is_enter || event.name) {
    FIELDCOST_ASSIGN(frame, builder_.AddFrameText(event.name.value_or("")));
  }
  FIELDCOST_ASSIGN(const std::uint32_t number, NumberOf(thread));
  if (is_enter) return stacks_->Enter(number, *event.begin_ns, frame);
  return stacks_->Exit(number, *event.begin_ns, frame, !event.name);
}

Result<Built> Chrome::End() {
  if (!is_found_) return Fail(ErrorCode::kCorrupt, "no events: neither an array nor traceEvents");
  if (stacks_) stacks_->End();
  for (auto& [thread, intervals] : intervals_) {
    if (with_events_.contains(thread)) {
      remarks_.Count("threads with both X and B or E, the latter taken for another thread's");
    }
    std::size_t value = 0;
    std::size_t calls = IntervalStacks::kNoCalls;
    std::uint32_t number = 0;
    if (const auto own = metrics_.find(thread.first); own != metrics_.end()) {
      FIELDCOST_ASSIGN(value, builder_.AddMetric(own->second));
      FIELDCOST_ASSIGN(number, OwnNumberOf(thread));
    } else {
      FIELDCOST_TRY(NeedMetrics());
      value = wall_;
      calls = calls_;
      FIELDCOST_ASSIGN(number, NumberOf(thread));
    }
    FIELDCOST_TRY(
        IntervalStacks::Add(std::move(intervals), number, value, calls, builder_, remarks_));
  }
  // What we wrote may have metrics in which nothing cost anything.
  for (const auto& [process, metric] : metrics_) {
    FIELDCOST_TRY(builder_.AddMetric(metric));
  }
  NameThreads();
  return builder_.BuildTimed(remarks_);
}

}  // namespace

Result<Built> ImportChrome(std::string_view untrusted_json, Remarks& remarks) {
  Chrome chrome(remarks);
  FIELDCOST_TRY(ReadJson(untrusted_json, chrome));
  return chrome.End();
}

}  // namespace fieldcost::exchange
