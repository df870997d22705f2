#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aggregator/store/accepted_rows.h"
#include "aggregator/store/batch_record.h"
#include "common/base/result.h"
#include "common/wire/batch.h"

// What goes into Store::Accept() and Store::Withdraw() and what comes out. Plain values; they refer
// to the caller's memory.

namespace fieldcost::store {

// What an agent is bound to for an epoch, by its first batch.
struct AgentBinding {
  std::uint64_t class_hash = 0;  // keyed hash of its hardware class
  std::uint32_t first_week = 0;  // the week in which that batch came
  bool operator==(const AgentBinding&) const = default;
};

// Row keys to which a batch is its agent's first contribution, by rows that are all of one week.
struct WeekContributions {
  std::uint32_t week = 0;
  std::vector<std::uint64_t> hashes;  // keyed hashes of the row keys, strictly ascending
};

// One batch that has passed every check.
struct AcceptedBatch {
  std::string_view
      agent_id;  // kAgentIdBytes: a keyed hash of the agent's key, never the key itself
  wire::Epoch epoch;
  wire::Sequence sequence;  // 1, 2, 3, ...
  const AcceptedRows* rows = nullptr;
  // Exactly these rows, as received: the log then stores them like this. Without a body it stores
  // them in its own form.
  ReceivedBatch received{};
  std::string_view answer;                 // what the agent is told; kept for replays
  std::chrono::sys_seconds received_at{};  // by the service's clock; from 1970 to 2038
  bool honest = true;       // nothing in it was implausible: counts towards the end of probation
  bool dishonest = false;   // something in it that no honest agent sends
  bool may_be_held = true;  // false: if it would be held, there is no room for it
  // What the agent is told instead if the batch is held; empty = `answer`. Called at most once.
  std::function<std::string()> held_answer = {};
  // What Store::GetBinding() returns for the agent and epoch from now on.
  std::optional<AgentBinding> bind = {};
  // What it is a first contribution to; kept until the batch is withdrawn. One entry a week.
  std::span<const WeekContributions> contributions = {};
};

struct AcceptResult {
  std::string answer;            // the batch's own, or for a replay the one it got the first time
  bool replay = false;           // it had been accepted before; nothing was added
  bool held = false;             // kept, not summed yet: its agent is on probation
  std::uint64_t held_bytes = 0;  // the room it takes then
  std::uint64_t evicted_batches = 0;   // held before; they made room for it
  std::uint64_t released_batches = 0;  // held before; they and this one are summed now
};

// A batch to be subtracted again.
struct Withdrawal {
  std::string_view agent_id;
  wire::Epoch epoch;
  wire::Sequence sequence;
  // Exactly the rows that were accepted of it. Called at most once, and only if the batch has been
  // delivered and is still in the sums, or held; `answer` is what its agent was told, if that is
  // still kept. An error is Withdraw()'s; nothing has changed then.
  std::function<Result<const AcceptedRows*>(const std::optional<std::string>& answer)> rows;
  std::string_view late_answer;  // for the batch, if it arrives after all
  bool may_come = true;  // false: it would be refused, so nothing is kept if it never arrived
};

enum class WithdrawalKind {
  kWithdrawn,       // its rows are not in the sums any more
  kNeverDelivered,  // it never arrived; if it does, it will add nothing
  kRepeated,        // one of the two has happened before
};

struct WithdrawResult {
  std::uint32_t withdrawn_rows = 0;  // the same for a repeated withdrawal
  WithdrawalKind kind = WithdrawalKind::kWithdrawn;
};

// What is known of an agent's batches, of all epochs.
struct AgentBatches {
  std::vector<std::pair<wire::Epoch, wire::Sequence>> kept;  // as they came; in the sums
  std::uint64_t held = 0;                                    // on probation
  // Delivered and not withdrawn, but their contents are not known (any more).
  std::uint64_t not_kept = 0;
};

}  // namespace fieldcost::store
