#pragma once

#include <boost/json/object.hpp>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "common/catalog/catalog.h"
#include "tools/analysis/check_report.h"
#include "tools/analysis/tree_view.h"

namespace fieldcost::cli {

inline constexpr unsigned kCheckFormatVersion = 1;

struct CheckFacts {
  WallTime checked{};
  std::string_view profile;  // "local", "file" or "program"
  stats::HardwareClass hardware;
  catalog::Freshness freshness;
};

// A call tree, and its view from the outermost functions by one of its metrics.
struct TreeToCheck {
  tree::MeanTree mean;
  std::size_t metric = 0;
  analysis::TreeView view;
};

// The result of a check as one JSON object: what `check --json` prints and what STATE/check.json
// holds for editors. JSON.md describes the members.
std::string CheckJson(const analysis::CheckReport& report, const CheckFacts& facts);

// The same of a program that was measured, with the members "coverage" (lab/lab_json.h) and "tree",
// as CheckedTreeJson(); nullptr = null.
std::string CheckJson(const analysis::CheckReport& report, const CheckFacts& facts,
                      boost::json::object coverage, const TreeToCheck* tree);

// One API of the result with both histograms: `check --explain API --json`.
std::string ExplainJson(const std::vector<const analysis::CheckedApi*>& apis,
                        const analysis::CheckReport& report, const CheckFacts& facts);

// `check --tree FILE`: the tree's functions, parents before their children; "parent" is an index
// into that list, or null. Costs are sums over "denominator". "contexts" has the places that call
// worse APIs, ranked by cost.
std::string CheckedTreeJson(const TreeToCheck& tree, const analysis::CheckReport& report);

// `check --save FILE`: reports the written file.
std::string SavedJson(const std::filesystem::path& file, std::size_t size_bytes);

}  // namespace fieldcost::cli
