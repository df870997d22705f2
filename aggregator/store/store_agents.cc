// Records which agents have enrolled or are revoked, and returns what they have contributed to: the
// part of Store about agents.
#include <algorithm>
#include <limits>

#include "aggregator/store/contributions.h"
#include "aggregator/store/store_state.h"
#include "common/base/byte_order.h"
#include "common/base/check.h"

namespace fieldcost::store {

Status Store::Enrol(std::string_view agent_id, wire::Epoch epoch) {
  FIELDCOST_CHECK(agent_id.size() == kAgentIdBytes);
  FIELDCOST_TRY(state_->bounds.CheckEpoch(epoch));
  FIELDCOST_ASSIGN(const bool enrolled, IsEnrolled(agent_id, epoch));
  if (enrolled) return {};
  Database::WriteSet changes(*state_->database);
  state_->ledger.PutEnrolment(agent_id, epoch, changes);
  return state_->sums.Commit(changes);
}

Result<bool> Store::IsEnrolled(std::string_view agent_id, wire::Epoch epoch) const {
  return state_->ledger.IsEnrolled(agent_id, epoch);
}

Status Store::Revoke(std::string_view agent_id) {
  FIELDCOST_CHECK(agent_id.size() == kAgentIdBytes);
  const AgentLock agent_lock(state_->ledger.agent_locks(), agent_id);
  if (state_->failure.has_happened()) return StoreFailed();
  Database::WriteSet changes(*state_->database);
  state_->ledger.PutRevocation(agent_id, changes);
  const auto dropped =
      state_->held.Drop(agent_id, std::numeric_limits<std::uint64_t>::max(), changes);
  return dropped ? Status() : Status(dropped.error());
}

Result<std::vector<std::string>> Store::RevokedAgents() const {
  std::vector<std::string> agents;
  FIELDCOST_TRY(state_->database->ForEach(
      Table::kMeta, kRevokedPrefix, nullptr, [&](std::string_view key, std::string_view) -> Status {
        if (key.starts_with(kRevokedPrefix)) agents.emplace_back(key.substr(kRevokedPrefix.size()));
        return {};
      }));
  return agents;
}

Result<std::optional<AgentBinding>> Store::GetBinding(std::string_view agent_id,
                                                      wire::Epoch epoch) const {
  FIELDCOST_CHECK(agent_id.size() == kAgentIdBytes);
  const std::string key = BindingKey(LedgerHeadKey(agent_id, epoch.value()));
  FIELDCOST_ASSIGN(const auto bytes, state_->database->Get(Table::kLedger, key));
  if (!bytes) return std::optional<AgentBinding>();
  FIELDCOST_ASSIGN(const AgentBinding binding, DecodeBinding(*bytes));
  return std::optional(binding);
}

Result<std::optional<wire::Epoch>> Store::FirstEpochOf(std::string_view agent_id) const {
  FIELDCOST_CHECK(agent_id.size() == kAgentIdBytes);
  std::optional<wire::Epoch> epoch;
  const auto visit = [&](std::string_view key, std::string_view) -> Status {
    if (key.starts_with(agent_id) && key.size() >= kAgentIdBytes + 8) {
      epoch = wire::Epoch(ReadBigEndian(key.substr(kAgentIdBytes, 8)));
    }
    return {};
  };
  FIELDCOST_TRY(state_->database->ForSome(Table::kLedger, agent_id, 1, visit));
  return epoch;
}

Status Store::GetContributions(std::string_view agent_id, wire::Epoch epoch,
                               std::vector<std::uint64_t>& hashes) const {
  FIELDCOST_CHECK(agent_id.size() == kAgentIdBytes);
  const std::string head_key = LedgerHeadKey(agent_id, epoch.value());
  hashes.clear();
  // An agent that has delivered nothing has contributed to nothing, and reading one key is cheap.
  FIELDCOST_ASSIGN(const auto head, state_->database->Get(Table::kLedger, head_key));
  if (!head) return {};
  const std::string prefix = ContributionPrefix(head_key);
  FIELDCOST_TRY(state_->database->ForPrefix(
      Table::kLedger, prefix, [&](std::string_view key, std::string_view value) -> Status {
        // The key of a response may begin in the same way; it is shorter.
        if (key.size() != prefix.size() + 4 + 8) return {};
        return DecodeContributions(value, hashes);
      }));
  std::sort(hashes.begin(), hashes.end());
  return {};
}

}  // namespace fieldcost::store
