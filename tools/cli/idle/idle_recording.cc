#include "tools/cli/idle/idle_recording.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "common/base/text.h"
#include "tools/cli/tree/tree_answer.h"

namespace fieldcost::cli {
namespace {

constexpr std::array<const IdleSide*, 4> kSides = {&kCpusSide, &kToSide, &kFromSide, &kPairsSide};

}  // namespace

const IdleSide& FindIdleSide(std::string_view name) {
  const auto* const found =
      std::ranges::find_if(kSides, [&](const IdleSide* side) { return side->name == name; });
  FIELDCOST_CHECK(found != kSides.end());
  return **found;
}

Error NoIdleRecording(const std::string& untrusted_name, const std::vector<tree::Metric>& metrics) {
  std::vector<std::string> names;
  for (const tree::Metric& metric : metrics) names.push_back(metric.name);
  return Fail(
      ErrorCode::kInvalidArgument,
      "{0} is not a recording of idle CPUs: it has {1}; see `fieldcost tree show`",
      EscapeControl(untrusted_name),
      names.empty() ? "a call tree without time" : fmt::format("{}", fmt::join(names, ", ")));
}

Result<LoadedIdle> LoadIdle(const std::string& operand) {
  FIELDCOST_ASSIGN(TreeOperand parsed, ParseTreeOperand(operand));
  const std::string name = EscapeControl(parsed.file.string());
  Result<recording::Recording> opened = recording::Recording::Open(parsed.file);
  if (!opened) {
    const bool is_other = opened.error().code == ErrorCode::kInvalidArgument;
    return Within(Fail(opened.error().code, "{}{}", opened.error().message,
                       is_other ? "; for files of other profilers use `fieldcost tree show`" : ""),
                  name);
  }
  if (!analysis::IdleAbout(*opened)) {
    return NoIdleRecording(parsed.file.string(), opened->contents().descriptions.metrics);
  }
  auto recorded = RunsOf(*opened, parsed.interval);
  if (!recorded) return Within(recorded.error(), name);
  auto view = analysis::MakeIdleView(*opened, PartsOf(*opened, parsed.interval));
  if (!view) return Within(view.error(), name);
  return LoadedIdle{.operand = std::move(parsed),
                    .recording = std::make_shared<const recording::Recording>(*std::move(opened)),
                    .view = *std::move(view),
                    .recorded = *std::move(recorded)};
}

Result<tree::Tree> SideTree(const LoadedIdle& loaded, const IdleSide& side) {
  RecordedRuns recorded = loaded.recorded;
  KeepMetrics(side.metrics, recorded);
  if (!tree::FindMetric(recorded.metrics, side.metrics[0])) {
    FIELDCOST_TRY(ChooseMetric(loaded.recorded.metrics, std::string(side.metrics[0])));
  }
  tree::RunValues sum(recorded.metrics.size());
  for (const tree::RunValues& run : recorded.runs) FIELDCOST_TRY(sum.Add(run));
  return tree::TreeOf(recorded.dictionary, recorded.metrics, {&sum, 1});
}

}  // namespace fieldcost::cli
