#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace fieldcost::ingest {

// What happened to batches since the start. Thread-safe.
struct Counters {
  std::atomic<std::uint64_t> accepted_batches{0};
  std::atomic<std::uint64_t> replayed_batches{0};
  std::atomic<std::uint64_t> accepted_rows{0};
  std::atomic<std::uint64_t> rejected_rows{0};
  // Refused batches by reason.
  std::atomic<std::uint64_t> unknown_target{0};
  std::atomic<std::uint64_t> wrong_method{0};
  std::atomic<std::uint64_t> wrong_content_type{0};
  std::atomic<std::uint64_t> too_large{0};
  std::atomic<std::uint64_t> bad_envelope{0};
  std::atomic<std::uint64_t> bad_signature{0};
  std::atomic<std::uint64_t> malformed{0};
  std::atomic<std::uint64_t> bad_sequence{0};
  std::atomic<std::uint64_t> overloaded{0};
  std::atomic<std::uint64_t> store_failed{0};

  // One line: "accepted 12 batches (...)".
  std::string Summary() const;
};

}  // namespace fieldcost::ingest
