#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "aggregator/store/acceptance.h"
#include "aggregator/store/agent_locks.h"
#include "aggregator/store/database.h"
#include "aggregator/store/ledger.h"
#include "aggregator/store/lock_order.h"
#include "common/base/result.h"

namespace fieldcost::store {

// The deliveries and withdrawals of each agent and epoch (identified by a ledger head key, see
// ledger.h), and which agents may deliver. It has no state in memory: entries are read and written
// one agent at a time, under that agent's lock, so that what a caller has read still holds when it
// writes.
//
// Thread-safe. Functions with a WriteSet add changes that the caller writes.
class DeliveryLedger {
 public:
  // `database` must outlive this object.
  explicit DeliveryLedger(Database& database) : database_(database) {}

  // Excludes concurrent deliveries and withdrawals of an agent's batches.
  AgentLocks& agent_locks() { return agent_locks_; }

  // Empty if nothing was delivered.
  Result<LedgerHead> ReadHead(const std::string& head_key) const;
  // Returns the response to a batch that was delivered before, or an error if it is unknown whether
  // it was; nullopt for a new one.
  Result<std::optional<AcceptResult>> AnswerIfKnown(const LedgerHead& head,
                                                    const std::string& head_key,
                                                    std::uint64_t sequence) const;
  // The stored response to a delivered batch.
  Result<std::optional<std::string>> AnswerTo(const std::string& head_key,
                                              std::uint64_t sequence) const;

  // Records that the sequence has been delivered, with the response to it, and which sequences can
  // therefore never be accepted any more. REQUIRES: head.Classify(sequence) is kNew.
  Status PutDelivery(const std::string& head_key, std::uint64_t sequence, std::string_view answer,
                     LedgerHead& head, Database::WriteSet& changes) const
      FIELDCOST_REQUIRES(lock_order::kAgent);
  // Records what a batch contributes to, and its binding.
  void PutContributions(const AcceptedBatch& batch, const std::string& head_key,
                        Database::WriteSet& changes) const FIELDCOST_REQUIRES(lock_order::kAgent);

  // Whether a sequence that is too old is recorded as never accepted.
  Result<bool> IsSkipped(const std::string& head_key, std::uint64_t sequence) const;

  // The number of rows subtracted by the batch's withdrawal; nullopt if it was not withdrawn.
  Result<std::optional<std::uint32_t>> WithdrawnRows(const std::string& head_key,
                                                     std::uint64_t sequence) const;
  void PutWithdrawal(const std::string& head_key, std::uint64_t sequence,
                     std::uint32_t withdrawn_rows, Database::WriteSet& changes) const
      FIELDCOST_REQUIRES(lock_order::kAgent);
  // Counts one more withdrawal of a batch of the agent's epoch that never arrived. kUnavailable:
  // there are too many.
  Status CountUndelivered(const std::string& head_key, Database::WriteSet& changes) const
      FIELDCOST_REQUIRES(lock_order::kAgent);

  Result<bool> IsEnrolled(std::string_view agent_id, wire::Epoch epoch) const;
  void PutEnrolment(std::string_view agent_id, wire::Epoch epoch,
                    Database::WriteSet& changes) const;

  Result<bool> IsRevoked(std::string_view agent_id) const;
  void PutRevocation(std::string_view agent_id, Database::WriteSet& changes) const;

 private:
  Status PutSkipped(const std::string& head_key, const LedgerHead& head, std::uint64_t sequence,
                    Database::WriteSet& changes) const;

  Database& database_;
  AgentLocks agent_locks_;
};

}  // namespace fieldcost::store
