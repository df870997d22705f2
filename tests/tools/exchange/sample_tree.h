#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/tree/tree.h"

namespace fieldcost::exchange {

// A stack, outermost frame first, and a value per metric.
struct SampleStack {
  std::vector<tree::Frame> frames;
  std::vector<std::uint64_t> values;
};

// A tree of one run.
tree::Tree TreeOfStacks(std::vector<tree::Metric> metrics, const std::vector<SampleStack>& stacks);

// A tree with all kinds of frames, an exact metric of each unit, and a sampled one.
tree::Tree SampleTree();

// "libz.so!deflate" is a function in a module, "main" one without a module.
tree::Frame Function(std::string_view text);

// One line per path with a cost, "main;run wall=3 calls=1", in canonical order.
std::vector<std::string> LinesOf(const tree::Tree& tree);

}  // namespace fieldcost::exchange
