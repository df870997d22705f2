#include "tools/analysis/idle_view.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "common/base/text.h"
#include "common/shm/log2_bucket.h"
#include "common/tree/tree.h"
#include "tools/analysis/tree_view.h"

namespace fieldcost::analysis {
namespace {

using recording::Interval;
using recording::Recording;

// Libraries whose functions wait on behalf of others.
constexpr std::array<std::string_view, 8> kWaitingLibraries = {
    "libc.so",   "libpthread.so", "libstdc++.so", "ld-linux-x86-64.so",
    "libc++.so", "librt.so",      "libuv.so",     "[vdso]"};
// Name prefixes of such functions that may be in any module: Go's runtime, the standard libraries
// of C++ and Rust, libuv and glib.
constexpr std::array<std::string_view, 16> kWaitingFunctions = {"runtime.",
                                                                "uv_",
                                                                "__gthread_",
                                                                "parking_lot",
                                                                "g_cond_",
                                                                "g_mutex_",
                                                                "g_poll",
                                                                "std::condition_variable",
                                                                "std::mutex",
                                                                "std::thread::",
                                                                "std::this_thread::",
                                                                "std::unique_lock",
                                                                "std::future",
                                                                "std::sync::",
                                                                "std::sys",
                                                                "std::_"};

Status Add(std::uint64_t amount, std::uint64_t& sum) {
  if (!__builtin_add_overflow(sum, amount, &sum)) return {};
  return Fail(ErrorCode::kTooLarge, "idle time exceeds 64 bits");
}

std::optional<std::size_t> MetricNamed(const Recording& recording, std::string_view name) {
  return tree::FindMetric(recording.contents().descriptions.metrics, name);
}

class ViewMaker {
 public:
  ViewMaker(const Recording& recording, IdleView& view)
      : recording_(recording), dictionary_(recording.dictionary()), view_(view) {}

  Status AddPart(const Interval& part) {
    FIELDCOST_ASSIGN(const tree::RunValues values, recording_.Values(part));
    FIELDCOST_TRY(ForEachValue(values, idle::kCpuIdle, &ViewMaker::AddIdle));
    FIELDCOST_TRY(ForEachValue(values, idle::kStatIdle, &ViewMaker::AddStat));
    FIELDCOST_TRY(ForEachValue(values, idle::kPairs, &ViewMaker::AddPairNs));
    FIELDCOST_TRY(ForEachValue(values, idle::kPairTicks, &ViewMaker::AddPairTicks));
    const auto& streams = recording_.contents().descriptions.streams;
    for (std::size_t i = 0; i < streams.size(); ++i) {
      const recording::StreamId stream(static_cast<std::uint16_t>(i));
      FIELDCOST_TRY(AddPeriods(stream, streams[i].metrics, part));
    }
    return {};
  }

  void Finish() {
    for (auto& [number, cpu] : cpus_) view_.cpus.push_back(cpu);
    for (auto& [path, pair] : pairs_) {
      std::ranges::sort(pair.lengths, {}, &LengthCount::slot);
      view_.pairs.push_back(std::move(pair));
    }
    std::ranges::sort(view_.pairs, [](const IdlePair& one, const IdlePair& other) {
      return std::tie(other.ns, one.path) < std::tie(one.ns, other.path);
    });
  }

 private:
  Status ForEachValue(const tree::RunValues& values, std::string_view metric,
                      Status (ViewMaker::*add)(tree::PathId, std::uint64_t)) {
    const auto index = MetricNamed(recording_, metric);
    if (!index) return {};
    const std::span<const std::uint64_t> column = values.column(*index);
    for (std::uint32_t path = 0; path < column.size(); ++path) {
      if (column[path] != 0) FIELDCOST_TRY((this->*add)(tree::PathId(path), column[path]));
    }
    return {};
  }

  static Status AddTo(std::size_t why, std::uint64_t ns, CpuIdle& cpu) {
    FIELDCOST_TRY(Add(ns, cpu.idle_ns));
    cpu.by_why.at(why) += ns;  // at most the sum
    if (why != kUnknownWhy && idle::HasStack(static_cast<idle::Why>(why))) cpu.explained_ns += ns;
    return {};
  }

  CpuIdle* Find(const std::optional<std::uint32_t>& number) {
    if (!number) return nullptr;
    CpuIdle& cpu = cpus_[*number];
    cpu.cpu = *number;
    return &cpu;
  }

  Status AddIdle(tree::PathId path, std::uint64_t ns) {
    const auto [number, why] = CpuWhyOf(dictionary_, path);
    FIELDCOST_TRY(AddTo(why, ns, view_.all));
    CpuIdle* const cpu = Find(number);
    return cpu != nullptr ? AddTo(why, ns, *cpu) : Add(ns, view_.no_cpu_ns);
  }

  Status AddStat(tree::PathId path, std::uint64_t ns) {
    for (CpuIdle* const cpu : {Find(CpuWhyOf(dictionary_, path).cpu), &view_.all}) {
      if (cpu == nullptr) continue;
      if (!cpu->stat_idle_ns) cpu->stat_idle_ns = 0;
      FIELDCOST_TRY(Add(ns, *cpu->stat_idle_ns));
    }
    return {};
  }

  Status AddPairNs(tree::PathId path, std::uint64_t ns) {
    FIELDCOST_TRY(Add(ns, PairOf(path).ns));
    return Add(ns, view_.all_pairs.ns);
  }

  Status AddPairTicks(tree::PathId path, std::uint64_t ticks) {
    FIELDCOST_TRY(Add(ticks, PairOf(path).ticks));
    return Add(ticks, view_.all_pairs.ticks);
  }

  IdlePair& PairOf(tree::PathId path) {
    IdlePair& pair = pairs_[path.value()];
    pair.path = path;
    return pair;
  }

  Status AddPeriods(recording::StreamId stream, const std::vector<std::uint16_t>& metrics,
                    const Interval& part) {
    const auto metric = MetricNamed(recording_, idle::kPairs);
    const auto found = metric ? std::ranges::find(metrics, *metric) : metrics.end();
    if (found == metrics.end()) return {};
    const auto place = static_cast<std::size_t>(found - metrics.begin());
    return recording_.ForEachSample(
        stream, part,
        [&](std::uint64_t, std::uint32_t path, std::span<const std::uint64_t> values) {
          AddPeriod(path, values[place]);
        });
  }

  void AddPeriod(std::uint32_t path, std::uint64_t ns) {
    for (IdlePair* const one : {&PairOf(tree::PathId(path)), &view_.all_pairs}) {
      ++one->periods;
      const unsigned slot = shm::SlotOf(ns);
      const auto length = std::ranges::find(one->lengths, slot, &LengthCount::slot);
      if (length != one->lengths.end()) {
        ++length->count;
      } else {
        one->lengths.push_back({.slot = slot, .count = 1});
      }
    }
  }

  const Recording& recording_;
  const tree::Dictionary& dictionary_;
  IdleView& view_;
  std::map<std::uint32_t, CpuIdle> cpus_;
  std::unordered_map<std::uint32_t, IdlePair> pairs_;
};

bool WaitsForOthers(const tree::Frame& frame) {
  if (std::ranges::find(kWaitingLibraries, frame.module) != kWaitingLibraries.end()) return true;
  return std::ranges::any_of(kWaitingFunctions, [&](std::string_view beginning) {
    return frame.kind == tree::FrameKind::kFunction && frame.function.starts_with(beginning);
  });
}

// How well a function identifies the waiting code; higher is better.
int Worth(const tree::Frame& frame) {
  if (WaitsForOthers(frame)) return 0;
  return frame.kind == tree::FrameKind::kFunction ? 2 : 1;
}

}  // namespace

std::optional<idle::About> IdleAbout(const Recording& recording) {
  const auto metric = MetricNamed(recording, idle::kCpuIdle);
  if (!metric) return std::nullopt;
  for (const recording::Stream& stream : recording.contents().descriptions.streams) {
    if (std::ranges::find(stream.metrics, *metric) == stream.metrics.end()) continue;
    if (stream.kind != recording::StreamKind::kIdle) continue;
    if (auto about = idle::ParseAbout(stream.name)) return about;
  }
  return std::nullopt;
}

Result<IdleView> MakeIdleView(const Recording& recording, std::span<const Interval> parts) {
  const auto about = IdleAbout(recording);
  if (!about) {
    return Fail(ErrorCode::kInvalidArgument,
                "it does not record why CPUs were idle: another kind of "
                "recording");
  }
  IdleView view{.dictionary = recording.contents().dictionary, .about = *about};
  ViewMaker maker(recording, view);
  for (const Interval& part : parts) FIELDCOST_TRY(maker.AddPart(part));
  maker.Finish();
  std::ranges::sort(view.all_pairs.lengths, {}, &LengthCount::slot);
  return view;
}

CpuWhy CpuWhyOf(const tree::Dictionary& dictionary, tree::PathId path) {
  CpuWhy result;
  const std::size_t depth = dictionary.paths.depth(path);
  if (depth == 2 && dictionary.frame(path).kind == tree::FrameKind::kSpecial) {
    const auto why = idle::WhyOf(dictionary.frame(path).function);
    if (why) result.why = static_cast<std::size_t>(*why);
  }
  for (std::size_t i = 1; i < depth; ++i) path = dictionary.paths.parent(path);
  if (depth != 0) result.cpu = idle::CpuOf(dictionary.frame(path));
  return result;
}

std::string WhyText(std::size_t why) {
  if (why >= kUnknownWhy) return "unknown";
  std::string_view name = idle::FrameName(static_cast<idle::Why>(why));
  name.remove_prefix(1);
  name.remove_suffix(1);
  return std::string(name);
}

Doing DoingOf(const tree::Dictionary& dictionary, std::span<const tree::FrameId> part) {
  Doing doing;
  int worth = -1;
  for (std::size_t i = part.size(); i-- > 0;) {
    const tree::Frame& frame = dictionary.frames.frame(part[i]);
    if (frame.kind == tree::FrameKind::kSpecial) {
      if (i + 1 == part.size()) doing.what = part[i];
      continue;
    }
    if (Worth(frame) <= worth) continue;
    doing.who = part[i];
    worth = Worth(frame);
  }
  return doing;
}

std::string DoingText(const tree::Dictionary& dictionary, const Doing& doing) {
  const std::string who = doing.who ? NameOf(dictionary.frames.frame(*doing.who)) : "";
  if (!doing.what) return who;
  const std::string& what = dictionary.frames.frame(*doing.what).function;
  if (who.empty()) return what;
  const auto why = idle::WhyOf(what);
  return (why ? WhyText(static_cast<std::size_t>(*why)) : what) + ": " + who;
}

}  // namespace fieldcost::analysis
