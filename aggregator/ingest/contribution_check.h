#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "aggregator/ingest/row_check.h"
#include "aggregator/store/store.h"
#include "common/base/result.h"
#include "common/crypto/sip_hash.h"

namespace fieldcost::ingest {

// Ensures that each agent counts once: it contributes to an API and metric once, regardless of the
// class and week that it claims; it adds only to keys to which it has contributed; and it keeps the
// hardware class of its first batch. Contributions and class are in the store's ledger, as hashes
// under a per-agent key that is not in the store. Used by one thread for one batch at a time. From
// Start() until the store has accepted the batch, no other batch of the agent may be handled.
// REQUIRES: the agent has no other epoch.
class ContributionCheck {
 public:
  struct Agent {
    std::string_view id;
    wire::Epoch epoch;  // of the batch
    std::string_view hash_key;
    std::uint32_t current_week;
  };

  // Errors are the store's. REQUIRES: the store outlives the use; the key has 16 bytes.
  Status Start(const store::Store& store, const Agent& agent, const stats::HardwareClass& hardware);

  // Whether the agent has named another class before.
  bool is_other_class() const { return binding_ && binding_->class_hash != class_hash_; }
  // The week in which the agent's first batch arrived.
  std::uint32_t first_week() const { return binding_ ? binding_->first_week : current_week_; }

  // Returns why the row may not be accepted, if so. Otherwise, if it is a first contribution,
  // records it for the batch. Errors are the store's.
  Result<std::optional<RowRefusal>> Try(const stats::RowKey& key, bool is_first);

  // The batch's contributions, by the weeks of its rows, and the agent's binding if this is its
  // first batch, in the store's form; valid until the next Start().
  std::span<const store::WeekContributions> Finish();
  std::optional<store::AgentBinding> binding_to_note() const;

 private:
  // The maximum number of rows that an agent of this age contributes to.
  std::size_t MostContributions() const;
  std::vector<std::uint64_t>& AddedIn(std::uint32_t week);

  crypto::SipHash hash_{std::string(16, '\0')};
  std::uint64_t class_hash_ = 0;
  std::uint32_t current_week_ = 0;
  std::optional<store::AgentBinding> binding_;  // from an earlier batch
  std::string key_bytes_;
  std::vector<std::uint64_t> known_;  // from earlier batches, ascending
  std::unordered_set<std::uint64_t>
      of_batch_;  // of this batch: keyed hashes, which senders cannot choose
  std::vector<store::WeekContributions> added_;  // of_batch_ by week
};

}  // namespace fieldcost::ingest
