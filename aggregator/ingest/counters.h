#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace fieldcost::ingest {

// Counts the outcomes of requests since the start. Thread-safe.
struct Counters {
  std::atomic<std::uint64_t> accepted_batches{0};
  std::atomic<std::uint64_t> replayed_batches{0};
  std::atomic<std::uint64_t> accepted_rows{0};
  std::atomic<std::uint64_t> rejected_rows{0};
  std::atomic<std::uint64_t> held_batches{0};
  std::atomic<std::uint64_t> released_batches{0};
  // Refused rows of accepted batches by reason.
  std::atomic<std::uint64_t> rows_malformed{0};
  std::atomic<std::uint64_t> rows_unknown_metric{0};
  std::atomic<std::uint64_t> rows_wrong_week{0};
  std::atomic<std::uint64_t> rows_unlisted_module{0};
  std::atomic<std::uint64_t> rows_other_class{0};
  std::atomic<std::uint64_t> rows_never_contributed{0};
  std::atomic<std::uint64_t> rows_without_room{0};
  std::atomic<std::uint64_t> rows_impossible{0};
  std::atomic<std::uint64_t> rows_implausible{0};
  std::atomic<std::uint64_t> rows_duplicate{0};
  std::atomic<std::uint64_t> rows_contributed_before{0};
  std::atomic<std::uint64_t> rows_over_contribution_limit{0};
  std::atomic<std::uint64_t> withdrawn_batches{0};
  std::atomic<std::uint64_t> withdrawn_rows{0};
  std::atomic<std::uint64_t> withdrawn_before_arrival{0};
  std::atomic<std::uint64_t> repeated_withdrawals{0};
  std::atomic<std::uint64_t> enrolments{0};
  // Refused requests by reason.
  std::atomic<std::uint64_t> unknown_target{0};
  std::atomic<std::uint64_t> wrong_method{0};
  std::atomic<std::uint64_t> wrong_content_type{0};
  std::atomic<std::uint64_t> too_large{0};
  std::atomic<std::uint64_t> bad_envelope{0};
  std::atomic<std::uint64_t> wrong_service{0};
  std::atomic<std::uint64_t> wrong_root{0};
  std::atomic<std::uint64_t> bad_signature{0};
  std::atomic<std::uint64_t> malformed{0};
  std::atomic<std::uint64_t> bad_sequence{0};
  std::atomic<std::uint64_t> bad_epoch{0};
  std::atomic<std::uint64_t> wrong_clock{0};
  std::atomic<std::uint64_t> too_many_batches{0};
  std::atomic<std::uint64_t> too_many_rows{0};
  std::atomic<std::uint64_t> too_many_undelivered{0};
  std::atomic<std::uint64_t> disk_full{0};
  std::atomic<std::uint64_t> no_room_to_hold{0};
  std::atomic<std::uint64_t> not_enrolled{0};
  std::atomic<std::uint64_t> bad_token{0};
  std::atomic<std::uint64_t> revoked{0};
  std::atomic<std::uint64_t> bad_receipt{0};
  std::atomic<std::uint64_t> not_withdrawable{0};
  std::atomic<std::uint64_t> overloaded{0};
  std::atomic<std::uint64_t> store_failed{0};

  // One line: "accepted_batches=12 ..."; zero counters are left out.
  std::string Summary() const;
};

// A counter's name (which is also exported) and what it counts.
struct CounterInfo {
  std::string_view name;
  std::string_view help;
  std::atomic<std::uint64_t> Counters::*value;
  bool refusal = false;  // counts whole requests refused
};

// All counters; one that is missing here is not exported anywhere.
std::span<const CounterInfo> AllCounters();

}  // namespace fieldcost::ingest
