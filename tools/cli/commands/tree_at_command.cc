// `fieldcost tree at`: shows part of a recording's time.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/base/text.h"
#include "common/recording/conformance/time_tree.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/tree/operand.h"
#include "tools/cli/tree/tree_answer.h"

namespace fieldcost::cli {
namespace {

constexpr std::string_view kExact = "exact";
constexpr std::string_view kTimeTree = "mnp";

Status CheckMethod(std::string& untrusted_text) {
  if (untrusted_text == kExact || untrusted_text == kTimeTree) return {};
  return Fail(ErrorCode::kInvalidArgument, "expected exact or mnp");
}

// The stream of stacks that the time tree is built from.
Result<recording::StreamId> SamplesOf(const recording::Recording& recording) {
  const auto& streams = recording.contents().descriptions.streams;
  const auto found =
      std::ranges::find(streams, recording::StreamKind::kSamples, &recording::Stream::kind);
  if (found == streams.end()) {
    return Fail(ErrorCode::kInvalidArgument, "it has no samples");
  }
  return recording::StreamId(static_cast<std::uint16_t>(found - streams.begin()));
}

// Answers from the hierarchical time tree: counts of samples, not exact.
Result<LoadedTree> ByTimeTree(const TreeOperand& operand, const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const recording::Recording recording, recording::Recording::Open(operand.file));
  if (!HasTimes(recording)) {
    return Fail(ErrorCode::kInvalidArgument, "it has no times: no interval can be selected");
  }
  FIELDCOST_ASSIGN(const recording::StreamId stream, SamplesOf(recording));
  const recording::TimeTreeOptions options{
      .m = *arguments.Number("--m"), .n = *arguments.Number("--n"), .p = *arguments.Number("--p")};
  FIELDCOST_ASSIGN(const auto time_tree, recording::TimeTree::Of(recording, stream, options));
  const recording::Interval interval = operand.interval.value_or(recording::Interval{});
  const recording::TimeTree::Answer answer = time_tree.Count(interval);
  tree::RunValues values(1);
  for (const auto& [path, count] : answer.counts) {
    FIELDCOST_TRY(values.Add(0, tree::PathId(path), count));
  }
  LoadedTree loaded;
  FIELDCOST_ASSIGN(loaded.tree,
                   tree::TreeOf(recording.contents().dictionary,
                                {{.name = "samples", .unit = tree::Unit::kCount}}, {&values, 1}));
  loaded.remarks.emplace_back(
      "each record counts as 1, regardless of its cost: for the cost use --method exact");
  loaded.remarks.push_back(
      fmt::format("each path has up to {} more samples than shown; {} nodes were visited",
                  answer.uncertainty, answer.visits.size()));
  return loaded;
}

Result<int> RunTreeAt(const command::Arguments& arguments) {
  const std::string text = fmt::format("{}@{}..{}", arguments.Text("recording"),
                                       arguments.Text("--from"), arguments.Text("--to"));
  FIELDCOST_ASSIGN(const TreeOperand operand, OperandOf(text, arguments));
  TreeShow show = TreeShowOf(arguments);
  show.named = text;
  LoadedTree loaded;
  if (arguments.Text("--method") == kTimeTree) {
    if (operand.by) {
      return Fail(ErrorCode::kInvalidArgument, "--method mnp keeps no threads: leave out --by");
    }
    Result<LoadedTree> counted = ByTimeTree(operand, arguments);
    if (!counted) return Within(counted.error(), EscapeControl(operand.file.string()));
    loaded = *std::move(counted);
  } else {
    FIELDCOST_ASSIGN(loaded, LoadTree(operand));
    show.operand = operand;
    show.recording = loaded.recording;
  }
  FIELDCOST_TRY(PutTree(std::get<tree::Tree>(loaded.tree), loaded.remarks, arguments, show));
  return 0;
}

command::Option NumberOfMethod(std::string_view names, std::string_view help,
                               std::string_view usual) {
  return {.names = names,
          .value = "N",
          .help = help,
          .default_text = usual,
          .check = command::CheckNumber};
}

}  // namespace

command::Command TreeAtCommand() {
  command::Command at{
      .name = "at",
      .summary = "Part of a recording's time",
      .help =
          R"(FROM is included, TO is not, so that parts add up. Times count from the start of each run.

--method mnp is for comparison with other tools: a hierarchical time tree of M, N and P, which counts
records of samples, each as 1 whatever CPU time it stands for (recorded without root, [kernel] is
about ten records a second), and is not exact (the error is reported); times count from the start of
the recording. Examples:
  fieldcost tree at a.fct --from 12s --to 14s -o slice.fct
  fieldcost tree at a.fct --to 500ms --metric wall
  fieldcost tree at a.fct --from 500ms --by thread
  fieldcost tree at a.fct --from 12s --to 14s --method mnp --m 1000 --n 8 --p 95)",
      .options = {RecordingOperand(),
                  {.names = "--from", .value = "TIME", .help = "12s, 1.5ms, 2m [start]"},
                  {.names = "--to", .value = "TIME", .help = "The same [end]"},
                  TreeOutputOption(),
                  {.names = "--method",
                   .value = "NAME",
                   .help = "How to slice: exact or mnp",
                   .default_text = kExact,
                   .check = CheckMethod},
                  NumberOfMethod("--m", "For mnp: a node with fewer samples keeps them all",
                                 "1000"),
                  NumberOfMethod("--n", "For mnp: a larger node is divided into N parts", "8"),
                  NumberOfMethod("--p", "For mnp: and keeps stacks of N % of its samples", "95")},
      .handler = RunTreeAt};
  AddTreeShowOptions(at);
  return at;
}

}  // namespace fieldcost::cli
