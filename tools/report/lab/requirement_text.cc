#include "tools/report/lab/requirement_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/base/text.h"
#include "common/draw/name_text.h"
#include "common/draw/numbers.h"
#include "common/draw/text_table.h"
#include "common/names/cxx_name.h"
#include "tools/report/api_names.h"
#include "tools/report/csv.h"

namespace fieldcost::report {
namespace {

using analysis::JudgedRequirement;
using analysis::RequiredVerdict;

constexpr std::array<RequiredVerdict, 3> kOrder = {
    RequiredVerdict::kViolated, RequiredVerdict::kNotMeasured, RequiredVerdict::kMet};

std::string NumberText(double value, stats::Metric metric, const draw::Style& style) {
  if (metric != stats::Metric::kCallsPerRun) return draw::FormatCost(value, metric, style);
  return FormatCount(static_cast<std::uint64_t>(value));
}

// "610 us", for a quantile that is known to be in an interval "610 us (520 us to 1.0 ms)".
std::string MeasuredText(const JudgedRequirement& judged, const draw::Style& style) {
  if (!judged.measured) return judged.why.empty() ? "-" : EscapeControl(judged.why);
  const stats::Metric metric = analysis::MetricOf(judged.requirement.figure);
  std::string text = NumberText(*judged.measured, metric, style);
  if (judged.requirement.figure == analysis::RequiredFigure::kGrowing) {
    return *judged.measured > 0 ? fmt::format("by {} per call", text) : "no";
  }
  if (judged.verdict != RequiredVerdict::kNotMeasured || !judged.quantile) return text;
  return fmt::format(
      "{} ({}): {}", text,
      draw::FormatInterval(judged.quantile->low, judged.quantile->high, "to", metric, style),
      EscapeControl(judged.why));
}

// The function; as the user wrote it if none was found.
std::string NameText(const JudgedRequirement& judged, const draw::Style& style) {
  const std::string name =
      judged.api.symbol.empty() ? judged.requirement.name : names::ShortName(judged.api.symbol);
  return draw::ShortenName(name, kMaxApiWidth, style);
}

}  // namespace

std::string LimitText(const analysis::Requirement& requirement, const draw::Style& style) {
  const stats::Metric metric = analysis::MetricOf(requirement.figure);
  const auto most = static_cast<double>(requirement.most);
  if (requirement.figure == analysis::RequiredFigure::kGrowing) return "not growing";
  return fmt::format("{} {} {}", analysis::Name(requirement.figure), style.utf8 ? "≤" : "<=",
                     metric == stats::Metric::kCallsPerRun ? FormatCount(requirement.most)
                                                           : draw::FormatTick(most, metric, style));
}

std::string RequirementText(std::span<const JudgedRequirement> judged, const draw::Style& style) {
  const std::vector<draw::TextColumn> columns = {{"VERDICT"},
                                                 {"FUNCTION", false, 0, kLeastApiWidth, true},
                                                 LibraryColumn(1),
                                                 {"REQUIREMENT"},
                                                 {"MEASURED"}};
  std::vector<draw::TextLine> lines;
  std::string counts;
  for (const RequiredVerdict verdict : kOrder) {
    std::uint64_t count = 0;
    for (const JudgedRequirement& one : judged) {
      if (one.verdict != verdict) continue;
      ++count;
      lines.push_back({std::string(Name(verdict)), NameText(one, style),
                       EscapeControl(one.api.soname), LimitText(one.requirement, style),
                       MeasuredText(one, style)});
    }
    if (count != 0) counts += fmt::format(", {} {}", FormatCount(count), Name(verdict));
  }
  return draw::TextTable(columns, lines, style) +
         fmt::format("{}{}\n", Counted(judged.size(), "requirement"),
                     counts.empty() ? "" : ":" + counts.substr(1));
}

std::string RequirementCsv(const std::vector<JudgedRequirement>& judged) {
  using Columns = CsvColumns<JudgedRequirement>;
  const auto known = [](const JudgedRequirement& one, double stats::Quantile::*part) {
    return one.quantile ? std::optional((*one.quantile).*part) : std::nullopt;
  };
  const Columns columns = {
      {"verdict", [](CsvWriter& csv, const auto& one) { csv.Text(Name(one.verdict)); }},
      {"name", [](CsvWriter& csv, const auto& one) { csv.Text(one.requirement.name); }},
      {"figure", [](CsvWriter& csv, const auto& one) { csv.Text(Name(one.requirement.figure)); }},
      {"limit", [](CsvWriter& csv, const auto& one) { csv.Count(one.requirement.most); }},
      {"unit",
       [](CsvWriter& csv, const auto& one) {
         csv.Text(stats::Unit(analysis::MetricOf(one.requirement.figure)));
       }},
      {"library", [](CsvWriter& csv, const auto& one) { csv.Text(one.api.soname); }},
      {"symbol", [](CsvWriter& csv, const auto& one) { csv.Text(one.api.symbol); }},
      {"measured", [](CsvWriter& csv, const auto& one) { csv.Known(one.measured); }},
      {"low",
       [known](CsvWriter& csv, const auto& one) { csv.Known(known(one, &stats::Quantile::low)); }},
      {"high",
       [known](CsvWriter& csv, const auto& one) { csv.Known(known(one, &stats::Quantile::high)); }},
      {"why", [](CsvWriter& csv, const auto& one) { csv.Text(one.why); }}};
  return CsvOf(columns, judged);
}

}  // namespace fieldcost::report
