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

// Call trees named on the command line: a file, optionally with a time interval.

// Parses "12s", "1.5ms", "2m", "250us", "0" to exact ns. nullopt for anything else, and above 2^62.
std::optional<std::uint64_t> ParseNanoseconds(std::string_view text);

// "a.fct", "a.fct@12s..14s", "a.fct@..500ms", "a.fct@3m..". Intervals are half-open, so that parts
// add up, and count from each run's start.
struct TreeOperand {
  std::filesystem::path file;
  std::optional<recording::Interval> interval;
  // Makes threads or processes the first frames of paths (recording::DividedByThread()).
  std::optional<recording::DivideBy> by = {};
  bool by_name = false;  // omit their ids, to merge those of several recordings
};
// kInvalidArgument if the text after the last "@" contains ".." but is not an interval.
Result<TreeOperand> ParseTreeOperand(std::string_view text);

// The value of --by: "thread", "process"; nullopt: not given.
std::optional<recording::DivideBy> DivideByOf(std::string_view text);

// A file's contents: runs, or a tree computed from runs.
struct LoadedTree {
  std::variant<tree::Tree, tree::MeanTree> tree;
  std::vector<std::string> remarks;  // one line each, for users; not escaped
  // The recording that the runs were read from, as it was then; the file may still be growing.
  std::shared_ptr<const recording::Recording> recording = nullptr;
  // First frames that stand for threads or processes, if it was divided.
  std::vector<recording::ThreadFrame> threads = {};
};

// Loads the runs of a recording, each divided into `divided_by` parts (RunsOf()); nullopt if it
// holds only a tree.
Result<std::optional<RecordedRuns>> LoadEachRun(const TreeOperand& operand,
                                                std::uint64_t divided_by = 1);

// Loads the runs of a recording, or the tree stored in it, or any other file that
// exchange::Import() can read. kInvalidArgument if an interval is requested but the file has no
// times, or threads are but it names none. Errors of both readers, with the file's name.
Result<LoadedTree> LoadTree(const TreeOperand& operand);
// Imports a file written by another program; errors include the file's name.
Result<exchange::Imported> ImportFile(const std::filesystem::path& file,
                                      const exchange::ImportOptions& options);
// The mean of the runs, or the stored mean.
Result<tree::MeanTree> MeanOf(const LoadedTree& loaded);

// Writes a recording that holds only this tree (EncodeTree(), EncodeMeanTree()).
Status SaveTree(const std::filesystem::path& file, std::string_view encoded_tree);

}  // namespace fieldcost::cli
