#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "common/base/check.h"
#include "common/idle/idle_schema.h"
#include "common/idle/pair_path.h"
#include "common/recording/recording_writer.h"
#include "tests/tools/analysis/trees.h"

namespace fieldcost::testing {

// A period in which a CPU was idle, as text: frames from the outermost on, separated by ';',
// "app!main;app!wait;[lock]". A to-idle stack that is only "[not monitored]" or similar has no
// from-idle stack.
struct IdlePeriod {
  std::uint32_t cpu = 0;
  std::uint64_t from_ns = 0;
  std::uint64_t to_ns = 0;
  std::string to;
  std::string from = {};
  std::string waker = {};
};

// Writes a recording of idle CPUs as described in common/idle/README.md. Periods must be added in
// the order of their ends. Any failure ends the test program.
class IdleRecorder {
 public:
  explicit IdleRecorder(const std::filesystem::path& file,
                        const idle::About& about = {.mode = idle::Mode::kBpf,
                                                    .tick_ns = 2'000'000,
                                                    .why = "a test"})
      : tick_ns_(about.tick_ns),
        writer_(recording::Writer::Create(file, dictionary_, {}).value()),
        to_(Stream(idle::kToIdle, {idle::kToIdle, idle::kToIdleTicks})),
        from_(Stream(idle::kFromIdle, {idle::kFromIdle, idle::kFromIdleTicks})),
        pairs_(Stream(idle::kPairs, {idle::kPairs, idle::kPairTicks})),
        cpus_(Stream(idle::EncodeAbout(about), {idle::kCpuIdle})),
        stat_(Stream("proc-stat", {idle::kStatIdle})) {}

  void BeginRun(std::uint64_t time_ns) { run_ = writer_.BeginRun(time_ns, "app", "").value(); }
  void EndRun(std::uint64_t time_ns) { Must(writer_.EndRun(run_, time_ns, 0)); }

  void Add(const IdlePeriod& period) {
    const std::vector<tree::FrameId> to = Part(period.to);
    const std::uint64_t ns = period.to_ns - period.from_ns;
    const std::array<std::uint64_t, 2> values = {
        ns, period.to_ns / tick_ns_ - period.from_ns / tick_ns_};
    AppendOne(cpus_, period.to_ns, PathOf({Intern(idle::CpuFrame(period.cpu)), to.back()}), ns);
    const auto why = idle::WhyOf(dictionary_.frames.frame(to.back()).function);
    if (why && !idle::HasStack(*why)) return;
    const idle::PairPath pair{.to = to, .from = Part(period.from), .waker = Part(period.waker)};
    Must(writer_.Append(to_, period.to_ns, PathOf(pair.to), values));
    if (!pair.from.empty()) Must(writer_.Append(from_, period.to_ns, PathOf(pair.from), values));
    Must(writer_.Append(pairs_, period.to_ns, idle::InternPair(pair, dictionary_).value(), values));
  }

  void AddStat(std::uint32_t cpu, std::uint64_t time_ns, std::uint64_t ns) {
    AppendOne(stat_, time_ns, PathOf({Intern(idle::CpuFrame(cpu))}), ns);
  }
  // Accepts any path, since foreign files may contain any.
  void AddCpuIdle(const std::string& path, std::uint64_t time_ns, std::uint64_t ns) {
    AppendOne(cpus_, time_ns, PathOf(Part(path)), ns);
  }

  recording::Writer& writer() { return writer_; }
  void Close() { Must(writer_.Close()); }

 private:
  static void Must(const Status& status) { FIELDCOST_CHECK(status.has_value()); }

  recording::StreamId Stream(const std::string& name, const std::vector<std::string>& metrics) {
    recording::Stream stream{.kind = recording::StreamKind::kIdle, .name = name};
    for (const std::string& metric : metrics) {
      const tree::Unit unit =
          metric.ends_with("ticks") ? tree::Unit::kCount : tree::Unit::kNanoseconds;
      stream.metrics.push_back(writer_.AddMetric({.name = metric, .unit = unit}).value());
    }
    return writer_.AddStream(stream).value();
  }

  tree::FrameId Intern(const tree::Frame& frame) {
    return dictionary_.frames.Intern(frame).value();
  }

  std::vector<tree::FrameId> Part(const std::string& text) {
    std::vector<tree::FrameId> part;
    std::istringstream frames(text);
    for (std::string frame; std::getline(frames, frame, ';');) {
      part.push_back(Intern(WrittenFrame(frame)));
    }
    return part;
  }

  tree::PathId PathOf(const std::vector<tree::FrameId>& frames) {
    tree::PathId path = tree::kRootPath;
    for (const tree::FrameId frame : frames) {
      path = dictionary_.paths.Intern(path, frame).value();
    }
    return path;
  }

  void AppendOne(recording::StreamId stream, std::uint64_t time_ns, tree::PathId path,
                 std::uint64_t value) {
    Must(writer_.Append(stream, time_ns, path, {&value, 1}));
  }

  std::uint64_t tick_ns_;
  tree::Dictionary dictionary_;
  recording::Writer writer_;
  recording::StreamId to_;
  recording::StreamId from_;
  recording::StreamId pairs_;
  recording::StreamId cpus_;
  recording::StreamId stat_;
  std::uint32_t run_ = 0;
};

}  // namespace fieldcost::testing
