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
#include "aggregator/store/batch_stages.h"
#include "common/base/result.h"
#include "common/wire/batch.h"

// The arguments and results of Store::Accept() and Store::Withdraw(). Plain values; arguments refer
// to the caller's memory.

namespace fieldcost::store {

// Properties that an agent's first batch fixes for an epoch.
struct AgentBinding {
  std::uint64_t class_hash = 0;  // keyed hash of its hardware class
  std::uint32_t first_week = 0;  // the week in which that batch arrived
  bool operator==(const AgentBinding&) const = default;
};

// The first contributions in a batch's rows of one week.
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
  // The same rows as received, if available; the log then stores these bytes. Otherwise it stores
  // `rows` in its own form.
  ReceivedBatch received{};
  std::string_view answer;                 // the response to the agent; kept for replays
  std::chrono::sys_seconds received_at{};  // by the service's clock; from 1970 to 2038
  bool honest = true;       // no row is implausible; counts towards the end of probation
  bool dishonest = false;   // contains a row that no honest agent sends
  bool may_be_held = true;  // false: refused for lack of room if it would be held
  // The response to the agent if the batch is held; empty = `answer`. Called at most once.
  std::function<std::string()> held_answer = {};
  // The binding that Store::GetBinding() returns for the agent and epoch from now on.
  std::optional<AgentBinding> bind = {};
  // The batch's first contributions, one entry per week; kept until the batch is withdrawn.
  std::span<const WeekContributions> contributions = {};
  // Gets the times of the stages from kLedger to kFold; may be null.
  StageTimes* stages = nullptr;
};

struct AcceptResult {
  std::string answer;                  // the batch's own, or for a replay the original one
  bool replay = false;                 // it was accepted before; nothing was added
  bool held = false;                   // held, not summed yet: its agent is on probation
  std::uint64_t held_bytes = 0;        // the room that it takes while held
  std::uint64_t evicted_batches = 0;   // held batches that were evicted to make room for it
  std::uint64_t released_batches = 0;  // held batches that are summed now, together with this one
};

// A batch to subtract.
struct Withdrawal {
  std::string_view agent_id;
  wire::Epoch epoch;
  wire::Sequence sequence;
  // Returns exactly the accepted rows of the batch. Called at most once, and only if the batch has
  // been delivered and is held or still in the sums; `answer` is the response that its agent got,
  // if that is still stored. Withdraw() returns an error of this function, with nothing changed.
  std::function<Result<const AcceptedRows*>(const std::optional<std::string>& answer)> rows;
  std::string_view late_answer;  // the response to the batch, if it arrives after all
  bool may_come = true;          // false: it would be refused, so nothing is stored for it
};

enum class WithdrawalKind {
  kWithdrawn,       // its rows are no longer in the sums
  kNeverDelivered,  // it never arrived; if it arrives later, it will add nothing
  kRepeated,        // it was already withdrawn, delivered or not
};

struct WithdrawResult {
  std::uint32_t withdrawn_rows = 0;  // a repeated withdrawal returns the same number
  WithdrawalKind kind = WithdrawalKind::kWithdrawn;
};

// An agent's batches in all epochs.
struct AgentBatches {
  std::vector<std::pair<wire::Epoch, wire::Sequence>> kept;  // as received; in the sums
  std::uint64_t held = 0;                                    // on probation
  // Delivered and not withdrawn, but their contents are not or no longer stored.
  std::uint64_t not_kept = 0;
};

}  // namespace fieldcost::store
