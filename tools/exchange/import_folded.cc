// Reads folded stacks: "app!main;libz.so.1!inflate 5", the outermost frame first, one stack per
// line. Also reads difffolded.pl's output, "a;b 5 7": counts before and after.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "common/base/text.h"
#include "tools/exchange/exchange_numbers.h"
#include "tools/exchange/importers.h"
#include "tools/exchange/text_lines.h"

namespace fieldcost::exchange {
namespace {

constexpr std::string_view kBlanks = " \t";

struct FoldedLine {
  std::size_t number = 0;
  std::string_view untrusted_stack;
  std::string_view untrusted_count;
};

// Removes and returns the last word if it is a number and something precedes it. Otherwise leaves
// the text unchanged and returns an empty word.
std::string_view TakeLastNumber(std::string_view& untrusted_text) {
  const std::size_t blank = untrusted_text.find_last_of(kBlanks);
  if (blank == std::string_view::npos) return {};
  const std::string_view word = untrusted_text.substr(blank + 1);
  const std::string_view rest = Trim(untrusted_text.substr(0, blank), kBlanks);
  if (rest.empty() || !IsNumber(word)) return {};
  untrusted_text = rest;
  return word;
}

class Folded {
 public:
  Folded(const tree::Metric& metric, Remarks& remarks) : metric_(metric), remarks_(remarks) {}

  Status Read(std::string_view untrusted_text) {
    TextLines lines(untrusted_text);
    while (!lines.at_end()) {
      FIELDCOST_ASSIGN(std::string_view untrusted_line, lines.Take());
      untrusted_line = Trim(untrusted_line);
      if (untrusted_line.empty()) continue;
      FoldedLine line = {.number = lines.number()};
      const bool may_be_comment = untrusted_line.starts_with('#');
      line.untrusted_count = TakeLastNumber(untrusted_line);
      line.untrusted_stack = untrusted_line;
      if (line.untrusted_count.empty()) {
        if (may_be_comment) continue;
        return Fail(ErrorCode::kCorrupt, "line {}: not a folded stack (\"a;b;c 12\")",
                    lines.number());
      }
      lines_.push_back(line);
    }
    return {};
  }

  Result<Built> Build() {
    const bool has_two_counts = HasTwoCounts();
    for (const FoldedLine& line : lines_) {
      std::string_view rest = line.untrusted_stack;
      if (has_two_counts) scale_.Look(TakeLastNumber(rest));
      scale_.Look(line.untrusted_count);
    }
    decimals_ = metric_.unit == tree::Unit::kCount ? scale_.decimals() : 0;
    const tree::Metric scaled = CountScale::MetricOf(metric_, decimals_);
    if (decimals_ != 0) {
      remarks_.Say(fmt::format("counts have fractions: they are in units of 10^-{}, as {}",
                               decimals_, scaled.name));
    }
    FIELDCOST_ASSIGN(const std::size_t column, builder_.AddMetric(scaled));
    std::size_t before = 0;
    if (has_two_counts) {
      FIELDCOST_ASSIGN(before, AddBefore(scaled));
    }
    for (FoldedLine line : lines_) {
      const std::string_view untrusted_before =
          has_two_counts ? TakeLastNumber(line.untrusted_stack) : std::string_view();
      if (const Status added = Add(line, column, untrusted_before, before); !added) {
        return Within(added.error(), fmt::format("line {}", line.number));
      }
    }
    if (!lines_.empty() && kept_ == 0) {
      return Fail(ErrorCode::kCorrupt, "all of its counts are negative");
    }
    return builder_.BuildTimed(remarks_);
  }

 private:
  // One line whose name ends with a number makes the numbers of the others parts of names, too.
  bool HasTwoCounts() const {
    for (const FoldedLine& line : lines_) {
      std::string_view rest = line.untrusted_stack;
      if (TakeLastNumber(rest).empty()) return false;
    }
    return !lines_.empty();
  }

  Result<std::size_t> AddBefore(tree::Metric metric) {
    constexpr std::string_view kSuffix = "-before";
    const std::string after = metric.name;
    metric.name = after.substr(0, tree::kMaxMetricNameBytes - kSuffix.size());
    metric.name += kSuffix;
    remarks_.Say(fmt::format("each line has two counts, as difffolded.pl writes them: {} and {}",
                             metric.name, after));
    return builder_.AddMetric(metric);
  }

  Status Add(const FoldedLine& line, std::size_t column, std::string_view untrusted_before,
             std::size_t before) {
    FIELDCOST_ASSIGN(const tree::PathId path, PathOf(line.untrusted_stack));
    if (!untrusted_before.empty()) FIELDCOST_TRY(AddCount(before, path, untrusted_before));
    return AddCount(column, path, line.untrusted_count);
  }

  Result<tree::PathId> PathOf(std::string_view untrusted_stack) {
    tree::PathId path = tree::kRootPath;
    for (std::size_t mark = 0; mark != std::string_view::npos;) {
      mark = untrusted_stack.find(';');
      FIELDCOST_ASSIGN(const tree::FrameId frame,
                       builder_.AddFrameText(Trim(untrusted_stack.substr(0, mark), kBlanks)));
      FIELDCOST_ASSIGN(path, builder_.AddPath(path, frame));
      if (mark != std::string_view::npos) untrusted_stack.remove_prefix(mark + 1);
    }
    return path;
  }

  Status AddCount(std::size_t column, tree::PathId path, std::string_view untrusted_count) {
    const std::optional<Scaled> value = ScaledValue(untrusted_count, decimals_);
    if (!value) {
      return Fail(ErrorCode::kTooLarge, "a count of {}, which exceeds 2^64 - 1",
                  untrusted_count.substr(0, 32));
    }
    if (value->is_negative) {
      remarks_.Count("negative counts, left out");
      return {};
    }
    if (value->is_cut) remarks_.Count("counts whose last decimals were cut off");
    ++kept_;
    return builder_.Add(column, path, value->magnitude);
  }

  const tree::Metric& metric_;
  Remarks& remarks_;
  TreeBuilder builder_;
  std::vector<FoldedLine> lines_;
  CountScale scale_;
  unsigned decimals_ = 0;
  std::uint64_t kept_ = 0;  // counts
};

}  // namespace

Result<Built> ImportFolded(std::string_view untrusted_text, const tree::Metric& metric,
                           Remarks& remarks) {
  Folded folded(metric, remarks);
  FIELDCOST_TRY(folded.Read(untrusted_text));
  return folded.Build();
}

}  // namespace fieldcost::exchange
