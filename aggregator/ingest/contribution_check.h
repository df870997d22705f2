#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/ingest/row_check.h"
#include "aggregator/store/store.h"
#include "common/base/result.h"
#include "common/crypto/sip_hash.h"

namespace fieldcost::ingest {

// Lets an agent contribute to a row key, which includes the week, once; whatever it claims, and in
// whichever of the epochs that are accepted. What it has contributed to is in the store's ledger,
// as hashes under a key that is the agent's own and not in the store. Used for one batch after the
// other by one thread, each from Start() until the store has taken it, with no other batch of the
// agent in between.
class ContributionCheck {
 public:
  // REQUIRES: the store outlives the use; `hash_key` has 16 bytes.
  void Start(const store::Store& store, std::string_view agent_id, std::string_view hash_key);

  // Why the agent may not contribute, if so; else it is noted that the batch does. Errors are the
  // store's.
  Result<std::optional<RowRefusal>> Try(std::uint32_t week, std::string_view key_bytes);

  // What the batch contributes to, as the store wants it; until the next Start().
  std::span<const store::WeekContributions> Finish();

 private:
  // What the agent has contributed to in the week, ascending.
  Status ReadKnown(std::uint32_t week, std::vector<std::uint64_t>& hashes);

  const store::Store* store_ = nullptr;
  std::string agent_id_;
  std::vector<std::uint64_t> of_epoch_;
  crypto::SipHash hash_{std::string(16, '\0')};
  std::vector<std::vector<std::uint64_t>>
      known_;  // for each of `added_` what was before, ascending
  std::vector<store::WeekContributions> added_;
};

}  // namespace fieldcost::ingest
