#include "tools/report/tree/page_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "common/base/check.h"
#include "common/base/text.h"
#include "common/draw/name_text.h"
#include "common/draw/numbers.h"
#include "common/draw/spectrum.h"
#include "common/draw/svg_parts.h"
#include "tools/analysis/tree_view.h"
#include "tools/report/tree/colors.h"
#include "tools/report/tree/tree_diff_text.h"

namespace fieldcost::report {
namespace {

using stats::Uint128;
using tree::MeanTree;

constexpr Uint128 kMostExact = Uint128{1} << 53;  // exact in a JavaScript number
constexpr unsigned kScaleColors = 11;
constexpr unsigned kMostExpensiveSlot = 31;

// Escapes characters that have a meaning in HTML, even within a script element.
std::string Quoted(std::string_view untrusted_text) {
  std::string json;
  for (const char c : QuoteJson(untrusted_text)) {
    if (c == '<' || c == '>' || c == '&') {
      json += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      json += c;
    }
  }
  return json;
}

// Returns "[1,2,3]" for values that `add` appends, each followed by a comma.
template <typename Add>
std::string List(const Add& add) {
  std::string json = "[";
  add(json);
  if (json.back() == ',') json.pop_back();
  return json + "]";
}

// The length of the text for a script. Bytes that are not UTF-8 are escaped on the page and count
// as one or more; names hardly ever contain any.
std::size_t Utf16Size(std::string_view text) {
  std::size_t size = 0;
  while (!text.empty()) {
    const CodePoint first = FirstCodePoint(text);
    size += first.value >= 0x10000 ? 2 : 1;
    text.remove_prefix(std::max<std::size_t>(first.bytes, 1));
  }
  return size;
}

class Data {
 public:
  explicit Data(const TreePage& page) : page_(page), tree_(page.tree) {
    node_of_.resize(tree_.paths().size());
    paths_.push_back(0);
    for (std::uint32_t path = 1; path < node_of_.size(); ++path) {
      if (path >= tree_.where.size() || tree_.where[path] == 0) continue;
      node_of_[path] = static_cast<std::uint32_t>(paths_.size());
      paths_.push_back(path);
    }
  }

  std::string Html(std::string_view id) const {
    std::string html =
        fmt::format("<script type=\"application/json\" id=\"{}\">{}</script>\n", id, Tree());
    if (!page_.timeline) return html;
    AppendBins(page_.timeline->bins, "", html);
    for (std::size_t i = 0; i < page_.timeline->threads.size(); ++i) {
      AppendBins(page_.timeline->threads[i].bins, fmt::format(" data-thread=\"{}\"", i + 1), html);
    }
    return html;
  }

 private:
  bool is_difference() const { return tree_.runs_before != 0; }
  const std::vector<Timeline::Bin>& Bins(std::size_t metric) const {
    return page_.timeline->bins[metric];
  }

  void AppendBins(const Timeline::Bins& bins, std::string_view thread, std::string& html) const {
    for (std::size_t metric = 0; metric < tree_.metrics.size(); ++metric) {
      for (std::size_t bin = 0; bin < bins[metric].size(); bin += kBinsPerElement) {
        html += fmt::format(
            "<script type=\"application/json\" class=\"bins\" data-metric=\"{}\"{}>{}</script>\n",
            metric, thread, BinsFrom(metric, bins[metric], bin));
      }
    }
  }

  // Whether all sums of the metric are exact as JavaScript numbers.
  bool IsSmall(std::size_t metric) const {
    const tree::Sides& all = tree_.values[metric].inclusive[0];
    return all.before.sum + all.after.sum < kMostExact;
  }

  std::string Value(std::size_t metric, Uint128 value) const {
    return IsSmall(metric) ? fmt::format("{},", static_cast<std::uint64_t>(value))
                           : fmt::format("\"{}\",", draw::Decimal(value));
  }

  std::string Tree() const {
    const auto of_paths = [this](const auto& value) {
      return List([&](std::string& json) {
        for (const std::uint32_t path : paths_) json += fmt::format("{},", value(path));
      });
    };
    const tree::PathTable& paths = tree_.paths();
    std::string json = fmt::format(
        "{{\"operand\":{},\"name\":{},\"difference\":{},\"runs\":{},\"metric\":{},\"denominator\":"
        "\"{}\",\n"
        "\"colors\":{},\n\"names\":{},\n\"pieces\":{},\n\"parent\":{},\n\"frame\":{},\n\"where\":{"
        "}",
        Quoted(EscapeControl(page_.untrusted_operand)), Quoted(EscapeControl(page_.untrusted_file)),
        is_difference(), tree_.runs_after, page_.metric, tree_.denominator, Colors(), Names(),
        Pieces(), of_paths([&](std::uint32_t path) { return node_of_[paths.parents()[path]]; }),
        of_paths([&](std::uint32_t path) { return path == 0 ? 0 : 1 + paths.frames()[path]; }),
        of_paths([&](std::uint32_t path) { return int{tree_.where[path]}; }));
    if (page_.timeline) {
      json += ",\n\"edges\":" + List([this](std::string& list) {
                for (const std::uint64_t edge : page_.timeline->edges_ns) {
                  list += fmt::format("\"{}\",", edge);
                }
              });
    }
    if (page_.timeline && !page_.timeline->threads.empty()) {
      json += ",\n\"threads\":" + List([this](std::string& list) {
                for (const Timeline::Thread& thread : page_.timeline->threads) {
                  list += Quoted(EscapeControl(thread.untrusted_label)) + ",";
                }
              });
    }
    json += ",\n\"metrics\":" + List([this](std::string& list) {
              for (std::size_t i = 0; i < tree_.metrics.size(); ++i) list += Metric(i) + ",\n";
              if (list.ends_with(",\n")) list.pop_back();
            });
    return json + "}";
  }

  static std::string Colors() {
    const auto heat = [](const auto& member) {
      return List([&](std::string& list) {
        for (const Heat& one : kHeat) list += fmt::format("\"{}\",", one.*member);
      });
    };
    return fmt::format(
        "{{\"scale\":{},\"parts\":{},\"more\":{},\"less\":{},\"same\":\"{}\",\"uncertain\":\"{}\","
        "\"goneGround\":\"{}\",\"goneStripe\":\"{}\"}}",
        List([](std::string& list) {
          for (const std::string& color : ScaleColors()) list += fmt::format("\"{}\",", color);
        }),
        List([](std::string& list) {
          for (const Heat& one : kHeat) list += fmt::format("{},", one.least_part);
        }),
        heat(&Heat::more), heat(&Heat::less), kSameColor, kUncertainColor, kGoneGround,
        kGoneStripe);
  }

  std::string NameOf(std::uint32_t frame) const {
    const tree::Frame& of = tree_.dictionary->frames.frame(tree::FrameId(frame));
    return EscapeControl(draw::WithStandardNames(analysis::NameOf(of)));
  }

  std::string Names() const {
    return List([&](std::string& list) {
      for (std::uint32_t i = 0; i < tree_.dictionary->frames.size(); ++i) {
        list += Quoted(NameOf(i)) + ",";
      }
    });
  }

  // [name's index, pieces...] for short_names.js, for names that it cannot split itself.
  std::string Pieces() const {
    return List([&](std::string& list) {
      for (std::uint32_t i = 0; i < tree_.dictionary->frames.size(); ++i) {
        const std::string name = NameOf(i);
        const draw::NamePieces pieces = draw::PiecesOf(name);
        const std::string_view whole(name);
        if (!pieces.name.empty() && whole.substr(pieces.module_bytes) == pieces.name) continue;
        list += fmt::format("[{}", i);
        if (!pieces.name.empty()) {
          list += fmt::format(",{},{},{}", Utf16Size(whole.substr(0, pieces.module_bytes)),
                              Utf16Size(whole.substr(0, pieces.whole_bytes)),
                              Utf16Size(whole.substr(0, pieces.named_bytes)));
          for (const std::string& scope : pieces.scopes) list += "," + Quoted(scope);
          list += "," + Quoted(pieces.name);
        }
        list += "],";
      }
    });
  }

  std::string Metric(std::size_t metric) const {
    const tree::Metric& measured = tree_.metrics[metric];
    std::string json =
        fmt::format("{{\"name\":{},\"unit\":\"{}\",\"sampled\":{},\"big\":{},\"self\":{}",
                    Quoted(measured.name), tree::Name(measured.unit), measured.sampled(),
                    !IsSmall(metric), Side(metric, &tree::Sides::after));
    json += Excess(metric, "more", &tree::Sides::after);
    if (is_difference()) {
      json += fmt::format(",\n\"before\":{}", Side(metric, &tree::Sides::before));
      json += Excess(metric, "moreBefore", &tree::Sides::before);
    }
    if (metric < page_.comparisons.size()) json += Compared(metric);
    if (page_.timeline) json += fmt::format(",\n\"totals\":{}", Totals(metric));
    return json + "}";
  }

  using SideOf = tree::SideSum tree::Sides::*;

  std::string Side(std::size_t metric, SideOf side) const {
    return List([&](std::string& list) {
      for (const std::uint32_t path : paths_) {
        list += Value(metric, (tree_.values[metric].self[path].*side).sum);
      }
    });
  }

  std::string Excess(std::size_t metric, std::string_view key, SideOf side) const {
    const tree::MetricSides& values = tree_.values[metric];
    std::vector<Uint128> excess(paths_.size());
    for (std::size_t node = paths_.size(); node-- > 0;) {
      const std::uint32_t path = paths_[node];
      const Uint128 inclusive = (values.inclusive[path].*side).sum;
      excess[node] += inclusive - (values.self[path].*side).sum;
      if (node != 0) excess[node_of_[tree_.paths().parents()[path]]] -= inclusive;
    }
    const std::string list = List([&](std::string& json) {
      for (std::size_t node = 0; node < excess.size(); ++node) {
        if (excess[node] != 0) json += fmt::format("{},", node) + Value(metric, excess[node]);
      }
    });
    return list == "[]" ? "" : fmt::format(",\n\"{}\":{}", key, list);
  }

  // The comparison as a sentence, and the nodes whose change is certain.
  std::string Compared(std::size_t metric) const {
    const tree::Comparison& comparison = page_.comparisons[metric];
    const analysis::TreeView view = analysis::TopDown(tree_, metric);
    const std::vector<std::string> marks = MarksOf(comparison, view);
    std::vector<std::uint32_t> path_of(view.nodes.size());
    const std::string certain = List([&](std::string& list) {
      for (std::size_t i = 1; i < view.nodes.size(); ++i) {
        const analysis::ViewNode& node = view.nodes[i];
        const auto path = tree_.paths().Find(tree::PathId(path_of[node.parent]), node.frame);
        FIELDCOST_CHECK(path.has_value());
        path_of[i] = path->value();
        if (!marks[i].empty())
          list += fmt::format("{},{},", node_of_[path_of[i]], Quoted(marks[i]));
      }
    });
    return fmt::format(
        ",\n\"sentence\":{},\"certain\":{}",
        Quoted(CompareSentence(comparison, tree_.metrics[metric], page_.order, {.utf8 = true})),
        certain);
  }

  std::string Totals(std::size_t metric) const {
    return List([&](std::string& list) {
      for (const Timeline::Bin& bin : Bins(metric)) {
        Uint128 sum = 0;
        for (const auto& [path, value] : bin) sum += value;
        list += Value(metric, sum);
      }
    });
  }

  std::string BinsFrom(std::size_t metric, const std::vector<Timeline::Bin>& bins,
                       std::size_t first) const {
    return List([&](std::string& list) {
      const std::size_t end = std::min(first + kBinsPerElement, bins.size());
      for (std::size_t bin = first; bin < end; ++bin) list += BinJson(metric, bins[bin]) + ",";
    });
  }

  std::string BinJson(std::size_t metric, const Timeline::Bin& bin) const {
    return List([&](std::string& list) {
      std::uint32_t last = 0;
      for (const auto& [path, value] : bin) {
        const std::uint32_t node = node_of_[path];
        FIELDCOST_CHECK(node != 0 || path == 0);
        list += fmt::format("{},", node - last) + Value(metric, value);
        last = node;
      }
    });
  }

  const TreePage& page_;
  const MeanTree& tree_;
  std::vector<std::uint32_t> paths_;    // [node]
  std::vector<std::uint32_t> node_of_;  // [path]
};

}  // namespace

std::vector<std::string> ScaleColors() {
  std::vector<std::string> colors;
  for (unsigned i = 0; i < kScaleColors; ++i) {
    colors.push_back(
        draw::HexColor(draw::BucketColor(kMostExpensiveSlot * i / (kScaleColors - 1))));
  }
  return colors;
}

std::string TreePageData(const TreePage& page, std::string_view id) { return Data(page).Html(id); }

}  // namespace fieldcost::report
