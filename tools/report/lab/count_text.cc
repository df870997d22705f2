#include "tools/report/lab/count_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/base/text.h"
#include "common/draw/name_text.h"
#include "common/draw/numbers.h"
#include "common/draw/text_table.h"
#include "common/names/cxx_name.h"
#include "tools/report/api_names.h"
#include "tools/report/figure_text.h"

namespace fieldcost::report {
namespace {

using analysis::LabChange;
using analysis::LabCount;
using analysis::LabCounts;
using inference::Verdict;
using stats::Metric;

constexpr std::size_t kMostLines = 20;  // without --all
constexpr double kReliableNs = 50;      // below, only differences are shown

std::string Arrow(const draw::Style& style) { return style.utf8 ? "→" : "->"; }

std::string NameIn(const std::string& symbol, const draw::Style& style) {
  return draw::ShortenName(names::ShortName(symbol), kMaxApiWidth, style);
}

// "more calls", "fewer calls", "more disk_read".
std::string ChangeText(const LabCount& count) {
  if (!IsChange(count.change)) return std::string(analysis::Words(count.change, count.metric));
  const bool more = count.change == Verdict::kMore;
  if (count.metric == Metric::kCallsPerRun) return more ? "more calls" : "fewer calls";
  const bool allocates = count.metric == Metric::kAllocInclusive;
  return fmt::format("{} {}", more ? "more" : "less",
                     allocates ? "bytes" : stats::Name(count.metric));
}

std::string FromTo(const LabCount& count, const draw::Style& style) {
  return fmt::format("{} {} {}", TotalRange(count.before, style), Arrow(style),
                     TotalRange(count.after, style));
}

// "is called more often: 62 -> 1,061 calls per run".
std::string Deed(const LabCount& count, const draw::Style& style) {
  const bool more = count.change == Verdict::kMore;
  const std::string numbers = FromTo(count, style);
  if (count.metric == Metric::kCallsPerRun) {
    return fmt::format("is called {} often: {} calls per run", more ? "more" : "less", numbers);
  }
  const std::string what = count.metric == Metric::kAllocInclusive
                               ? "allocated"
                               : std::string(stats::Name(count.metric));
  return fmt::format("{}: {} {} per run", more ? "takes more" : "takes less", numbers, what);
}

bool Calls(const wire::LabTable& table, const LabChange& outer, const LabCount& inner) {
  return std::any_of(table.pairs.begin(), table.pairs.end(), [&](const auto& pair) {
    const stats::ApiKey& caller = table.apis[pair.first].api;
    const stats::ApiKey& callee = table.apis[pair.second].api;
    return caller.soname == outer.soname && caller.symbol == outer.symbol &&
           callee.soname == inner.soname && callee.symbol == inner.symbol;
  });
}

const LabCount* First(const LabCounts& counts, bool calls, Verdict change, bool decides) {
  const auto found =
      std::find_if(counts.apis.begin(), counts.apis.end(), [&](const LabCount& count) {
        return count.change == change && count.decides == decides &&
               (count.metric == Metric::kCallsPerRun) == calls;
      });
  return found == counts.apis.end() ? nullptr : &*found;
}

std::string TimeSentence(const LabChange& change, std::string_view between,
                         const draw::Style& style) {
  return fmt::format("{}{} is {}: {:.2f}x the time per call.", NameIn(change.symbol, style),
                     between, change.change == Verdict::kMore ? "slower" : "faster", change.ratio);
}

std::string CountSentence(const LabCount& count, const draw::Style& style) {
  return fmt::format("{} {}.", NameIn(count.symbol, style), Deed(count, style));
}

// The effect of the change of one call's time on a run of the newer table, in ns.
double EffectOf(const LabChange& change) {
  if (!change.before.mean || !change.after.mean || change.runs_after == 0) return 0;
  const auto calls = static_cast<double>(TimedCalls(change.after).value_or(0));
  return (*change.after.mean - *change.before.mean) * calls /
         static_cast<double>(change.runs_after);
}

// The slower function to name: among those with at least half of the greatest effect, the one with
// the greatest ratio, because slow callers merely wait for it. Null if none.
const LabChange* MostSlower(const std::vector<LabChange>& times) {
  double most = 0;
  for (const LabChange& change : times) {
    if (change.change == Verdict::kMore) most = std::max(most, EffectOf(change));
  }
  const auto found = std::find_if(times.begin(), times.end(), [most](const LabChange& change) {
    return change.change == Verdict::kMore && EffectOf(change) * 2 >= most;
  });
  return found == times.end() ? nullptr : &*found;
}

bool IsLargeDecrease(const LabCount& count) {
  return static_cast<double>(count.before.least) >=
         inference::kLabThresholds.least_ratio * static_cast<double>(count.after.most);
}

// The number of APIs whose calls vary, and how to read their changes.
std::string VariesText(const LabCounts& counts) {
  if (counts.vary_before == 0 && counts.vary_after == 0) return "";
  return fmt::format(
      "(the calls of {} of the old table and {} of the new one vary from run to run: the gap "
      "between their ranges must exceed their width)\n",
      Counted(counts.vary_before, "API"), draw::FormatCount(counts.vary_after));
}

}  // namespace

std::string TotalRange(const wire::LabTotal& total, const draw::Style& style) {
  std::string text = draw::FormatCount(total.least);
  if (total.most != total.least) {
    text += (style.utf8 ? "–" : "-") + draw::FormatCount(total.most);
  }
  return total.metric == Metric::kCallsPerRun ? text : text + " B";
}

std::vector<std::string> TotalLines(std::span<const wire::LabTotal> totals,
                                    const draw::Style& style) {
  std::vector<std::string> parts;
  for (const wire::LabTotal& total : totals) {
    if (total.metric == Metric::kCallsPerRun) {
      parts.insert(parts.begin(), TotalRange(total, style) +
                                      (total.most == 1 ? " call per run" : " calls per run"));
    } else if (total.most != 0) {
      const bool is_bytes = total.metric == Metric::kAllocInclusive;
      parts.push_back(TotalRange(total, style) + " " +
                      (is_bytes ? "allocated" : std::string(stats::Name(total.metric))));
    }
  }
  std::vector<std::string> lines;
  if (!parts.empty()) lines.push_back(fmt::format("{}", fmt::join(parts, ", ")));
  return lines;
}

std::string LabDiffLead(const std::vector<LabChange>& times, const LabCounts& counts,
                        const wire::LabTable& after, const draw::Style& style) {
  const LabChange* const slower = MostSlower(times);
  const LabCount* const calls = First(counts, true, Verdict::kMore, true);
  std::string lead;
  if (calls != nullptr) {
    lead = CountSentence(*calls, style);
    const auto caller = std::find_if(times.begin(), times.end(), [&](const LabChange& change) {
      return change.change == Verdict::kMore && Calls(after, change, *calls);
    });
    if (caller != times.end()) {
      lead += " " + TimeSentence(*caller, ", which calls it,", style);
    } else if (slower != nullptr && slower->after.mean.value_or(0) >= kReliableNs) {
      lead += " " + TimeSentence(*slower, "", style);
    }
  } else if (slower != nullptr) {
    lead = TimeSentence(*slower, "", style);
  } else if (const LabCount* const bytes = First(counts, false, Verdict::kMore, true)) {
    lead = CountSentence(*bytes, style);
  } else if (const LabCount* const fewer = First(counts, true, Verdict::kLess, false);
             fewer != nullptr && IsLargeDecrease(*fewer)) {
    lead = CountSentence(*fewer, style);
  } else if (const auto faster = std::ranges::find(times, Verdict::kLess, &LabChange::change);
             faster != times.end()) {
    lead = TimeSentence(*faster, "", style);
  } else {
    lead = "No function takes significantly more or less.";
    if (!counts.apis.empty() && IsChange(counts.apis.front().change)) {
      lead += " The first difference: " + CountSentence(counts.apis.front(), style);
    }
  }
  return draw::WrapLines(lead + "\n", style);
}

std::string LabCountText(const LabCounts& counts, bool all, const draw::Style& style) {
  if (!counts.is_compared) {
    return draw::WrapLines(
        "(calls and bytes per run are not compared: the tables hold different numbers of "
        "measurements, or no counted run)\n",
        style);
  }
  const std::vector<draw::TextColumn> columns = {{""},
                                                 {"API", false, 0, kLeastApiWidth, true},
                                                 LibraryColumn(1),
                                                 {"OLD", true},
                                                 {"NEW", true}};
  std::vector<draw::TextLine> lines;
  std::size_t changed = 0;
  for (const LabCount& count : counts.apis) {
    changed += IsChange(count.change) ? 1 : 0;
    if (!all && (!IsChange(count.change) || lines.size() == kMostLines)) continue;
    const bool is_known = count.change != Verdict::kTooLittleData;
    lines.push_back({is_known ? ChangeText(count) : "not measured", NameIn(count.symbol, style),
                     EscapeControl(count.soname),
                     is_known ? TotalRange(count.before, style) : kUnknown,
                     is_known ? TotalRange(count.after, style) : kUnknown});
  }
  std::string text = lines.empty() ? "" : draw::TextTable(columns, lines, style);
  if (changed > lines.size()) {
    text +=
        fmt::format("({} of {} changes of calls and bytes; all: --all)\n", lines.size(), changed);
  }
  return text +
         draw::WrapLines(
             fmt::format("{} in calls and bytes per run ({} counted of the old, {} of the new; an "
                         "increase by {:.0f} % is a regression)\n",
                         Counted(changed, "change"), Counted(counts.runs_before, "run"),
                         draw::FormatCount(counts.runs_after),
                         100 * (inference::kLabThresholds.least_ratio - 1)) +
                 VariesText(counts),
             style);
}

}  // namespace fieldcost::report
