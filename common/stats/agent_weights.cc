#include "common/stats/agent_weights.h"

#include <algorithm>

#include "common/base/check.h"

namespace fieldcost::stats {
namespace {

// Most rows use no more; then searching is faster than sorting.
constexpr std::size_t kFewSlots = 16;

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

Error ImpossibleWeights(std::string_view rule) {
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

void ApportionCounts(std::span<const std::uint64_t> counts, std::uint64_t parts,
                     std::span<std::uint64_t> shares) {
  FIELDCOST_CHECK(shares.size() == counts.size() && counts.size() <= shm::kBucketSlots);
  Uint128 total = 0;
  for (const std::uint64_t count : counts) total += count;
  if (total == 0 || High64(total * parts) != 0 || counts.size() > kFewSlots) {
    std::array<Uint128, shm::kBucketSlots> amounts{};
    std::copy(counts.begin(), counts.end(), amounts.begin());
    const auto all = Apportion(amounts, parts);
    std::copy_n(all.begin(), shares.size(), shares.begin());
    return;
  }
  // As Apportion(), in 64 bits.
  const std::uint64_t whole = Low64(total);
  std::array<std::uint64_t, kFewSlots> remainders{};
  std::uint64_t left = parts;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::uint64_t product = counts[i] * parts;
    shares[i] = product / whole;
    remainders[i] = product % whole;
    left -= shares[i];
  }
  for (; left != 0; --left) {
    const auto largest =
        std::max_element(remainders.begin(), remainders.end());  // the first of them
    ++shares[static_cast<std::size_t>(largest - remainders.begin())];
    *largest = 0;
  }
}

AgentWeights WeightsOf(const CostHistogram& histogram) {
  std::array<unsigned, shm::kBucketSlots> slots;
  std::array<std::uint64_t, shm::kBucketSlots> counts;
  std::array<std::uint64_t, shm::kBucketSlots> shares;
  std::size_t used = 0;
  histogram.ForEachUsed([&](unsigned slot, const Bucket& bucket) {
    slots[used] = slot;
    counts[used++] = bucket.count;
  });
  ApportionCounts(std::span(counts).first(used), kWeightOne, std::span(shares).first(used));
  AgentWeights weights;
  for (std::size_t i = 0; i < used; ++i) weights.slots[slots[i]] = shares[i];
  return weights;
}

Status Validate(const AgentWeights& untrusted_weights, const CostHistogram& histogram,
                std::uint64_t contributions) {
  const Uint128 most = Uint128{contributions} << kWeightBits;
  Uint128 total = 0;
  for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
    const Uint128 weight = untrusted_weights.slots[slot];
    if (weight != 0 && histogram.bucket(slot).count == 0) {
      return ImpossibleWeights("weight in a bucket without values");
    }
    if (weight > most - total) return ImpossibleWeights("more than 1 for each contribution");
    total += weight;
  }
  if (total != 0 && total != most) return ImpossibleWeights("less than 1 for each contribution");
  return {};
}

}  // namespace fieldcost::stats
