#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/command/command.h"
#include "common/recording/by_thread.h"
#include "common/tree/mean_tree.h"
#include "common/tree/tree.h"
#include "tools/report/tree/tree_diff_text.h"

namespace fieldcost::cli {

// Shared by `tree diff` and `tree compare`.

struct TreeSide {
  std::vector<tree::Tree> runs;  // single runs; empty if only sums are known
  tree::MeanTree mean;
  std::string command = {};  // of the first run; empty if unknown
};

struct SideOptions {
  std::vector<std::string> rules = {};             // that rename functions
  std::span<const std::string_view> metrics = {};  // only these metrics of runs; empty: all
  std::uint64_t parts = 1;                         // number of parts each run counts as
  std::optional<recording::DivideBy> by = {};      // divides by the names of threads or processes
};
// Loads an operand (ParseTreeOperand()) and appends to the remarks.
Result<TreeSide> LoadTreeSide(const std::string& name, const SideOptions& options,
                              std::vector<std::string>& remarks);
// Joins the runs of several sides. REQUIRES: at least one side, each with known runs.
Result<TreeSide> JoinSides(std::vector<TreeSide> sides);

// Adds --output, --svg, --html, --depth and --all, and the check for excluded combinations.
void AddComparisonOptions(command::Command& command);
command::Option ComparedMetricOption();  // --metric

struct ComparedSides {
  TreeSide before;
  TreeSide after;
  std::string named;  // both sides, for people
  report::RunOrder order = report::RunOrder::kSeparate;
  std::vector<std::string> remarks = {};
};
// Compares by a metric ("": the main one) and shows or writes the difference as these options
// request. The main programs of both sides count as one module, regardless of file names. Returns
// the exit status: 0 nothing costs significantly more, 1 the whole or a path does, 2 too little
// data.
Result<int> PutComparison(ComparedSides sides, const std::string& metric,
                          const command::Arguments& arguments);
command::Option RenameOption();  // --rename

}  // namespace fieldcost::cli
