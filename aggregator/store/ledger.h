#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/store/store_limits.h"
#include "common/base/result.h"

namespace fieldcost::store {

// The sequences from `first` to `last`.
struct SequenceRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  bool operator==(const SequenceRange&) const = default;
};

// The delivered sequences of one agent's epoch: the highest, and which of the kLedgerWindow
// sequences up to it. Pure value; see LAYOUT.md for the bytes.
class LedgerHead {
 public:
  enum class Seen {
    kNew,     // not accepted before
    kReplay,  // accepted before; its response is stored
    kTooOld,  // below the window: unknown whether it was accepted
  };

  // REQUIRES: sequence >= 1.
  Seen Classify(std::uint64_t sequence) const;

  // Records that `sequence` is accepted. Appends to `forgotten` the accepted sequences that leave
  // the window, whose responses are no longer needed. REQUIRES: Classify(sequence) == kNew.
  void Record(std::uint64_t sequence, std::vector<std::uint64_t>& forgotten);

  // Returns, in ascending order, the sequences that were never accepted and never can be once
  // `sequence` is recorded, because they leave the window. REQUIRES: as Record().
  std::vector<SequenceRange> Skipped(std::uint64_t sequence) const;

  std::uint64_t high_water() const { return high_water_; }
  // The number of accepted sequences, provided that none was skipped.
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

// The key of the number of withdrawn batches that never arrived.
std::string UndeliveredKey(std::string_view head_key);
std::string EncodeUndelivered(std::uint64_t batches);
Result<std::uint64_t> DecodeUndelivered(std::string_view untrusted_bytes);

// The key of the skipped sequences up to `last`; no other entry sorts in between.
std::string SkippedKey(std::string_view head_key, std::uint64_t last);
// False if the key belongs to another agent or epoch, or has another kind.
bool IsSkippedKey(std::string_view key, std::string_view head_key);
std::string EncodeSkipped(std::uint64_t first);
Result<std::uint64_t> DecodeSkipped(std::string_view untrusted_bytes);

// The entry that remains of a withdrawn batch: the number of subtracted rows.
std::string EncodeTombstone(std::uint32_t withdrawn_rows);
Result<std::uint32_t> DecodeTombstone(std::string_view untrusted_bytes);

}  // namespace fieldcost::store
