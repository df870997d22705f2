#include "aggregator/ingest/counters.h"

#include <fmt/format.h>

#include <array>

namespace fieldcost::ingest {
namespace {

constexpr std::array kCounters = std::to_array<CounterInfo>({
    {"accepted_batches", "batches accepted for the first time", &Counters::accepted_batches},
    {"replayed_batches", "batches that had been accepted before", &Counters::replayed_batches},
    {"accepted_rows", "rows of accepted batches", &Counters::accepted_rows},
    {"rejected_rows", "rows refused in accepted batches", &Counters::rejected_rows},
    {"held_batches", "accepted batches of agents on probation", &Counters::held_batches},
    {"released_batches", "held batches whose agents' probation ended", &Counters::released_batches},
    {"rows_malformed", "refused rows: malformed", &Counters::rows_malformed},
    {"rows_unknown_metric", "refused rows: metric unknown", &Counters::rows_unknown_metric},
    {"rows_wrong_week", "refused rows: week not accepted", &Counters::rows_wrong_week},
    {"rows_unlisted_module", "refused rows: module not on the list",
     &Counters::rows_unlisted_module},
    {"rows_other_class", "refused rows: agent named another hardware class before",
     &Counters::rows_other_class},
    {"rows_never_contributed", "refused rows: no contribution of the agent came before",
     &Counters::rows_never_contributed},
    {"rows_without_room", "refused rows: larger than the stored row's share for one",
     &Counters::rows_without_room},
    {"rows_impossible", "refused rows: sums that no values can have", &Counters::rows_impossible},
    {"rows_implausible", "refused rows: more than a machine can do", &Counters::rows_implausible},
    {"rows_duplicate", "refused rows: twice in a batch", &Counters::rows_duplicate},
    {"rows_contributed_before", "refused rows: contributed before",
     &Counters::rows_contributed_before},
    {"rows_over_contribution_limit", "refused rows: too many contributions in a week",
     &Counters::rows_over_contribution_limit},
    {"withdrawn_batches", "withdrawn batches", &Counters::withdrawn_batches},
    {"withdrawn_rows", "withdrawn rows", &Counters::withdrawn_rows},
    {"withdrawn_before_arrival", "withdrawals of batches that had never arrived",
     &Counters::withdrawn_before_arrival},
    {"repeated_withdrawals", "repeated withdrawals", &Counters::repeated_withdrawals},
    {"enrolments", "enrolments", &Counters::enrolments},
    {"unknown_target", "no such address", &Counters::unknown_target, true},
    {"wrong_method", "method not POST", &Counters::wrong_method, true},
    {"wrong_content_type", "content type not a batch's", &Counters::wrong_content_type, true},
    {"too_large", "body larger than allowed", &Counters::too_large, true},
    {"bad_envelope", "envelope headers malformed", &Counters::bad_envelope, true},
    {"wrong_service", "signed for another service", &Counters::wrong_service, true},
    {"wrong_root", "signed for another service of the same name", &Counters::wrong_root, true},
    {"bad_signature", "signature does not verify", &Counters::bad_signature, true},
    {"malformed", "body is not a batch", &Counters::malformed, true},
    {"bad_sequence", "sequence too old, or of another body", &Counters::bad_sequence, true},
    {"bad_epoch", "epoch not accepted now", &Counters::bad_epoch, true},
    {"wrong_clock", "clock or retention bounds are wrong", &Counters::wrong_clock, true},
    {"too_many_batches", "agent sends too often", &Counters::too_many_batches, true},
    {"too_many_rows", "agent sends too many rows", &Counters::too_many_rows, true},
    {"too_many_undelivered", "agent withdraws too many batches that never arrived",
     &Counters::too_many_undelivered, true},
    {"disk_full", "too little room on the disk", &Counters::disk_full, true},
    {"no_room_to_hold", "no room for batches of new agents", &Counters::no_room_to_hold, true},
    {"not_enrolled", "agent has not enrolled", &Counters::not_enrolled, true},
    {"bad_token", "enrolment token unknown", &Counters::bad_token, true},
    {"revoked", "agent is revoked", &Counters::revoked, true},
    {"bad_receipt", "receipt not ours for this batch", &Counters::bad_receipt, true},
    {"not_withdrawable", "batch not withdrawable any more", &Counters::not_withdrawable, true},
    {"overloaded", "queue full", &Counters::overloaded, true},
    {"store_failed", "store failed", &Counters::store_failed, true},
});

}  // namespace

std::span<const CounterInfo> AllCounters() { return kCounters; }

std::string Counters::Summary() const {
  std::string text;
  for (const CounterInfo& info : kCounters) {
    const std::uint64_t value = (this->*info.value).load();
    if (value != 0) fmt::format_to(std::back_inserter(text), " {}={}", info.name, value);
  }
  return text.empty() ? "0 requests" : text.substr(1);
}

}  // namespace fieldcost::ingest
