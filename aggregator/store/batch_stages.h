#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace fieldcost::store {

// The stages of a batch in the service, in the order in which they begin. The later half happens in
// Store::Accept().
enum class BatchStage : std::uint8_t {
  kReceive,       // from the first byte of the request to the last one, including TLS
  kQueue,         // until a thread takes it
  kVerify,        // headers, hash, signature, admission, limits per agent
  kDecompress,    // zstd
  kDecode,        // parses the message and its columns
  kContribution,  // the contributions of the agent so far, and of this batch
  kCheck,         // builds each row from the columns, checks it, and copies it if it is accepted
  kLedger,        // the agent's earlier batches, probation, the changes of the ledger
  kLog,           // writes and syncs the log; batches that arrive meanwhile share the next sync
  kFold,          // adds the rows to the recent ones
  kAnswer,        // receipt and response
};
inline constexpr std::size_t kBatchStages = 11;

constexpr std::string_view Name(BatchStage stage) {
  constexpr std::array<std::string_view, kBatchStages> kNames = {
      "receive", "queue",  "verify", "decompress", "decode", "contribution",
      "check",   "ledger", "log",    "fold",       "answer"};
  return kNames[static_cast<std::size_t>(stage)];
}

// How long the stages of one batch took. Each moment belongs to exactly one stage, so that the
// stages add up to the whole. Used by one thread at a time.
class StageTimes {
 public:
  using Clock = std::chrono::steady_clock;

  explicit StageTimes(Clock::time_point begin = Clock::now()) : last_(begin) {}

  // Attributes the time since the previous call, or since the beginning, to this stage, which may
  // have ended before. Reads the clock once.
  void End(BatchStage stage) { EndAt(stage, Clock::now()); }
  // REQUIRES: `now` is not before the previous call.
  void EndAt(BatchStage stage, Clock::time_point now) {
    std::optional<std::chrono::nanoseconds>& time = times_[static_cast<std::size_t>(stage)];
    time = time.value_or(std::chrono::nanoseconds(0)) + (now - last_);
    last_ = now;
  }

  // nullopt if the batch did not get to the end of this stage.
  std::optional<std::chrono::nanoseconds> of(BatchStage stage) const {
    return times_[static_cast<std::size_t>(stage)];
  }

 private:
  Clock::time_point last_;
  std::array<std::optional<std::chrono::nanoseconds>, kBatchStages> times_;
};

// Ends the stage, if it is timed.
inline void EndStage(StageTimes* stages, BatchStage stage) {
  if (stages != nullptr) stages->End(stage);
}

}  // namespace fieldcost::store
