#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace fieldcost::lab {

// Which APIs were on a stack together, according to the map run. APIs are represented by their
// indices. A plain value of up to 4 MiB; not thread-safe.
class PairGraph {
 public:
  static constexpr std::uint32_t kMostApis = 4096;

  // REQUIRES: count <= kMostApis.
  explicit PairGraph(std::uint32_t count);

  std::uint32_t count() const { return count_; }
  // The number of 64-bit words in a row of bits.
  std::uint32_t words() const { return words_; }

  // `inner` was entered while `outer` was on the stack. (A, A), recursion, is left out: an API's
  // outermost call is timed, inner ones are counted. REQUIRES: both < count().
  void AddPair(std::uint32_t outer, std::uint32_t inner);

  // One bit per API: those entered while `outer` was on the stack.
  std::span<const std::uint64_t> EnteredUnder(std::uint32_t outer) const {
    return Row(entered_, outer);
  }
  // One bit per API: those that were above or below it on a stack, except itself.
  std::span<const std::uint64_t> Neighbours(std::uint32_t api) const {
    return Row(neighbours_, api);
  }
  // Returns whether they were on a stack together, in either order.
  bool ShareAStack(std::uint32_t a, std::uint32_t b) const {
    return (Neighbours(a)[b / 64] >> (b % 64) & 1U) != 0;
  }

 private:
  std::span<const std::uint64_t> Row(const std::vector<std::uint64_t>& rows,
                                     std::uint32_t api) const {
    return {rows.data() + std::size_t{api} * words_, words_};
  }

  std::uint32_t count_;
  std::uint32_t words_;
  std::vector<std::uint64_t> entered_;
  std::vector<std::uint64_t> neighbours_;
};

struct GroupOptions {
  std::uint64_t seed = 0;               // decides ties
  std::vector<std::uint32_t> isolated;  // timed in groups of their own; any order, each < count()
};

// A colouring: every API is in one group, and no two APIs in a group were on a stack together.
struct Grouping {
  std::vector<std::vector<std::uint32_t>> groups;  // each ascending, ordered by their first API
  // APIs that were all on a stack with each other, ascending; none of them is isolated.
  std::vector<std::uint32_t> clique;
  // No grouping has fewer groups: the clique's size plus the number of isolated APIs.
  std::uint32_t lower_bound = 0;
  bool is_fewest = false;   // equals lower_bound. If false, the number may still be minimal
  std::uint64_t steps = 0;  // words and APIs visited, at most kMostGroupSteps
};

// Maximum number of steps of one GroupApis() call for any graph: less than a second.
inline constexpr std::uint64_t kMostGroupSteps = std::uint64_t{1} << 28;

// Groups APIs into few timing passes: uses DSATUR (Brelaz 1979) and, if no API was both above and
// below another, directly or indirectly, the layers of longest paths. The better of the two is
// improved by iterated greedy (Culberson and Luo 1996), which never makes it worse, until it
// reaches the size of a clique or the steps are used up. Needs at most one group more than the
// largest number of neighbours. The result depends only on the set of pairs and the options. Pure.
Grouping GroupApis(const PairGraph& graph, const GroupOptions& options = {});

// Returns the order of `count` groups in a round: a permutation of 0 .. count - 1, the same on
// every machine and with every library (std::mt19937_64, whose output the standard defines
// exactly).
std::vector<std::uint32_t> ShuffledOrder(std::uint32_t count, std::uint64_t seed,
                                         std::uint32_t round);

}  // namespace fieldcost::lab
