// Writes Chrome's trace events: one X event per path and one process per metric, since a tree has
// no time axis. If the tree is divided by thread: one process per metric and process, with the
// process's threads.
#include <fmt/format.h>

#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "common/base/text.h"
#include "tools/exchange/exchange.h"
#include "tools/exchange/exchange_limits.h"
#include "tools/exchange/exporters.h"
#include "tools/exchange/frame_text.h"
#include "tools/exchange/json_array.h"

namespace fieldcost::exchange {
namespace {

constexpr unsigned kDecimals = 3;  // for ns in us

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

void Separate(std::string& json) {
  if (json.back() == '}') json += ",\n";
}

// "app 7: wall ns exact", or only the metric; members of `args` other than the name are our own.
void AppendProcessName(const recording::Thread& of, const std::string& metric,
                       const Numbers::Place& place, std::string& json) {
  const std::string process = NameText(of.process);
  std::string name = process;
  if (of.pid != 0) name += (name.empty() ? "" : " ") + std::to_string(of.pid);
  name += (name.empty() ? "" : ": ") + metric;
  Separate(json);
  json += fmt::format(
      "{{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":{},\"tid\":{},\"args\":"
      "{{\"name\":{},\"metric\":{},\"process\":{},\"pid\":{}}}}}",
      place.process, place.thread, QuoteJson(name), QuoteJson(metric), QuoteJson(process), of.pid);
}

void AppendThreadName(const recording::ThreadFrame& of, const Numbers::Place& place,
                      std::string& json) {
  Separate(json);
  json += fmt::format(
      "{{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":{},\"tid\":{},\"args\":"
      "{{\"name\":{},\"thread\":{},\"tid\":{}}}}}",
      place.process, place.thread, QuoteJson(of.label.empty() ? tree::kCut : NameText(of.label)),
      QuoteJson(NameText(of.thread.name)), of.thread.tid);
}

// The costs of one metric, [node].
struct Sums {
  std::vector<std::uint64_t> self;
  std::vector<std::uint64_t> inclusive;
};

// Each path is one call with the duration of its inclusive sum. Its callees are laid out
// consecutively from its beginning.
Status AppendEvents(const ExportView& view, const ExportView::Group& group, const Sums& sums,
                    const std::vector<std::string>& names, const Numbers::Place& place,
                    std::vector<std::uint64_t>& next, std::string& json) {
  const auto append = [&](const std::string& name, std::uint64_t begin, std::uint64_t length) {
    Separate(json);
    json += fmt::format("{{\"name\":{},\"ph\":\"X\",\"ts\":{},\"dur\":{},\"pid\":{},\"tid\":{}}}",
                        name, DecimalText(begin, kDecimals), DecimalText(length, kDecimals),
                        place.process, place.thread);
  };
  for (const std::uint32_t node : group.nodes) {
    if (node == group.root || sums.inclusive[node] == 0) continue;
    const ExportView::Node& at = view.nodes()[node];
    const std::uint64_t begin = next[at.parent];
    next[node] = begin;
    next[at.parent] += sums.inclusive[node];
    append(names[at.frame], begin, sums.inclusive[node]);
    if (json.size() > kMaxExportBytes) {
      return Fail(ErrorCode::kTooLarge, "more than {} bytes", kMaxExportBytes);
    }
  }
  // Costs that belong to no path.
  const std::uint64_t rest = sums.self[group.root];
  if (rest != 0) append(QuoteJson(tree::kCut), next[group.root], rest);
  return {};
}

// One process per metric, or per metric and process if the tree is divided.
Status AppendMetric(const ExportView& view, std::size_t metric,
                    const std::vector<std::string>& names, Numbers& numbers, std::string& json) {
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
      Separate(json);
      json += fmt::format(
          "{{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":{},\"tid\":1,\"args\":"
          "{{\"name\":{}}}}}",
          place.process, QuoteJson(text));
      return AppendEvents(view, group, sums, names, place, next, json);
    }
    const Numbers::Place place = numbers.Of(metric, is_main, group.thread.thread);
    if (place.is_new_process) AppendProcessName(group.thread.thread, text, place, json);
    AppendThreadName(group.thread, place, json);
    FIELDCOST_TRY(AppendEvents(view, group, sums, names, place, next, json));
  }
  return {};
}

}  // namespace

Result<std::string> ExportChrome(const ExportView& view) {
  std::vector<std::string> names;
  for (const tree::Frame* frame : view.frames()) names.push_back(QuoteJson(FrameText(*frame)));
  std::string json = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  Numbers numbers(view);
  for (std::size_t metric = 0; metric < view.metrics().size(); ++metric) {
    FIELDCOST_TRY(AppendMetric(view, metric, names, numbers, json));
  }
  json += "\n]}\n";
  return json;
}

}  // namespace fieldcost::exchange
