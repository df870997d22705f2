#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/store/limits.h"
#include "common/base/result.h"

namespace fieldcost::store {

// Sequences from `first` to `last`.
struct SequenceRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  bool operator==(const SequenceRange&) const = default;
};

// What one agent's epoch has already delivered: the highest sequence, and which of the
// kLedgerWindow sequences up to it. Pure value; see LAYOUT.md for the bytes.
class LedgerHead {
 public:
  enum class Seen {
    kNew,     // not accepted before
    kReplay,  // accepted before, its answer is kept
    kTooOld,  // below the window: it is not known whether it was accepted
  };

  // REQUIRES: sequence >= 1.
  Seen Classify(std::uint64_t sequence) const;

  // Notes that `sequence` is accepted. Appends to `forgotten` the accepted sequences that leave the
  // window, whose answers are no longer needed. REQUIRES: Classify(sequence) == kNew.
  void Record(std::uint64_t sequence, std::vector<std::uint64_t>& forgotten);

  // The sequences that were never accepted and, once `sequence` is, leave the window, so that they
  // never will be. Ascending. REQUIRES: as Record().
  std::vector<SequenceRange> Skipped(std::uint64_t sequence) const;

  std::uint64_t high_water() const { return high_water_; }
  // How many were accepted, if none was skipped.
  std::uint64_t Delivered() const;

  std::string Encode() const;
  static Result<LedgerHead> Decode(std::string_view untrusted_bytes);

 private:
  std::uint64_t high_water_ = 0;
  std::uint64_t window_ = 0;  // bit i: sequence high_water_ - i is accepted
};

// Keys of the ledger table; `agent_id` has kAgentIdBytes, so keys of different kinds differ in
// length.
std::string LedgerHeadKey(std::string_view agent_id, std::uint64_t epoch);
std::string AnswerKey(std::string_view head_key, std::uint64_t sequence);
std::string TombstoneKey(std::string_view head_key, std::uint64_t sequence);
bool IsTombstoneKey(std::string_view key);
std::string EnrolmentKey(std::string_view head_key);

// How many batches were withdrawn that had never arrived.
std::string UndeliveredKey(std::string_view head_key);
std::string EncodeUndelivered(std::uint64_t batches);
Result<std::uint64_t> DecodeUndelivered(std::string_view untrusted_bytes);

// Where the skipped sequences up to `last` are kept; no other entry sorts in between.
std::string SkippedKey(std::string_view head_key, std::uint64_t last);
// False if the key is another agent's or epoch's, or of another kind.
bool IsSkippedKey(std::string_view key, std::string_view head_key);
std::string EncodeSkipped(std::uint64_t first);
Result<std::uint64_t> DecodeSkipped(std::string_view untrusted_bytes);

// What is kept of a withdrawn batch: how many rows were subtracted.
std::string EncodeTombstone(std::uint32_t withdrawn_rows);
Result<std::uint32_t> DecodeTombstone(std::string_view untrusted_bytes);

}  // namespace fieldcost::store
