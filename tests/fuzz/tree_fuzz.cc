// Trees as found in files, and operations on them.

#include <cstdint>
#include <span>
#include <string_view>

#include "common/base/check.h"
#include "common/tree/codec.h"
#include "common/tree/compare_trees.h"
#include "common/tree/remap.h"

namespace {

using namespace fieldcost;

// Sums may exceed a limit; this must be reported.
void UseTree(const tree::Tree& untrusted_tree) {
  const std::vector<tree::Tree> twice = {untrusted_tree, untrusted_tree};
  if (const auto sum = tree::Add(twice)) {
    FIELDCOST_CHECK(tree::DecodeTree(tree::EncodeTree(sum->tree)).has_value());
  }
  if (const auto least = tree::Minimum(twice)) {
    FIELDCOST_CHECK(tree::DecodeTree(tree::EncodeTree(least->tree)).has_value());
  }
  if (const auto none = tree::Difference(untrusted_tree, untrusted_tree)) {
    FIELDCOST_CHECK(tree::Net(none->tree).denominator == 1);
    FIELDCOST_CHECK(tree::DecodeMeanTree(tree::EncodeMeanTree(none->tree)).has_value());
  }
  if (const auto map = tree::FoldRecursion(*untrusted_tree.dictionary)) {
    const auto folded = tree::Apply(*map, untrusted_tree);
    if (folded) FIELDCOST_CHECK(tree::DecodeTree(tree::EncodeTree(*folded)).has_value());
  }
  for (std::size_t metric = 0; metric < untrusted_tree.metrics.size(); ++metric) {
    (void)tree::Compare(twice, twice, untrusted_tree.metrics[metric].name);
    FIELDCOST_CHECK(tree::UnnamedSum(untrusted_tree, metric) <=
                    untrusted_tree.values[metric].inclusive[0].sum);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto decoded = tree::DecodeTree(bytes)) {
    FIELDCOST_CHECK(tree::EncodeTree(*decoded) == bytes);
    UseTree(*decoded);
  }
  if (const auto decoded = tree::DecodeMeanTree(bytes)) {
    FIELDCOST_CHECK(tree::EncodeMeanTree(*decoded) == bytes);
    for (const tree::Metric& metric : decoded->metrics) {
      (void)tree::Compare(*decoded, metric.name);
    }
    if (const auto none = tree::Difference(*decoded, *decoded)) {
      FIELDCOST_CHECK(tree::DecodeMeanTree(tree::EncodeMeanTree(none->tree)).has_value());
    }
  }
  return 0;
}
