#include "tools/report/idle/idle_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "common/base/text.h"
#include "common/draw/numbers.h"
#include "common/draw/text_table.h"
#include "common/idle/pair_path.h"
#include "common/shm/log2_bucket.h"
#include "tools/report/tree/tree_text.h"

namespace fieldcost::report {
namespace {

using analysis::CpuIdle;
using analysis::IdlePair;
using analysis::IdleView;

constexpr std::size_t kLengthsWidth = 10;
constexpr std::size_t kLeastPiecesWidth = 24;
constexpr std::string_view kFurther = "  ";  // before continuation lines

std::string StatText(const CpuIdle& cpu, const draw::Style& style) {
  return cpu.stat_idle_ns ? IdleTimeText(*cpu.stat_idle_ns, style) : "";
}

// A table line whose last column consists of pieces of text. Pieces that do not fit on the line
// continue on lines of their own.
struct PiecesLine {
  draw::TextLine cells;
  std::vector<std::string> pieces;
};

std::string PiecesTable(std::vector<draw::TextColumn> columns, std::vector<PiecesLine> lines,
                        const draw::Style& style) {
  std::size_t room = SIZE_MAX;
  if (style.columns != 0) {
    std::size_t taken = 0;
    for (std::size_t i = 0; i + 1 < columns.size(); ++i) {
      std::size_t width = draw::DisplayWidth(columns[i].heading);
      for (const PiecesLine& line : lines) {
        width = std::max(width, draw::PlainWidth(line.cells[i]));
      }
      taken += width + 2;
    }
    room = std::max(kLeastPiecesWidth, style.columns - std::min(style.columns, taken));
  }
  std::vector<draw::TextLine> texts;
  for (PiecesLine& line : lines) {
    std::string text;
    for (const std::string& piece : line.pieces) {
      const std::size_t width = draw::DisplayWidth(text) + 1 + draw::DisplayWidth(piece);
      if (!text.empty() && width > room) {
        line.cells.push_back(std::exchange(text, std::string(kFurther)));
        texts.push_back(std::exchange(line.cells, draw::TextLine(columns.size() - 1)));
      }
      text += (text.empty() || text == kFurther ? "" : " ") + piece;
    }
    line.cells.push_back(std::move(text));
    texts.push_back(std::move(line.cells));
  }
  columns.back().least = kLeastPiecesWidth;
  return draw::TextTable(columns, texts, style);
}

PiecesLine CpuLine(const std::string& name, const CpuIdle& cpu, const draw::Style& style) {
  PiecesLine line{.cells = {name, IdleTimeText(cpu.idle_ns, style), StatText(cpu, style),
                            draw::ShareText(cpu.explained_ns, cpu.idle_ns)},
                  .pieces = ReasonTexts(cpu)};
  for (std::size_t i = 0; i + 1 < line.pieces.size(); ++i) line.pieces[i] += ",";
  return line;
}

}  // namespace

std::string IdleTimeText(std::uint64_t ns, const draw::Style& style) {
  return CostText(static_cast<stats::Int128>(ns), 1, tree::Unit::kNanoseconds, style);
}

std::string IdleHeading(const IdleView& view, const draw::Style& style) {
  std::string text =
      fmt::format("{} idle for {}, {} of which a stack explains", Counted(view.cpus.size(), "CPU"),
                  IdleTimeText(view.all.idle_ns, style),
                  draw::ShareText(view.all.explained_ns, view.all.idle_ns));
  if (view.all.stat_idle_ns) text += fmt::format("; /proc/stat: {}", StatText(view.all, style));
  text += fmt::format("\nMode {}, a tick is {}", idle::Name(view.about.mode),
                      IdleTimeText(view.about.tick_ns, style));
  if (!view.about.why.empty()) text += ": " + EscapeControl(view.about.why);
  if (view.no_cpu_ns != 0) {
    text += fmt::format("\n{} without a named CPU", IdleTimeText(view.no_cpu_ns, style));
  }
  return text + "\n";
}

std::vector<std::string> ReasonTexts(const CpuIdle& cpu) {
  std::vector<std::size_t> order(cpu.by_why.size());
  std::iota(order.begin(), order.end(), 0U);
  std::erase_if(order, [&](std::size_t why) { return cpu.by_why.at(why) == 0; });
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](std::size_t why) { return cpu.by_why.at(why); });
  std::vector<std::string> texts;
  for (const std::size_t why : order) {
    texts.push_back(analysis::WhyText(why) + " " +
                    draw::ShareText(cpu.by_why.at(why), cpu.idle_ns));
  }
  return texts;
}

std::string IdleCpusText(const IdleView& view, const draw::Style& style) {
  std::vector<PiecesLine> lines;
  for (const CpuIdle& cpu : view.cpus) {
    lines.push_back(CpuLine(fmt::format("{}", cpu.cpu), cpu, style));
  }
  if (view.cpus.size() != 1 || view.no_cpu_ns != 0) {
    lines.push_back(CpuLine("all", view.all, style));
  }
  return PiecesTable(
      {{"CPU", true}, {"IDLE", true}, {"/PROC/STAT", true, 1}, {"EXPLAINED", true}, {"WHY", false}},
      std::move(lines), style);
}

std::vector<std::string> ChainPieces(const IdleView& view, const IdlePair& pair) {
  const tree::Dictionary& dictionary = *view.dictionary;
  const idle::PairPath parts = idle::SplitPair(dictionary, pair.path);
  const auto text = [&](const std::vector<tree::FrameId>& part) {
    return EscapeControl(analysis::DoingText(dictionary, analysis::DoingOf(dictionary, part)));
  };
  std::vector<std::string> pieces = {"idle <- " + text(parts.to)};
  if (!parts.from.empty()) pieces.push_back("<- " + text(parts.from));
  if (!parts.waker.empty()) pieces.push_back("<- woken by " + text(parts.waker));
  return pieces;
}

draw::Bars LengthBars(const IdlePair& pair) {
  draw::Bars bars;
  for (const analysis::LengthCount& length : pair.lengths) {
    bars.heights.at(length.slot) = length.count;
  }
  return draw::JoinShortTimes(bars, stats::Metric::kWallTime);
}

std::string IdleChainsText(const IdleView& view, std::size_t most, const draw::Style& style) {
  const std::size_t count = most == 0 ? view.pairs.size() : std::min(most, view.pairs.size());
  const auto range = draw::FindUsedSlots(LengthBars(view.all_pairs));
  if (count == 0 || !range) return "(no explained idle period has ended)\n";
  std::vector<PiecesLine> lines;
  for (std::size_t i = 0; i < count; ++i) {
    const IdlePair& pair = view.pairs[i];
    lines.push_back({.cells = {draw::ShareText(pair.ns, view.all_pairs.ns),
                               IdleTimeText(pair.ns, style), draw::FormatCount(pair.periods),
                               draw::SpectrumOver(LengthBars(pair), *range, kLengthsWidth, style)},
                     .pieces = ChainPieces(view, pair)});
  }
  std::string text = PiecesTable(
      {{"SHARE", true}, {"TIME", true}, {"PERIODS", true}, {"LENGTHS", false}, {"CHAIN", false}},
      std::move(lines), style);
  if (count < view.pairs.size()) {
    text += fmt::format("({} of {} pairs; all: --top 0)\n", draw::FormatCount(count),
                        draw::FormatCount(view.pairs.size()));
  }
  const auto length = [&](std::uint64_t ns) {
    return draw::FormatCost(static_cast<double>(ns), stats::Metric::kWallTime, style);
  };
  return text + fmt::format("LENGTHS of periods: from {} to {}; height: how many\n",
                            length(shm::SlotMin(range->first)), length(shm::SlotMax(range->last)));
}

}  // namespace fieldcost::report
