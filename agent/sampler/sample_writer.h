#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "agent/sampler/sampler.h"
#include "agent/sampler/stack_paths.h"
#include "common/recording/writer.h"
#include "common/tree/dictionary.h"

namespace fieldcost::sampler {

// Samples into a recording, run after run. Frames are without names ("libz.so+0x12f0"), so that
// nothing is looked up while the program runs; what is written is good after any end of this
// process. Moves; not thread-safe.
class SampleWriter {
 public:
  static constexpr char kCpu[] = "cpu";         // ns, sampled
  static constexpr char kOffCpu[] = "off-cpu";  // ns in which threads had no CPU

  // Makes the file, with a metric a counter, sampled. Errors of recording::Writer.
  static Result<SampleWriter> Create(const std::filesystem::path& file, std::uint64_t period_ns,
                                     const std::vector<Counter>& counters);

  Status BeginRun(std::string_view command);
  // Adds a sample to the run that is on. Beyond what a dictionary holds, its path is [other].
  Status Take(const Sample& sample, const std::vector<SampledModule>& modules, ThreadList& threads);
  Status EndRun(int exit_status, const SamplerCounts& counts);

  // The paths, for others who write into the same recording.
  StackPaths& paths() { return paths_; }
  Status Append(recording::StreamId stream, std::uint64_t time_ns, tree::PathId path,
                std::span<const std::uint64_t> values,
                recording::ThreadId thread = recording::kNoThread);
  std::uint64_t Now() const;  // in the recording
  recording::Writer& writer() { return writer_; }
  tree::Dictionary& dictionary() { return *dictionary_; }
  // The recording's number of the thread with this index in the list.
  recording::ThreadId ThreadAt(std::uint32_t index, const ThreadList& threads);

  // Waits that end after that (CLOCK_MONOTONIC) are held back, as others may still come that end
  // before them.
  Status Flush(std::uint64_t waits_until_ns);
  Status Close() { return writer_.Close(); }

  const std::vector<Place>& places() const { return paths_.places(); }

 private:
  SampleWriter(std::unique_ptr<tree::Dictionary> dictionary, recording::Writer writer,
               std::uint64_t begin_ns)
      : dictionary_(std::move(dictionary)),
        paths_(*dictionary_),
        writer_(std::move(writer)),
        begin_ns_(begin_ns) {}

  struct Wait {
    std::uint64_t end_ns = 0;  // in the recording
    std::uint64_t length_ns = 0;
    tree::PathId path;
    recording::ThreadId thread;
  };
  Status AddCounter(Counter counter, std::uint64_t period_ns);
  void TakeWait(const Sample& sample, tree::PathId path, recording::ThreadId thread);
  Status PutWaits(std::uint64_t until_ns);
  recording::ThreadId ThreadOf(const Sample& sample, ThreadList& threads);
  Result<tree::PathId> PathOf(const Sample& sample, const std::vector<SampledModule>& modules);

  std::unique_ptr<tree::Dictionary> dictionary_;  // the writer points to it
  StackPaths paths_;
  recording::Writer writer_;
  std::uint64_t begin_ns_;  // CLOCK_MONOTONIC
  recording::StreamId samples_;
  recording::StreamId waits_;
  std::vector<recording::StreamId> counters_;
  std::vector<std::optional<recording::ThreadId>> threads_;  // of this run, by ThreadList
  std::uint32_t run_ = 0;
  std::uint64_t run_begin_ns_ = 0;  // in the recording
  std::vector<Wait> held_back_;
  std::uint64_t last_ns_ = 0;  // of what was appended
  std::map<std::string, std::uint64_t> counts_;
};

}  // namespace fieldcost::sampler
