#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/base/result.h"
#include "common/recording/descriptions.h"
#include "common/recording/threads.h"
#include "common/tree/tree_dictionary.h"
#include "common/tree/tree_metric.h"

namespace fieldcost::exchange {

class Remarks;

// Collects imported data with times and threads into a recording. Times are ns of any clock; the
// recording begins at the first one. Not thread-safe.
class TimedSamples {
 public:
  // Maximum number of additional parts for costs that last long: enough for 18 hours in a small
  // file, and more in proportion to its samples, so that memory is bounded by the file's size.
  static constexpr std::uint64_t MostExtraParts(std::size_t samples) {
    return std::min<std::uint64_t>(65'536 + 256 * std::uint64_t{samples}, 1'000'000);
  }

  // The number of a thread, the same for equal keys; named as in the first call unless SetThread()
  // is called. kTooLarge beyond kMaxThreads.
  Result<std::uint32_t> ThreadOf(const std::string& untrusted_key, recording::Thread thread);
  // The number of the thread that equals `thread` in all members; kTooLarge beyond kMaxThreads.
  Result<std::uint32_t> ThreadOf(const recording::Thread& thread);
  void SetThread(std::uint32_t number, recording::Thread thread);
  const recording::Thread& thread(std::uint32_t number) const { return threads_[number]; }
  std::uint32_t threads() const { return static_cast<std::uint32_t>(threads_.size()); }

  // Adds a cost at a single time.
  void Add(std::size_t metric, tree::PathId path, std::uint32_t thread, std::uint64_t ns,
           std::uint64_t amount);
  // Adds a cost with a duration: each interval gets the part that falls in it
  // (common/recording/spans.h).
  // REQUIRES: length_ns <= end_ns; the metric is of time.
  void AddSpan(std::size_t metric, tree::PathId path, std::uint32_t thread, std::uint64_t end_ns,
               std::uint64_t length_ns);
  // Adds a cost without a time. A default Thread means that the thread is unknown, too.
  void AddUntimed(std::size_t metric, tree::PathId path, std::uint32_t thread,
                  std::uint64_t amount);
  // Call this if the imported samples have neither times nor threads.
  void LeaveOut() { is_left_out_ = true; }

  // The bytes of a recording of one run; nullopt if times and threads are missing for some or all
  // samples, or (with a remark) if a recording cannot hold them. REQUIRES: paths and metrics belong
  // to these arguments.
  std::optional<std::string> Record(const tree::Dictionary& dictionary,
                                    const std::vector<tree::Metric>& metrics, Remarks& remarks) &&;

 private:
  struct Sample {
    std::uint64_t ns = 0;  // when it ends
    std::uint64_t amount = 0;
    std::uint32_t path = 0;
    std::uint32_t thread = 0;
    std::uint32_t metric = 0;
    bool is_span = false;
  };
  Status Write(const tree::Dictionary& dictionary, const std::vector<tree::Metric>& metrics,
               std::string& bytes);
  Status Divide(std::uint64_t& begin_ns);

  std::vector<Sample> samples_;
  std::vector<recording::Thread> threads_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::uint64_t untimed_ = 0;
  bool is_left_out_ = false;
};

}  // namespace fieldcost::exchange
