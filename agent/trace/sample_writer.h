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

#include "agent/perf/stack_paths.h"
#include "agent/trace/sampler.h"
#include "common/recording/recording_writer.h"
#include "common/tree/tree_dictionary.h"

namespace fieldcost::trace {

// Writes samples to a recording, run after run. Frames have no names ("libz.so+0x12f0"), so that no
// names are looked up while the program runs. The file remains valid no matter how this process
// ends. Movable; not thread-safe.
class SampleWriter {
 public:
  static constexpr char kCpu[] = "cpu";         // ns, sampled
  static constexpr char kOffCpu[] = "off-cpu";  // ns in which threads had no CPU

  // Creates the file with one sampled metric per counter. Returns the errors of recording::Writer.
  static Result<SampleWriter> Create(const std::filesystem::path& file, std::uint64_t period_ns,
                                     const std::vector<perf::Counter>& counters);

  Status BeginRun(std::string_view command);
  // Adds a sample to the current run. Once the dictionary is full, its path is [other].
  Status Take(const Sample& sample, const std::vector<perf::SampledModule>& modules,
              ThreadList& threads);
  Status EndRun(int exit_status, const SamplerCounts& counts);

  // Returns the paths, for other writers to the same recording.
  perf::StackPaths& paths() { return paths_; }
  Status Append(recording::StreamId stream, std::uint64_t time_ns, tree::PathId path,
                std::span<const std::uint64_t> values,
                recording::ThreadId thread = recording::kNoThread);
  std::uint64_t Now() const;  // the recording's time
  recording::Writer& writer() { return writer_; }
  tree::Dictionary& dictionary() { return *dictionary_; }
  // Returns the recording's id of the thread with this index in the list.
  recording::ThreadId ThreadAt(std::uint32_t index, const ThreadList& threads);

  // Writes what was added, but holds back waits that end after that time (CLOCK_MONOTONIC), since
  // waits that end earlier may still arrive.
  Status Flush(std::uint64_t waits_until_ns);
  Status Close() { return writer_.Close(); }

  const std::vector<perf::Place>& places() const { return paths_.places(); }

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
  Status AddCounter(perf::Counter counter, std::uint64_t period_ns);
  void TakeWait(const Sample& sample, tree::PathId path, recording::ThreadId thread);
  Status PutWaits(std::uint64_t until_ns);
  recording::ThreadId ThreadOf(const Sample& sample, ThreadList& threads);
  Result<tree::PathId> PathOf(const Sample& sample,
                              const std::vector<perf::SampledModule>& modules);

  std::unique_ptr<tree::Dictionary> dictionary_;  // the writer points to it
  perf::StackPaths paths_;
  recording::Writer writer_;
  std::uint64_t begin_ns_;  // CLOCK_MONOTONIC
  recording::StreamId samples_;
  recording::StreamId waits_;
  std::vector<recording::StreamId> counters_;
  std::vector<std::optional<recording::ThreadId>> threads_;  // of this run, by ThreadList
  std::uint32_t run_ = 0;
  std::uint64_t run_begin_ns_ = 0;  // in the recording
  std::vector<Wait> held_back_;
  std::uint64_t last_ns_ = 0;  // time of the last appended sample
  std::map<std::string, std::uint64_t> counts_;
};

}  // namespace fieldcost::trace
