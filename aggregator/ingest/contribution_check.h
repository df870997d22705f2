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

// Makes an agent count once. It contributes to an API, metric and week once, whatever class it
// claims and in whichever accepted epoch; it adds more only to what it contributed to; and in an
// epoch it has the hardware class that it named first. Its contributions and its class are in the
// store's ledger, as hashes under a key of this agent that is not in the store. Used for one batch
// after the other by one thread, each from Start() until the store has taken it, with no other
// batch of the agent in between.
class ContributionCheck {
 public:
  struct Agent {
    std::string_view id;
    wire::Epoch epoch;  // of the batch
    std::string_view hash_key;
  };

  // Errors are the store's. REQUIRES: the store outlives the use; the key has 16 bytes.
  Status Start(const store::Store& store, const Agent& agent, const stats::HardwareClass& hardware);

  // Whether the agent has said in this epoch that it is of another class.
  bool is_other_class() const { return is_other_class_; }

  // Says why the row may not be accepted. If it may be, and is a first contribution, notes that the
  // batch makes it. Errors are the store's.
  Result<std::optional<RowRefusal>> Try(const stats::RowKey& key, bool is_first);

  // What the batch contributes to, and the class if it is the first to name one, in the store's
  // form; valid until the next Start().
  std::span<const store::WeekContributions> Finish();
  std::optional<std::uint64_t> class_to_bind() const { return class_to_bind_; }

 private:
  // Where the week is in `added_` and `known_`.
  Result<std::size_t> PlaceOf(std::uint32_t week);
  // What the agent has contributed to in the week, ascending.
  Status ReadKnown(std::uint32_t week, std::vector<std::uint64_t>& hashes);

  const store::Store* store_ = nullptr;
  std::string agent_id_;
  std::vector<std::uint64_t> of_epoch_;
  crypto::SipHash hash_{std::string(16, '\0')};
  bool is_other_class_ = false;
  std::optional<std::uint64_t> class_to_bind_;
  std::string key_bytes_;
  std::vector<std::vector<std::uint64_t>>
      known_;  // for each of `added_` what was before, ascending
  std::vector<store::WeekContributions> added_;
};

}  // namespace fieldcost::ingest
