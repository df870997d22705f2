// Checks the rules of lab tables, both before writing and after reading.
#include <algorithm>

#include "common/base/ascii.h"
#include "common/base/text.h"
#include "common/shm/metric.h"
#include "common/stats/metric_traits.h"
#include "common/wire/batch.h"
#include "common/wire/fragment_rows.h"
#include "common/wire/lab_table.h"
#include "common/wire/wire_limits.h"

namespace fieldcost::wire {
namespace {

Status CheckCount(std::string_view what, std::size_t count, std::size_t most) {
  if (count > most) {
    return Fail(ErrorCode::kTooLarge, "{} {}, at most {} are accepted", count, what, most);
  }
  return {};
}

Status CheckArguments(const LabApi& api) {
  for (std::size_t i = 0; i < api.arguments.size(); ++i) {
    const stats::ShapeArgument& argument = api.arguments[i];
    if (argument.number > kMaxLabArgument ||
        (i > 0 && argument.number <= api.arguments[i - 1].number)) {
      return Fail(ErrorCode::kCorrupt, "arguments out of range or not ascending");
    }
    if (!std::all_of(argument.sums.by_bucket.begin(), argument.sums.by_bucket.end(),
                     stats::IsPossible)) {
      return Fail(ErrorCode::kCorrupt, "argument {}: sums that costs cannot have", argument.number);
    }
  }
  return {};
}

Status CheckTotals(const LabApi& api) {
  for (std::size_t i = 0; i < api.totals.size(); ++i) {
    const LabTotal& total = api.totals[i];
    if (!stats::IsKnownMetric(static_cast<std::uint32_t>(total.metric)) ||
        !stats::TraitsOf(total.metric).is_exact ||
        (i > 0 && total.metric <= api.totals[i - 1].metric)) {
      return Fail(ErrorCode::kCorrupt, "totals of no such metric or not ascending");
    }
    if (total.least > total.most) {
      return Fail(ErrorCode::kCorrupt, "a total from {} to {}", total.least, total.most);
    }
  }
  return {};
}

Status CheckApi(const LabApi& api) {
  FIELDCOST_TRY(ValidateApiKey(api.api));
  if (!stats::IsPossible(api.log_cost)) {
    return Fail(ErrorCode::kCorrupt, "sums that costs cannot have");
  }
  FIELDCOST_TRY(CheckTotals(api));
  return CheckArguments(api);
}

Status CheckApis(const std::vector<LabApi>& apis) {
  FIELDCOST_TRY(CheckCount("APIs", apis.size(), kMaxLabApis));
  std::size_t arguments = 0;
  for (std::size_t i = 0; i < apis.size(); ++i) {
    if (const Status status = CheckApi(apis[i]); !status) {
      return Within(status.error(), fmt::format("API {}", i));
    }
    if (i > 0 && !(apis[i - 1].api < apis[i].api)) {
      return Fail(ErrorCode::kCorrupt, "API {}: not in ascending order", i);
    }
    arguments += apis[i].arguments.size();
  }
  return CheckCount("arguments", arguments, kMaxLabArguments);
}

Status CheckRows(const LabTable& table) {
  FIELDCOST_TRY(CheckCount("rows", table.rows.size(), kMaxLabRows));
  FIELDCOST_TRY(CheckFragmentRows(table.rows));
  auto api = table.apis.begin();
  for (const stats::StatRow& row : table.rows) {
    const std::string name = stats::DisplayName(row.key.api);
    api = std::find_if(api, table.apis.end(),
                       [&row](const LabApi& each) { return each.api == row.key.api; });
    if (api == table.apis.end()) {
      return Fail(ErrorCode::kCorrupt, "{}: a row of an API that is not listed", name);
    }
    FIELDCOST_TRY(ValidateHardwareClass(row.key.hardware));
    if (row.key.week != 0) return Fail(ErrorCode::kCorrupt, "{}: a row of a single week", name);
    if (row.scalars.contributions == 0 || row.scalars.contributions > row.histogram.timed()) {
      return Fail(ErrorCode::kCorrupt, "{}: {} runs with {} calls", name, row.scalars.contributions,
                  row.histogram.timed());
    }
    if (row.weights != stats::AgentWeights{} || row.bounded != stats::BoundedSums{} ||
        row.fullest_quarter != stats::QuarterScalars{}) {
      return Fail(ErrorCode::kCorrupt, "{}: sums that a lab table does not have", name);
    }
  }
  return {};
}

Status CheckStacks(const std::vector<LabStack>& stacks, std::size_t apis) {
  FIELDCOST_TRY(CheckCount("stacks", stacks.size(), kMaxLabStacks));
  std::vector<std::uint32_t> path;  // of the previous node
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    const LabStack& node = stacks[i];
    if (node.api >= apis) return Fail(ErrorCode::kCorrupt, "stack {}: no such API", i);
    std::uint32_t sibling = LabStack::kRoot;
    const auto parent = path.empty() ? LabStack::kRoot : path.back();
    for (auto above = parent; above != node.parent; above = stacks[sibling].parent) {
      if (path.empty()) return Fail(ErrorCode::kCorrupt, "stack {}: not below the one before", i);
      sibling = above;
      path.pop_back();
    }
    if (sibling != LabStack::kRoot && stacks[sibling].api >= node.api) {
      return Fail(ErrorCode::kCorrupt, "stack {}: not in ascending order", i);
    }
    path.push_back(static_cast<std::uint32_t>(i));
    FIELDCOST_TRY(CheckCount("functions on a stack", path.size(), kMaxStackFrames));
  }
  return {};
}

Status CheckPairs(const LabTable& table) {
  FIELDCOST_TRY(CheckCount("pairs", table.pairs.size(), kMaxLabPairs));
  for (std::size_t i = 0; i < table.pairs.size(); ++i) {
    const auto& [outer, inner] = table.pairs[i];
    if (outer >= table.apis.size() || inner >= table.apis.size()) {
      return Fail(ErrorCode::kCorrupt, "pair {}: no such API", i);
    }
    if (i > 0 && !(table.pairs[i - 1] < table.pairs[i])) {
      return Fail(ErrorCode::kCorrupt, "pair {}: not in ascending order", i);
    }
  }
  return {};
}

// EscapeControl() also escapes backslashes, which are not control characters.
bool HasControl(std::string text) {
  std::erase(text, '\\');
  return EscapeControl(text) != text;
}

Status CheckParts(const std::vector<LabPart>& parts) {
  FIELDCOST_TRY(CheckCount("parts", parts.size(), kMaxLabParts));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const LabPart& part = parts[i];
    if (!IsHexSha256(part.content_hash)) return Fail(ErrorCode::kCorrupt, "part {}: no hash", i);
    if (i > 0 && !(parts[i - 1].content_hash < part.content_hash)) {
      return Fail(ErrorCode::kCorrupt, "part {}: not in ascending order", i);
    }
    FIELDCOST_TRY(CheckCount("bytes of a part's name", part.name.size(), kMaxLabNameBytes));
    FIELDCOST_TRY(CheckCount("bytes of a part's environment", part.environment.size(),
                             kMaxLabEnvironmentBytes));
    FIELDCOST_TRY(CheckCount("bytes of a part's globs", part.apis.size(), kMaxLabEnvironmentBytes));
    if (HasControl(part.name) || HasControl(part.environment) || HasControl(part.apis)) {
      return Fail(ErrorCode::kCorrupt, "part {}: its texts are not printable", i);
    }
  }
  return {};
}

}  // namespace

Status Validate(const LabTable& untrusted_table) {
  FIELDCOST_TRY(CheckApis(untrusted_table.apis));
  FIELDCOST_TRY(CheckRows(untrusted_table));
  FIELDCOST_TRY(CheckStacks(untrusted_table.stacks, untrusted_table.apis.size()));
  FIELDCOST_TRY(CheckPairs(untrusted_table));
  return CheckParts(untrusted_table.parts);
}

}  // namespace fieldcost::wire
