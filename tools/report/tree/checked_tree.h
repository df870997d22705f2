#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/draw/terminal.h"
#include "tools/analysis/check_report.h"
#include "tools/analysis/tree_view.h"

namespace fieldcost::report {

// Finds the functions of a report by the names that profilers give them.
class FrameNames {
 public:
  enum class Which { kWorse, kAll };  // kWorse: than the field
  explicit FrameNames(const analysis::CheckReport& report, Which which = Which::kWorse);
  // Returns the first API of the report that this frame may be; worse and more expensive ones come
  // first. Recognises "deflate", "deflate+0x1f", "deflate_[j]", "deflate@plt", "libz.so.1!deflate",
  // "libz.so.1.2.13`deflate"; for C++ "_ZN2cv6resizeEd", "cv::resize(double)", "cv::resize". A
  // module, if given, must be the API's library. nullptr if none.
  const analysis::CheckedApi* Find(std::string_view untrusted_frame) const;
  // The same for a frame of a call tree, whose module has no version.
  const analysis::CheckedApi* Find(const tree::Frame& frame) const;

 private:
  std::map<std::string, std::vector<const analysis::CheckedApi*>, std::less<>> by_name_;
};

// A tree with the functions of a report marked; the report must outlive it.
struct CheckedTree {
  struct Node {
    const analysis::CheckedApi* flagged = nullptr;
    bool leads_to_flagged = false;  // this node or one below it is flagged
  };
  std::vector<Node> nodes;           // as in the view
  stats::Uint128 flagged_total = 0;  // in worse functions, including what they call
  std::size_t worse_seen = 0;        // distinct APIs in the tree that are worse
};
// REQUIRES (here and below): the view is not a difference.
CheckedTree Highlight(const analysis::TreeView& view, const analysis::CheckReport& report);

// "2 of 3 APIs that are worse than the field are in this profile, with 62 % of it", or the sentence
// that there are none. `share`: the part of the profile in these functions.
std::string FlaggedSentence(const CheckedTree& checked, std::size_t worse, std::string_view share);

// The tree as TreeText() shows it, with "!" for worse than the field. Paths with less than half a
// percent that lead to nothing flagged are summarised.
std::string CheckedTreeText(const analysis::TreeView& view, const analysis::CheckReport& report,
                            const draw::Style& style);

// A sentence that names the worse APIs that are in no path of the tree; empty if none. Names are
// escaped.
std::string UnseenText(const analysis::TreeView& view, const analysis::CheckReport& report);

}  // namespace fieldcost::report
