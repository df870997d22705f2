#include "agent/perf/name_frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <system_error>

#include "agent/perf/cut_counts.h"
#include "agent/symbols/name_helper.h"
#include "agent/symbols/perf_map.h"
#include "agent/symbols/symbols.h"
#include "common/base/file.h"
#include "common/recording/recording.h"
#include "common/recording/recording_writer.h"
#include "common/tree/identity.h"

namespace fieldcost::perf {
namespace {

// Returns "work(int) at app.cc:12"; without a line number, the unnamed frame.
tree::Frame NameOfBlock(const symbols::Symbols::Module& file, const symbols::SourceFrame& code,
                        const tree::Frame& unnamed) {
  if (code.function.empty() || code.line == 0) return unnamed;
  const std::string source = std::filesystem::path(code.file).filename().string();
  return tree::MakeFrame({.module = file.name,
                          .symbol = fmt::format("{} at {}:{}", code.function, source, code.line)});
}

// Returns the frame of a function without a name: the same for all its places.
tree::Frame UnnamedFunction(tree::Frame frame, const Place& place) {
  frame.offset = place.function.value_or(frame.offset);
  return frame;
}

class Namer {
 public:
  // Looks up the frame's name; returns the frame unchanged if no name is known.
  tree::Frame NameOf(const tree::Frame& frame, const Place& place) {
    const SampledModule& module = place.module;
    if (module.kind == SampledModule::Kind::kGenerated) {
      const std::string_view name = MapOf(module.pid).Find(place.address);
      return name.empty() ? tree::SpecialFrame(tree::kGenerated)
                          : tree::MakeFrame({.symbol = std::string(name)});
    }
    if (module.kind != SampledModule::Kind::kFile || module.path.empty()) return frame;
    const symbols::Symbols::Module& file =
        symbols_.ModuleOf(module.path, module.build_id, module.opened);
    // A block's address is the one to which its call of a hook returns.
    const bool is_block = place.kind == PlaceKind::kBlock;
    const std::vector<symbols::SourceFrame>& found = symbols_.FramesAt(
        module.path, module.build_id, place.address - (is_block ? 1 : 0), module.opened);
    if (found.empty() || found.back().function.empty()) {
      return is_block ? frame : UnnamedFunction(frame, place);
    }
    if (is_block) return NameOfBlock(file, found.front(), frame);
    return tree::MakeFrame({.module = file.name,
                            .symbol = found.back().function,
                            .is_local = found.back().local,
                            .source_file = found.back().file});
  }

 private:
  const symbols::PerfMap& MapOf(pid_t pid) {
    const auto known = maps_.find(pid);
    if (known != maps_.end()) return known->second;
    return maps_.emplace(pid, symbols::PerfMap::OfProcess(pid).value_or(symbols::PerfMap()))
        .first->second;
  }

  symbols::Symbols symbols_;
  std::map<pid_t, symbols::PerfMap> maps_;
};

// Returns whether this is one of the functions that Go's runtime puts at the beginning of a stack.
// They have no caller, but unwind tables do not show that. mcall switches from a waiting goroutine
// to the thread's own stack.
bool BeginsStack(const tree::Frame& frame) {
  constexpr std::array<std::string_view, 7> kFunctions = {
      "_rt0_amd64",    "_rt0_amd64_linux", "runtime.clone", "runtime.goexit",
      "runtime.mcall", "runtime.mstart",   "runtime.rt0_go"};
  constexpr std::string_view kAssembly = ".abi0";
  std::string_view name = frame.function;
  if (name.ends_with(kAssembly)) name.remove_suffix(kAssembly.size());
  return frame.kind == tree::FrameKind::kFunction &&
         std::ranges::find(kFunctions, name) != kFunctions.end();
}

struct Named {
  tree::Dictionary dictionary;
  std::vector<tree::PathId> to;  // [old path id]
  std::vector<bool> whole;       // [old path id]: was counted as cut, but is whole
  std::vector<bool> generated;   // [old path id]: ends in generated code
  NamedSamples found;
};

bool HasUnnamedPython(const tree::FrameTable& frames) {
  bool has_interpreter = false;
  for (std::uint32_t i = 0; i < frames.size(); ++i) {
    const std::string& function = frames.frame(tree::FrameId{i}).function;
    if (function.starts_with("py::")) return false;  // as Python's -X perf writes them
    has_interpreter = has_interpreter || function == "_PyEval_EvalFrameDefault";
  }
  return has_interpreter;
}

// Converts each path to named frames.
Status NamePaths(const tree::Dictionary& old, const std::vector<tree::FrameId>& frames,
                 Named& named) {
  named.to.assign(old.paths.size(), tree::kRootPath);
  named.whole.assign(old.paths.size(), false);
  named.generated.assign(old.paths.size(), false);
  const auto kind_of = [&](std::uint32_t path) -> const tree::Frame& {
    return named.dictionary.frames.frame(frames[old.paths.frames()[path]]);
  };
  for (std::uint32_t i = 1; i < old.paths.size(); ++i) {
    const std::uint32_t parent = old.paths.parents()[i];
    const tree::Frame& frame = kind_of(i);
    named.generated[i] = frame == tree::SpecialFrame(tree::kGenerated);
    named.whole[i] = named.whole[parent];
    tree::PathId caller = named.to[parent];
    const bool is_below_cut = parent != 0 && old.paths.parents()[parent] == 0 &&
                              kind_of(parent) == tree::SpecialFrame(tree::kCut);
    if (is_below_cut && BeginsStack(frame)) {
      named.whole[i] = true;
      caller = tree::kRootPath;
    }
    if (named.generated[i] && named.generated[parent]) {
      named.to[i] = caller;
      continue;
    }
    FIELDCOST_ASSIGN(named.to[i],
                     named.dictionary.paths.Intern(caller, frames[old.paths.frames()[i]]));
  }
  return {};
}

Status NameAll(const tree::Dictionary& old, const std::vector<Place>& places, Named& named) {
  Namer namer;
  std::vector<tree::FrameId> frames(old.frames.size());
  for (std::uint32_t i = 0; i < frames.size(); ++i) {
    const tree::Frame& frame = old.frames.frame(tree::FrameId{i});
    const bool has_place = i < places.size() && places[i].address != 0;
    FIELDCOST_ASSIGN(frames[i], named.dictionary.frames.Intern(
                                    has_place ? namer.NameOf(frame, places[i]) : frame));
  }
  named.found.has_unnamed_python = HasUnnamedPython(named.dictionary.frames);
  return NamePaths(old, frames, named);
}

// The number of samples that were counted as cut but are whole, by the name of the count.
using WholeSamples = std::map<std::string, std::uint64_t>;

std::string CutCountOf(const recording::Stream& stream) {
  if (stream.kind == recording::StreamKind::kWaits) return kCutWaits;
  return stream.name == kSamplesStream ? kCutSamples : kCutCounters;
}

Status CopyRuns(const recording::Descriptions& about, const WholeSamples& whole,
                recording::Writer& writer) {
  for (const recording::Run& run : about.runs) {
    FIELDCOST_ASSIGN(const std::uint32_t number,
                     writer.BeginRun(run.begin_ns, run.command, run.environment_hash));
    if (run.has_ended) FIELDCOST_TRY(writer.EndRun(number, run.end_ns, run.exit_status));
  }
  for (const recording::Count& count : about.counts) {
    const auto found = whole.find(count.name);
    const std::uint64_t less = found == whole.end() ? 0 : found->second;
    FIELDCOST_TRY(writer.SetCount(count.name, count.value - std::min(count.value, less)));
  }
  return {};
}

// The metrics' numbers in the copy; nullopt: omitted.
using MetricMap = std::vector<std::optional<std::uint16_t>>;

Result<MetricMap> CopyMetrics(const recording::Descriptions& about,
                              const std::vector<std::string>& without, recording::Writer& writer) {
  MetricMap to;
  for (const tree::Metric& metric : about.metrics) {
    to.emplace_back();
    if (std::ranges::find(without, metric.name) != without.end()) continue;
    FIELDCOST_ASSIGN(to.back(), writer.AddMetric(metric));
  }
  return to;
}

Status CopyStream(const recording::Recording& from, recording::StreamId number,
                  const MetricMap& metrics, Named& named, WholeSamples& whole,
                  recording::Writer& writer) {
  recording::Stream copy = from.contents().descriptions.streams[number.value()];
  std::vector<std::size_t> kept;  // indices of the stream's values
  std::vector<std::uint16_t> kept_metrics;
  for (std::size_t i = 0; i < copy.metrics.size(); ++i) {
    if (const auto& to = metrics[copy.metrics[i]]) {
      kept.push_back(i);
      kept_metrics.push_back(*to);
    }
  }
  if (kept.empty()) return {};
  copy.metrics = std::move(kept_metrics);
  FIELDCOST_ASSIGN(const recording::StreamId stream, writer.AddStream(copy));
  Status appended;
  std::vector<std::uint64_t> values_kept(kept.size());
  const bool is_cpu = copy.name == kSamplesStream;
  std::uint64_t& whole_here = whole[CutCountOf(copy)];
  FIELDCOST_TRY(from.ForEachThreadSample(
      number, {},
      [&](std::uint64_t time_ns, std::uint32_t path, recording::ThreadId thread,
          std::span<const std::uint64_t> values) {
        for (std::size_t i = 0; i < kept.size(); ++i) values_kept[i] = values[kept[i]];
        whole_here += named.whole[path] ? 1 : 0;
        named.found.samples += is_cpu ? 1 : 0;
        named.found.generated += is_cpu && named.generated[path] ? 1 : 0;
        named.found.whole += is_cpu && named.whole[path] ? 1 : 0;
        if (appended)
          appended = writer.Append(stream, time_ns, named.to[path], values_kept, thread);
      }));
  return appended;
}

Status Copy(const recording::Recording& from, Named& named, const std::vector<std::string>& without,
            recording::Writer& writer) {
  const recording::Descriptions& about = from.contents().descriptions;
  FIELDCOST_ASSIGN(const MetricMap metrics, CopyMetrics(about, without, writer));
  for (std::size_t i = 1; i < about.threads.size(); ++i) {
    FIELDCOST_TRY(writer.AddThread(about.threads[i]));
  }
  WholeSamples whole;
  for (std::size_t i = 0; i < about.streams.size(); ++i) {
    const recording::StreamId stream{static_cast<std::uint16_t>(i)};
    FIELDCOST_TRY(CopyStream(from, stream, metrics, named, whole, writer));
  }
  return CopyRuns(about, whole, writer);
}

}  // namespace

Result<NamedSamples> NameFrames(const std::filesystem::path& file, const std::vector<Place>& places,
                                const std::vector<std::string>& without) {
  FIELDCOST_ASSIGN(const recording::Recording from, recording::Recording::Open(file));
  Named named;
  FIELDCOST_TRY(NameAll(from.dictionary(), places, named));
  std::filesystem::path beside = file;
  beside += ".named";
  FIELDCOST_ASSIGN(recording::Writer writer,
                   recording::Writer::Create(beside, named.dictionary, from.contents().anchors));
  Status done = Copy(from, named, without, writer);
  if (done) done = writer.Close();
  std::error_code error;
  if (done) {
    std::filesystem::rename(beside, file, error);
    if (!error) return named.found;
    done = ErrnoError("rename", beside, error.value());
  }
  std::filesystem::remove(beside, error);
  return done.error();
}

std::optional<int> UseNameHelpers(int argc, char** argv) {
  if (const auto status = symbols::ServeNamesIfAsked(argc, argv)) return status;
  symbols::ReadNamesInHelpers();
  return std::nullopt;
}

}  // namespace fieldcost::perf
