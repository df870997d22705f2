#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/report/tree/tree_page.h"

namespace fieldcost::report {

// The data of a tree page's scripts (page_parts/tree_model.js): script elements of JSON. No name in
// them can end the element.
//
//   #id      names, and [node]: parent (less than the node; the first is the root), frame (an index
//            into names, from 1 on), where (tree::kInBefore, kInAfter); "metrics": self values, by
//            node. Sums beyond 2^53 are texts, for BigInt. "more": [node, value, ...] by which an
//            inclusive value exceeds the sum below it (tree::Excess()).
//   .bins    of a metric ("data-metric"), some bins each: [[step, value, ...], ...], in which the
//            nodes are the sums of the steps. With "data-thread": of the thread with that number in
//            #tree's "threads", from 1 on.
std::string TreePageData(const TreePage& page, std::string_view id = "tree");

// Colours of self costs, "#rrggbb": the last from half of the whole on, each one before from half
// of what the next begins at.
std::vector<std::string> ScaleColors();

// Several bins an element, so that reading one is a short task for the browser.
inline constexpr std::size_t kBinsPerElement = 64;

}  // namespace fieldcost::report
