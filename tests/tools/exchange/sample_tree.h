#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/tree/tree.h"

namespace fieldcost::exchange {

// A stack, its outermost frame first, and a value for each metric.
struct SampleStack {
  std::vector<tree::Frame> frames;
  std::vector<std::uint64_t> values;
};

// A tree of one run.
tree::Tree TreeOfStacks(std::vector<tree::Metric> metrics, const std::vector<SampleStack>& stacks);

// All kinds of frames; an exact metric of each unit, and a sampled one.
tree::Tree SampleTree();

// "libz.so!deflate" is a function of a module, "main" of none.
tree::Frame Function(std::string_view text);

// A line for each path that costs something: "main;run wall=3 calls=1"; in canonical order.
std::vector<std::string> LinesOf(const tree::Tree& tree);

}  // namespace fieldcost::exchange
