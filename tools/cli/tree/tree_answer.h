#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/command/command.h"
#include "common/tree/mean_tree.h"
#include "tools/cli/terminal/output.h"
#include "tools/cli/tree/operand.h"

namespace fieldcost::cli {

// Options for showing a tree, shared by the commands below `tree`.

struct TreeShow {
  std::string metric;   // empty: exchange::MainMetric()
  std::string callers;  // a glob of functions; empty: not requested
  std::string callees;  // the same
  bool bottom_up = false;
  bool flat = false;
  bool by_thread = false;   // the first frames are threads or processes
  bool all = false;         // include frames of any cost
  std::string svg;          // a file; empty: text
  std::string html;         // the same
  std::uint64_t depth = 0;  // 0: all
  std::uint64_t limit = 0;  // rows of a flat table, or callees of a function; 0: all
  // For a page: the operand's name, and the recording with its times, if any.
  std::string named;
  TreeOperand operand = {};
  std::shared_ptr<const recording::Recording> recording = nullptr;
};

// A required operand.
command::Option RecordingOperand(std::string_view name = "recording",
                                 std::string_view value = "RECORDING");
command::Option TreePageOption();    // --html
command::Option TreeOutputOption();  // --output
command::Option DivideByOption();    // --by
// For command::Command::check: CheckPageOption() for --html.
Status CheckTreePage(const command::Arguments& arguments);
// Adds the options for showing a tree, and that check.
void AddTreeShowOptions(command::Command& command);
TreeShow TreeShowOf(const command::Arguments& arguments);

// Parses an operand and --by. `by_name`: merges threads of the same name in several recordings.
Result<TreeOperand> OperandOf(std::string_view text, const command::Arguments& arguments,
                              bool by_name = false);

// The index of the selected metric. kNotFound lists the available ones.
Result<std::size_t> ChooseMetric(const std::vector<tree::Metric>& metrics, const std::string& name);

// Maximum number of paths on a page, since a browser must load them.
inline constexpr std::size_t kMaxPagePaths = 1'000'000;
// kTooLarge if the tree has more.
Status CheckPageSize(const tree::MeanTree& mean);

// Prints text through the pager, JSON, or CSV; for a difference, both sides.
Status PrintTree(const tree::MeanTree& mean, const std::vector<std::string>& remarks,
                 const TreeShow& show, const Output& output);

// Writes a tree to --output, or shows it.
Status PutTree(const tree::Tree& tree, const std::vector<std::string>& remarks,
               const command::Arguments& arguments, const TreeShow& show);

}  // namespace fieldcost::cli
