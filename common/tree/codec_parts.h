#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/stats/uint128.h"
#include "common/tree/tree_dictionary.h"
#include "common/tree/tree_metric.h"

namespace fieldcost::tree {

// The parts of the encoding that both kinds of trees share; codec.cc has the grammar.

inline constexpr std::uint8_t kTreeFormatVersion = 1;
enum class TreeKind : std::uint8_t { kRuns = 1, kMeans = 2 };

// Appends version, kind, metrics, and the frames and paths of `order` (from CanonicalOrder()).
void AppendHead(TreeKind kind, const std::vector<Metric>& metrics, const Dictionary& dictionary,
                const std::vector<PathId>& order, std::string& bytes);

// The paths that are in any run, or on any side, in canonical order.
template <typename Number>
std::vector<PathId> OrderOf(const Dictionary& dictionary, const std::vector<Number>& present) {
  std::vector<bool> kept(present.size());
  for (std::size_t path = 0; path < present.size(); ++path) kept[path] = present[path] != 0;
  return CanonicalOrder(dictionary, kept);
}

// Indexed by path id: whether a path in `order` extends it.
std::vector<bool> HasChildren(const PathTable& paths, const std::vector<PathId>& order);

// Reads parts from the front.
class Reader {
 public:
  explicit Reader(std::string_view untrusted_bytes) : rest_(untrusted_bytes) {}

  std::size_t left() const { return rest_.size(); }

  // kCorrupt if it is missing, greater than `most`, or not in its shortest form.
  Result<stats::Uint128> Wide(stats::Uint128 most = ~stats::Uint128{0});
  Result<std::uint64_t> Number(std::uint64_t most = ~std::uint64_t{0});
  // Reads a count of items of at least `least_bytes` each; kTooLarge if it is greater than `most`.
  Result<std::size_t> Count(std::size_t most, std::size_t least_bytes, std::string_view what);
  Result<std::string_view> Bytes(std::size_t size);

 private:
  std::string_view rest_;
};

Error Malformed(std::string_view what);

struct Head {
  std::vector<Metric> metrics;
  std::shared_ptr<const Dictionary> dictionary;
  std::vector<bool> is_leaf;  // [path id]
};
// Reads the output of AppendHead(). Also kCorrupt unless the remaining bytes are at least twice as
// many as the values, so that memory may be allocated for them.
Result<Head> TakeHead(Reader& reader, TreeKind kind);

}  // namespace fieldcost::tree
