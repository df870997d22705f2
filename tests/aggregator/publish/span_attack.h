#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

namespace fieldcost::publish {

// Tries all linear combinations of the sums of these sets of batches, that is all ways to add and
// subtract them, any number of times. Returns fewer than `threshold` agents such that some
// combination is not zero and consists of their batches only; nullopt if there is none.
//
// Exact for the combinations with rational factors, except that it computes modulo a prime: it may
// find a combination that does not exist (with a probability of about 2^-31), but misses none whose
// determinants are below 2^31, for example any of 12 batches.
std::optional<std::set<std::size_t>> SpanAttack(const std::set<std::set<std::size_t>>& sums,
                                                const std::vector<std::size_t>& agent_of_batch,
                                                std::uint64_t threshold);

}  // namespace fieldcost::publish
