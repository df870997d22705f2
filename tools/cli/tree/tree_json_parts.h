#pragma once

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "tools/analysis/tree_view.h"

namespace fieldcost::cli {

// Shared by TreeJson() (tree_json.h) and other documents that contain a call tree. Pure.

// A tree, without remarks.
boost::json::object TreeViewJson(const analysis::TreeView& view);
// One text per line.
boost::json::array RemarksJson(const std::vector<std::string>& remarks);

}  // namespace fieldcost::cli
