#include "common/stats/agent_weights.h"

#include <algorithm>

namespace fieldcost::stats {
namespace {

// A slot and what rounding it down left over.
struct Remainder {
  Uint128 size;
  unsigned slot;
};

// Divides the product by the total.
struct Division {
  std::uint64_t quotient;  // at most `parts`
  Uint128 remainder;
};

Division Divide(Uint128 amount, std::uint64_t parts, Uint128 total) {
  const Uint128 product = amount * parts;
  if (High64(product) == 0 && High64(total) == 0) {
    return {.quotient = Low64(product) / Low64(total), .remainder = Low64(product) % Low64(total)};
  }
  return {.quotient = Low64(product / total), .remainder = product % total};
}

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
    const Division division = Divide(amounts[slot], parts, total);
    shares[slot] = division.quotient;
    left -= shares[slot];
    remainders[used++] = {.size = division.remainder, .slot = slot};
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
