#include "tools/lsp/cost_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/check.h"
#include "common/base/text.h"
#include "common/draw/numbers.h"
#include "tools/lsp/source_name.h"
#include "tools/report/cards/card_text.h"
#include "tools/report/cards/cost_card.h"
#include "tools/report/freshness_text.h"

namespace fieldcost::lsp {
namespace {

using draw::FormatCost;

constexpr draw::Style kStyle = {.utf8 = true};
constexpr stats::Metric kTime = stats::Metric::kWallTime;
constexpr stats::Metric kBytes = stats::Metric::kAllocInclusive;
constexpr double kNsPerUs = 1000;
constexpr double kBytesPerKib = 1024;
constexpr std::size_t kMaxNameColumns = 160;

std::string Time(double ns) { return FormatCost(ns, kTime, kStyle); }
std::string Bytes(double bytes) { return FormatCost(bytes, kBytes, kStyle); }

std::string Strong(std::string_view text, bool markdown) {
  return markdown ? fmt::format("**{}**", text) : std::string(text);
}

std::string QuantileText(const char* name, const stats::Quantile& quantile, stats::Metric metric) {
  return fmt::format("{} {} (guaranteed {})", name, FormatCost(quantile.estimate, metric, kStyle),
                     draw::FormatInterval(quantile.low, quantile.high, " to ", metric, kStyle));
}

std::string Headline(const ApiCosts& costs, bool markdown) {
  const std::string name = Code(SourceName(costs), markdown);
  if (costs.time) {
    return fmt::format("{}: typically {} a call", name,
                       Strong(Time(costs.time->quantiles.p50.estimate), markdown));
  }
  if (costs.allocation) {
    return fmt::format("{}: typically allocates {} a call", name,
                       Strong(Bytes(costs.allocation->quantiles.p50.estimate), markdown));
  }
  return fmt::format("{}: no typical cost is known", name);
}

std::string VersionText(const stats::ApiKey& api, bool markdown) {
  std::string text = Code(api.soname, markdown);
  if (!api.package_version.empty()) text += " " + Code(api.package_version, markdown);
  if (!api.symbol_version.empty()) text += ", symbol version " + Code(api.symbol_version, markdown);
  return text;
}

void AddDetails(const ApiCosts& costs, bool markdown, std::vector<std::string>& lines) {
  if (costs.time) {
    const ApiCosts::Metric& time = *costs.time;
    lines.push_back(QuantileText("p50", time.quantiles.p50, kTime));
    lines.push_back(QuantileText("p95", time.quantiles.p95, kTime));
    lines.push_back(QuantileText("p99", time.quantiles.p99, kTime));
    if (!time.spectrum.empty()) {
      lines.push_back(fmt::format("cheap {} expensive", Code(time.spectrum, markdown)));
    }
  }
  if (costs.allocation && costs.allocation->mean.value_or(0) > 0) {
    lines.push_back(fmt::format("allocates {} a call on average ({})",
                                Bytes(*costs.allocation->mean),
                                QuantileText("p99", costs.allocation->quantiles.p99, kBytes)));
  }
  if (costs.io_mean > 0) {
    lines.push_back(fmt::format("reads and writes {} a call on average, files and network",
                                Bytes(costs.io_mean)));
  }
  for (const std::string& part : costs.not_measured) {
    lines.push_back("not measured: " + (markdown ? report::EscapeMarkdown(part) : part));
  }
  if (const auto& metric = costs.time ? costs.time : costs.allocation) {
    lines.push_back(
        fmt::format("n = {} in {}; {}", draw::Counted(metric->calls, "call"),
                    Counted(metric->contributions, "contribution"),
                    markdown ? report::EscapeMarkdown(metric->strata) : metric->strata));
  }
  lines.push_back(VersionText(costs.api, markdown) + (costs.is_installed      ? ", installed here"
                                                      : !costs.others.empty() ? ", the newest known"
                                                                              : ""));
  if (!costs.is_installed && !costs.installed.empty()) {
    lines.push_back("installed here: " + Code(costs.installed, markdown) +
                    ", whose costs are not known");
  }
  std::string others;
  for (const ApiCosts::Version& version : costs.others) {
    others += fmt::format("{}{} p50 {}", others.empty() ? "" : ", ",
                          Code(version.name.empty() ? "unknown" : version.name, markdown),
                          Time(version.p50));
  }
  if (!others.empty()) lines.push_back("other versions: " + others);
}

std::string FreshnessLine(const catalog::Freshness& freshness, WallTime now) {
  const std::string text = report::FreshnessText({.snapshot = freshness.snapshot_version,
                                                  .published = freshness.snapshot_published,
                                                  .fragments_current = freshness.fragments_current,
                                                  .fragments_total = freshness.fragments_total,
                                                  .incomplete = freshness.IsIncomplete()},
                                                 now);
  if (!freshness.Expired(now)) return text;
  return text + "; " + report::OutOfDateText(freshness.snapshot_expires);
}

std::string SyntheticMark(const catalog::Freshness& freshness) {
  return freshness.synthetic ? " (synthetic)" : "";
}

}  // namespace

std::string Code(std::string_view untrusted_text, bool markdown) {
  const std::string text = EscapeControl(untrusted_text);
  if (!markdown) return text;
  // CommonMark 6.1: a span ends at a run of as many backticks as it began with.
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  const std::string_view space = longest == 0 ? "" : " ";
  return fmt::format("{}{}{}{}{}", fence, space, text, space, fence);
}

std::string SourceName(const ApiCosts& costs) {
  const std::optional<CxxName> name = ParseCxxName(costs.api.symbol);
  return draw::Shorten(name ? name->text : costs.api.symbol, kMaxNameColumns, kStyle);
}

std::string CostText(const std::vector<ApiCosts>& found, const catalog::Freshness& freshness,
                     const TextStyle& style) {
  FIELDCOST_CHECK(!found.empty());
  std::vector<std::string> lines;
  AddDetails(found.front(), style.markdown, lines);
  for (std::size_t i = 1; i < found.size(); ++i) {
    lines.push_back("also " + Headline(found[i], style.markdown) + ", " +
                    VersionText(found[i].api, style.markdown));
  }
  lines.push_back(FreshnessLine(freshness, style.now));
  std::string text = Headline(found.front(), style.markdown) + "\n";
  if (freshness.synthetic) {
    text += fmt::format("\n{}: {}\n", Strong("SYNTHETIC", style.markdown), report::kMadeUpData);
  }
  if (!style.note.empty()) text += "\n" + style.note + "\n";
  text += "\n";
  for (const std::string& line : lines) text += "- " + line + "\n";
  if (!style.link.empty()) {
    text += style.markdown ? fmt::format("\n[Details]({})\n", style.link)
                           : fmt::format("\nDetails: {}\n", style.link);
  }
  return text;
}

std::string ShortCost(const ApiCosts& costs, const catalog::Freshness& freshness) {
  std::string text;
  if (costs.time) {
    text = Time(costs.time->quantiles.p50.estimate);
  } else if (costs.allocation) {
    text = "allocates " + Bytes(costs.allocation->quantiles.p50.estimate);
  } else {
    return "";
  }
  return text + SyntheticMark(freshness);
}

std::string HintText(const ApiCosts& costs, const catalog::Freshness& freshness,
                     const Settings& settings) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (costs.time) {
    const double p50 = costs.time->quantiles.p50.estimate;
    const double p99 = costs.time->quantiles.p99.estimate;
    if (settings.hint_calls && p50 >= static_cast<double>(settings.calls_min_us) * kNsPerUs) {
      add(Time(p50));
    }
    if (settings.hint_tail && p99 >= static_cast<double>(settings.tail_min_us) * kNsPerUs &&
        p99 >= static_cast<double>(settings.tail_min_ratio) * p50) {
      add("p99 " + Time(p99));
    }
  }
  if (settings.hint_allocation && costs.allocation && costs.allocation->mean.value_or(0) > 0 &&
      *costs.allocation->mean >= static_cast<double>(settings.allocation_min_kib) * kBytesPerKib) {
    add("allocates " + Bytes(*costs.allocation->mean));
  }
  if (settings.hint_io && costs.io_mean > 0 &&
      costs.io_mean >= static_cast<double>(settings.io_min_kib) * kBytesPerKib) {
    add("I/O " + Bytes(costs.io_mean));
  }
  return text.empty() ? text : text + SyntheticMark(freshness);
}

std::string StatusText(const std::optional<catalog::Freshness>& freshness, WallTime now) {
  if (!freshness) return "fieldcost: no catalogue";
  return fmt::format("fieldcost: {}{}{}{}", draw::FormatAge(freshness->snapshot_published, now),
                     freshness->Expired(now) ? " (expired)" : "",
                     freshness->IsIncomplete() ? " (incomplete)" : "", SyntheticMark(*freshness));
}

}  // namespace fieldcost::lsp
