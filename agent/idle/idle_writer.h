#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/perf/stack_paths.h"
#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/idle/idle_schema.h"
#include "common/idle/pair_path.h"
#include "common/recording/recording_writer.h"
#include "common/tree/tree_dictionary.h"

namespace fieldcost::idle_agent {

// Identifies a stack that was added to the writer.
using StackId = StrongId<struct StackIdTag, std::uint32_t>;

// A period in which a CPU had nothing to do. All times are CLOCK_MONOTONIC.
struct Idle {
  std::uint32_t cpu = 0;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;                  // not before the begin
  std::optional<StackId> to;                 // of the last monitored thread that ran there
  idle::Why why = idle::Why::kNotMonitored;  // if there is no stack
};

// What made a thread runnable.
struct Waker {
  std::optional<StackId> stack;
  const char* special = nullptr;  // if there is no stack: kInterrupt etc. (pair_path.h)
};

// Writes a recording of idle CPUs (common/idle). Frames have no names until Close(). Movable; not
// thread-safe.
class IdleWriter {
 public:
  struct Options {
    idle::About about;
    bool sampled = false;  // ns are whole ticks, and no more exact than that
  };
  // Creates the file, replacing an existing one. Returns the errors of recording::Writer.
  static Result<IdleWriter> Create(const std::filesystem::path& file, const Options& options);

  Status BeginRun(std::string_view command);
  Status EndRun(int exit_status);

  // Adds the stack of a thread that left its CPU, and the reason why it did. Equal stacks have the
  // same id. Once the dictionary is full, adds [other]. REQUIRES: `modules` is one growing list per
  // run.
  Result<StackId> AddStack(const std::vector<perf::SampledFrame>& frames, unwind::StackEnd end,
                           idle::Why why, const std::vector<perf::SampledModule>& modules);
  // Adds the stack of a waker, which was running.
  Result<StackId> AddRunning(const std::vector<perf::SampledFrame>& frames, unwind::StackEnd end,
                             const std::vector<perf::SampledModule>& modules);

  // Adds a placeholder for a stack: kNewThread and the like (pair_path.h).
  Result<StackId> AddSpecial(const char* name) { return Intern(Special(name), std::nullopt); }

  // Adds a period. REQUIRES: per CPU, in ascending order of end. A period has as many ticks as
  // multiples of the tick lie in it.
  Status Take(const Idle& idle);
  // Records that a monitored thread resumes there, the first one after the idle periods since the
  // previous call; `from` is the stack at which it had waited.
  Status GoesOn(std::uint32_t cpu, StackId from, const Waker& waker);
  // Takes the CPU's idle and iowait time in /proc/stat since the previous call or the start of the
  // run.
  Status TakeStatIdle(std::uint32_t cpu, std::uint64_t time_ns, std::uint64_t idle_ns);

  Status SetCount(std::string_view name, std::uint64_t value) {
    return writer_.SetCount(name, value);
  }
  Status Flush() { return writer_.Flush(); }
  // Ends open idle periods without a thread that resumes, then writes names unless `unnamed`.
  Status Close(bool unnamed = false);

  std::uint64_t tick_ns() const { return options_.about.tick_ns; }
  std::uint64_t idle_ns() const { return idle_ns_; }            // so far, of all CPUs
  std::uint64_t explained_ns() const { return explained_ns_; }  // with a to-idle stack
  // Idle time that was left out because it passed before this run began.
  std::uint64_t before_run_ns() const { return before_run_ns_; }

 private:
  struct Stack {
    std::vector<tree::FrameId> frames;
    tree::PathId path;
    idle::Why why = idle::Why::kLost;
  };
  // The values of a stream: ns and ticks.
  using Values = std::array<std::uint64_t, 2>;
  // Idle time after which no monitored thread has resumed yet.
  struct Pending {
    std::optional<StackId> to;
    std::uint64_t end_ns = 0;
    Values values{};
    bool is_lost = false;
  };

  IdleWriter(std::unique_ptr<tree::Dictionary> dictionary, recording::Writer writer,
             std::filesystem::path file, Options options, std::uint64_t begin_ns);
  Status AddStreams();
  Result<recording::StreamId> AddStream(const char* name, const char* ticks_name);
  Result<StackId> Intern(Result<std::vector<tree::FrameId>> frames, std::optional<idle::Why> why);
  Result<tree::PathId> PathOf(const std::vector<tree::FrameId>& frames);
  Result<std::vector<tree::FrameId>> Special(const char* name);
  Status TakePair(const Pending& pending, const std::vector<tree::FrameId>& from,
                  const std::vector<tree::FrameId>& waker);
  Idle InRun(Idle idle);
  Status TakeOfCpu(const Idle& idle, idle::Why why, std::uint64_t length_ns);
  Status Append(recording::StreamId stream, std::uint64_t time_ns, tree::PathId path,
                std::span<const std::uint64_t> values);
  // Converts a time to the recording's time.
  std::uint64_t At(std::uint64_t time_ns) const { return time_ns - std::min(time_ns, begin_ns_); }

  std::unique_ptr<tree::Dictionary> dictionary_;  // the writer points to it
  perf::StackPaths paths_;
  recording::Writer writer_;
  std::filesystem::path file_;
  Options options_;
  std::uint64_t begin_ns_;
  recording::StreamId to_, from_, pairs_, cpus_, stat_;
  std::uint32_t run_ = 0;
  std::uint64_t run_begin_ns_ = 0;
  std::uint64_t last_ns_ = 0;
  std::vector<Stack> stacks_;
  std::map<tree::PathId, StackId> stack_of_;
  std::map<std::uint32_t, std::vector<Pending>> pending_;  // by CPU
  std::uint64_t idle_ns_ = 0;
  std::uint64_t explained_ns_ = 0;
  std::uint64_t before_run_ns_ = 0;
};

}  // namespace fieldcost::idle_agent
