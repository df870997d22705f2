#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/base/result.h"
#include "common/recording/by_thread.h"
#include "common/recording/recording.h"
#include "common/tree/mean_tree.h"
#include "common/tree/tree.h"
#include "tools/cli/tree/recorded_runs.h"
#include "tools/exchange/exchange.h"

namespace fieldcost::cli {

// Call trees as named on the command line: a file, optionally with a part of its time.

// "12s", "1.5ms", "2m", "250us", "0": exact ns. nullopt for anything else, and past 2^62.
std::optional<std::uint64_t> ParseNanoseconds(std::string_view text);

// "a.fct", "a.fct@12s..14s", "a.fct@..500ms", "a.fct@3m..": half-open, so that parts add up; from
// each run's begin on.
struct TreeOperand {
  std::filesystem::path file;
  std::optional<recording::Interval> interval;
  // Threads, or processes, are the first frames of paths (recording::DividedByThread()).
  std::optional<recording::DivideBy> by = {};
  bool by_name = false;  // without their ids, so that those of several recordings are merged
};
// kInvalidArgument if the text after the last "@" has ".." but is not an interval.
Result<TreeOperand> ParseTreeOperand(std::string_view text);

// The value of --by: "thread", "process"; nullopt: not given.
std::optional<recording::DivideBy> DivideByOf(std::string_view text);

// A file's contents: runs, or a tree computed from runs.
struct LoadedTree {
  std::variant<tree::Tree, tree::MeanTree> tree;
  std::vector<std::string> remarks;  // each a line, for people; not escaped
  // What runs were read of, as it was then: it may go on growing.
  std::shared_ptr<const recording::Recording> recording = nullptr;
  // First frames that stand for threads or processes, if it was divided.
  std::vector<recording::ThreadFrame> threads = {};
};

// The runs of a recording, each divided into so many parts (RunsOf()); nullopt if it has a tree
// alone.
Result<std::optional<RecordedRuns>> LoadEachRun(const TreeOperand& operand,
                                                std::uint64_t divided_by = 1);

// Loads the runs of a recording, or the tree that is in it, or what exchange::Import() makes of any
// other file. kInvalidArgument if an interval is wanted of a file that has no time, or threads of
// one that names none; errors of both, with the file's name.
Result<LoadedTree> LoadTree(const TreeOperand& operand);
// A file written by another program; errors include the file's name.
Result<exchange::Imported> ImportFile(const std::filesystem::path& file,
                                      const exchange::ImportOptions& options);
// The mean of runs, or what it is.
Result<tree::MeanTree> MeanOf(const LoadedTree& loaded);

// Writes a recording that holds only that tree (EncodeTree(), EncodeMeanTree()).
Status SaveTree(const std::filesystem::path& file, std::string_view encoded_tree);

}  // namespace fieldcost::cli
