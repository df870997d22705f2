// Writes Chrome's trace events: one X event per path and one process per metric, since a tree has
// no time axis. If the tree is divided by thread: one process per metric and process, with the
// process's threads.
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "common/base/json_writer.h"
#include "tools/exchange/exchange.h"
#include "tools/exchange/exchange_limits.h"
#include "tools/exchange/exporters.h"
#include "tools/exchange/frame_text.h"

namespace fieldcost::exchange {
namespace {

// The ids of processes and threads in the file: the real ids where they are known and not yet used,
// so that viewers show them.
class Numbers {
 public:
  explicit Numbers(const ExportView& view) {
    for (const ExportView::Group& group : view.groups()) {
      reserved_.insert(group.thread.thread.pid);
      reserved_.insert(group.thread.thread.tid);
    }
  }

  struct Place {
    std::uint32_t process;
    std::uint32_t thread;
    bool is_new_process;
  };
  Place Of(std::size_t metric, bool is_main, const recording::Thread& thread) {
    const auto [process, is_new] =
        processes_.try_emplace(std::tuple(metric, thread.pid, thread.process), 0);
    if (is_new) process->second = Take(is_main ? thread.pid : 0, used_);
    return {process->second, Take(thread.tid, threads_[process->second]), is_new};
  }

 private:
  struct Used {
    std::set<std::uint32_t> wanted;  // reserved ids
    std::uint32_t next = 1;          // the next id that is not reserved
  };

  std::uint32_t Take(std::uint32_t wanted, Used& used) const {
    if (wanted != 0 && used.wanted.insert(wanted).second) return wanted;
    while (reserved_.contains(used.next)) ++used.next;
    return used.next++;
  }

  std::set<std::uint32_t> reserved_;
  Used used_;  // per process
  std::map<std::uint32_t, Used> threads_;
  std::map<std::tuple<std::size_t, std::uint32_t, std::string>, std::uint32_t> processes_;
};

// Begins the event that names a process or thread, up to its "args".
void BeginName(std::string_view event, const Numbers::Place& place, JsonWriter& json) {
  json.NewLine().Object().Member("name", event).Member("ph", "M");
  json.Member("pid", place.process).Member("tid", place.thread).Key("args").Object();
}

// "app 7: wall ns exact", or only the metric; members of `args` other than the name are our own.
void WriteProcessName(const recording::Thread& of, const std::string& metric,
                      const Numbers::Place& place, JsonWriter& json) {
  const std::string process = NameText(of.process);
  std::string name = process;
  if (of.pid != 0) name += (name.empty() ? "" : " ") + std::to_string(of.pid);
  name += (name.empty() ? "" : ": ") + metric;
  BeginName("process_name", place, json);
  json.Member("name", name).Member("metric", metric).Member("process", process);
  json.Member("pid", of.pid).EndObject().EndObject();
}

void WriteThreadName(const recording::ThreadFrame& of, const Numbers::Place& place,
                     JsonWriter& json) {
  BeginName("thread_name", place, json);
  json.Member("name", of.label.empty() ? tree::kCut : NameText(of.label));
  json.Member("thread", NameText(of.thread.name)).Member("tid", of.thread.tid);
  json.EndObject().EndObject();
}

// The costs of one metric, [node].
struct Sums {
  std::vector<std::uint64_t> self;
  std::vector<std::uint64_t> inclusive;
};

// Each path is one call with the duration of its inclusive sum. Its callees are laid out
// consecutively from its beginning.
Status WriteEvents(const ExportView& view, const ExportView::Group& group, const Sums& sums,
                   const std::vector<std::string>& names, const Numbers::Place& place,
                   std::vector<std::uint64_t>& next, JsonWriter& json) {
  const auto write = [&](std::string_view name, std::uint64_t begin, std::uint64_t length) {
    json.NewLine().Object().Member("name", name).Member("ph", "X");
    json.Key("ts").Microseconds(begin).Key("dur").Microseconds(length);
    json.Member("pid", place.process).Member("tid", place.thread).EndObject();
  };
  for (const std::uint32_t node : group.nodes) {
    if (node == group.root || sums.inclusive[node] == 0) continue;
    const ExportView::Node& at = view.nodes()[node];
    const std::uint64_t begin = next[at.parent];
    next[node] = begin;
    next[at.parent] += sums.inclusive[node];
    write(names[at.frame], begin, sums.inclusive[node]);
    if (json.size() > kMaxExportBytes) {
      return Fail(ErrorCode::kTooLarge, "more than {} bytes", kMaxExportBytes);
    }
  }
  // Costs that belong to no path.
  const std::uint64_t rest = sums.self[group.root];
  if (rest != 0) write(tree::kCut, next[group.root], rest);
  return {};
}

// One process per metric, or per metric and process if the tree is divided.
Status WriteMetric(const ExportView& view, std::size_t metric,
                   const std::vector<std::string>& names, Numbers& numbers, JsonWriter& json) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  Sums sums;
  FIELDCOST_ASSIGN(sums.self, view.SelfSums(metric, kMost));
  FIELDCOST_ASSIGN(sums.inclusive, view.InclusiveSums(metric, sums.self, kMost));
  const std::string text = MetricText(view.metrics()[metric]);
  const bool is_main = metric == MainMetric(view.metrics());
  std::vector<std::uint64_t> next(sums.self.size());  // where a path's next callee begins
  for (std::size_t i = view.first_group(); i < view.groups().size(); ++i) {
    const ExportView::Group& group = view.groups()[i];
    if (!view.is_divided()) {
      const Numbers::Place place = {static_cast<std::uint32_t>(metric + 1), 1, true};
      BeginName("process_name", place, json);
      json.Member("name", text).EndObject().EndObject();
      return WriteEvents(view, group, sums, names, place, next, json);
    }
    const Numbers::Place place = numbers.Of(metric, is_main, group.thread.thread);
    if (place.is_new_process) WriteProcessName(group.thread.thread, text, place, json);
    WriteThreadName(group.thread, place, json);
    FIELDCOST_TRY(WriteEvents(view, group, sums, names, place, next, json));
  }
  return {};
}

}  // namespace

Result<std::string> ExportChrome(const ExportView& view) {
  std::vector<std::string> names;
  for (const tree::Frame* frame : view.frames()) names.push_back(FrameText(*frame));
  JsonWriter json;
  json.Object().Member("displayTimeUnit", "ns").Key("traceEvents").Array();
  Numbers numbers(view);
  for (std::size_t metric = 0; metric < view.metrics().size(); ++metric) {
    FIELDCOST_TRY(WriteMetric(view, metric, names, numbers, json));
  }
  return json.NewLine().EndArray().EndObject().Take();
}

}  // namespace fieldcost::exchange
