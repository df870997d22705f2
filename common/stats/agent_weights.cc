#include "common/stats/agent_weights.h"

#include <algorithm>

namespace fieldcost::stats {
namespace {

// A slot and what rounding it down left over.
struct Remainder {
  Uint128 size;
  unsigned slot;
};

Error Impossible(std::string_view rule) {
  return Fail(ErrorCode::kCorrupt, "weights of contributions are impossible: {}", rule);
}

}  // namespace

void AgentWeights::Merge(const AgentWeights& other) {
  for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) slots[slot] += other.slots[slot];
}

Uint128 AgentWeights::Total() const {
  Uint128 total = 0;
  for (const Uint128 weight : slots) total += weight;
  return total;
}

std::uint64_t AgentWeights::Contributions() const {
  return static_cast<std::uint64_t>(Total() >> kWeightBits);
}

std::array<std::uint64_t, shm::kBucketSlots> Apportion(
    const std::array<Uint128, shm::kBucketSlots>& amounts, std::uint64_t parts) {
  std::array<std::uint64_t, shm::kBucketSlots> shares{};
  Uint128 total = 0;
  for (const Uint128 amount : amounts) total += amount;
  if (total == 0) return shares;
  std::array<Remainder, shm::kBucketSlots> remainders;
  std::size_t used = 0;
  std::uint64_t left = parts;
  for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
    if (amounts[slot] == 0) continue;
    const Uint128 product = amounts[slot] * parts;
    shares[slot] = static_cast<std::uint64_t>(product / total);
    left -= shares[slot];
    remainders[used++] = {.size = product % total, .slot = slot};
  }
  // The remainders add up to `left` times the total, so fewer than `used` are left.
  std::sort(remainders.begin(), remainders.begin() + static_cast<std::ptrdiff_t>(used),
            [](const Remainder& a, const Remainder& b) {
              return a.size != b.size ? a.size > b.size : a.slot < b.slot;
            });
  for (std::size_t i = 0; i < left; ++i) ++shares[remainders[i].slot];
  return shares;
}

AgentWeights WeightsOf(const CostHistogram& histogram) {
  std::array<Uint128, shm::kBucketSlots> counts;
  for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
    counts[slot] = histogram.bucket(slot).count;
  }
  AgentWeights weights;
  const auto shares = Apportion(counts, kWeightOne);
  std::copy(shares.begin(), shares.end(), weights.slots.begin());
  return weights;
}

Status Validate(const AgentWeights& untrusted_weights, const CostHistogram& histogram,
                std::uint64_t contributions) {
  const Uint128 most = Uint128{contributions} << kWeightBits;
  Uint128 total = 0;
  for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
    const Uint128 weight = untrusted_weights.slots[slot];
    if (weight != 0 && histogram.bucket(slot).count == 0) {
      return Impossible("weight in a bucket without values");
    }
    if (weight > most - total) return Impossible("more than 1 for each contribution");
    total += weight;
  }
  if (total % kWeightOne != 0) return Impossible("a part of a contribution");
  return {};
}

}  // namespace fieldcost::stats
