#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/report/tree/tree_page.h"

namespace fieldcost::report {

// The data for a tree page's scripts (page_parts/tree_model.js) as script elements with JSON. No
// name in them can end the element.
//
//   #id      names, and per node: parent (less than the node; the first is the root), frame (an
//            index into names, from 1 on), where (tree::kInBefore, kInAfter); "metrics": self
//            values per node. Sums beyond 2^53 are texts, for BigInt. "more": [node, value, ...] by
//            which an inclusive value exceeds the sum below it (tree::Excess()).
//   .bins    some bins of a metric ("data-metric"): [[step, value, ...], ...], in which the nodes
//            are the sums of the steps. With "data-thread": bins of the thread with that number in
//            #tree's "threads", from 1 on.
std::string TreePageData(const TreePage& page, std::string_view id = "tree");

// Colours of self costs, "#rrggbb": the last one applies from half of the whole on, each one before
// it from half of the next one's minimum.
std::vector<std::string> ScaleColors();

// Several bins per element, so that reading one is a short task for the browser.
inline constexpr std::size_t kBinsPerElement = 64;

}  // namespace fieldcost::report
