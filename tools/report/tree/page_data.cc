#include "tools/report/tree/page_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "common/base/check.h"
#include "common/base/json_writer.h"
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

  void WriteValue(std::size_t metric, Uint128 value, JsonWriter& json) const {
    if (IsSmall(metric)) {
      json.Number(static_cast<std::uint64_t>(value));
    } else {
      json.Text(draw::Decimal(value));
    }
  }

  // Writes a member with one number per path.
  template <typename NumberOf>
  void WritePaths(std::string_view key, const NumberOf& number, JsonWriter& json) const {
    json.NewLine().Key(key).Array();
    for (const std::uint32_t path : paths_) json.Number(number(path));
    json.EndArray();
  }

  std::string Tree() const {
    const tree::PathTable& paths = tree_.paths();
    JsonWriter json(JsonWriter::Place::kHtmlScript);
    json.Object().Member("operand", EscapeControl(page_.untrusted_operand));
    json.Member("name", EscapeControl(page_.untrusted_file));
    json.Member("difference", is_difference()).Member("runs", tree_.runs_after);
    json.Member("metric", page_.metric).Key("denominator").NumberText(tree_.denominator);
    WriteColors(json);
    WriteNames(json);
    WritePieces(json);
    WritePaths(
        "parent", [&](std::uint32_t path) { return node_of_[paths.parents()[path]]; }, json);
    WritePaths(
        "frame", [&](std::uint32_t path) { return path == 0 ? 0 : 1 + paths.frames()[path]; },
        json);
    WritePaths(
        "where", [&](std::uint32_t path) { return int{tree_.where[path]}; }, json);
    if (page_.timeline) {
      json.NewLine().Key("edges").Array();
      for (const std::uint64_t edge : page_.timeline->edges_ns) json.NumberText(edge);
      json.EndArray();
    }
    if (page_.timeline && !page_.timeline->threads.empty()) {
      json.NewLine().Key("threads").Array();
      for (const Timeline::Thread& thread : page_.timeline->threads) {
        json.Text(EscapeControl(thread.untrusted_label));
      }
      json.EndArray();
    }
    json.NewLine().Key("metrics").Array();
    for (std::size_t i = 0; i < tree_.metrics.size(); ++i) {
      if (i != 0) json.NewLine();
      WriteMetric(i, json);
    }
    return json.EndArray().EndObject().TakeValue();
  }

  static void WriteColors(JsonWriter& json) {
    json.NewLine().Key("colors").Object().Key("scale").Array();
    for (const std::string& color : ScaleColors()) json.Text(color);
    json.EndArray().Key("parts").Array();
    for (const Heat& one : kHeat) json.Any(one.least_part);
    json.EndArray().Key("more").Array();
    for (const Heat& one : kHeat) json.Text(one.more);
    json.EndArray().Key("less").Array();
    for (const Heat& one : kHeat) json.Text(one.less);
    json.EndArray().Member("same", kSameColor).Member("uncertain", kUncertainColor);
    json.Member("goneGround", kGoneGround).Member("goneStripe", kGoneStripe).EndObject();
  }

  std::string NameOf(std::uint32_t frame) const {
    const tree::Frame& of = tree_.dictionary->frames.frame(tree::FrameId(frame));
    return EscapeControl(draw::WithStandardNames(analysis::NameOf(of)));
  }

  void WriteNames(JsonWriter& json) const {
    json.NewLine().Key("names").Array();
    for (std::uint32_t i = 0; i < tree_.dictionary->frames.size(); ++i) json.Text(NameOf(i));
    json.EndArray();
  }

  // [name's index, pieces...] for short_names.js, for names that it cannot split itself.
  void WritePieces(JsonWriter& json) const {
    json.NewLine().Key("pieces").Array();
    for (std::uint32_t i = 0; i < tree_.dictionary->frames.size(); ++i) {
      const std::string name = NameOf(i);
      const draw::NamePieces pieces = draw::PiecesOf(name);
      const std::string_view whole(name);
      if (!pieces.name.empty() && whole.substr(pieces.module_bytes) == pieces.name) continue;
      json.Array().Number(i);
      if (!pieces.name.empty()) {
        json.Number(Utf16Size(whole.substr(0, pieces.module_bytes)));
        json.Number(Utf16Size(whole.substr(0, pieces.whole_bytes)));
        json.Number(Utf16Size(whole.substr(0, pieces.named_bytes)));
        for (const std::string& scope : pieces.scopes) json.Text(scope);
        json.Text(pieces.name);
      }
      json.EndArray();
    }
    json.EndArray();
  }

  void WriteMetric(std::size_t metric, JsonWriter& json) const {
    const tree::Metric& measured = tree_.metrics[metric];
    json.Object().Member("name", measured.name).Member("unit", tree::Name(measured.unit));
    json.Member("sampled", measured.sampled()).Member("big", !IsSmall(metric)).Key("self");
    WriteSide(metric, &tree::Sides::after, json);
    WriteExcess(metric, "more", &tree::Sides::after, json);
    if (is_difference()) {
      json.NewLine().Key("before");
      WriteSide(metric, &tree::Sides::before, json);
      WriteExcess(metric, "moreBefore", &tree::Sides::before, json);
    }
    if (metric < page_.comparisons.size()) WriteCompared(metric, json);
    if (page_.timeline) WriteTotals(metric, json);
    json.EndObject();
  }

  using SideOf = tree::SideSum tree::Sides::*;

  void WriteSide(std::size_t metric, SideOf side, JsonWriter& json) const {
    json.Array();
    for (const std::uint32_t path : paths_) {
      WriteValue(metric, (tree_.values[metric].self[path].*side).sum, json);
    }
    json.EndArray();
  }

  // Omits the member if it would have no elements.
  void WriteExcess(std::size_t metric, std::string_view key, SideOf side, JsonWriter& json) const {
    const tree::MetricSides& values = tree_.values[metric];
    std::vector<Uint128> excess(paths_.size());
    for (std::size_t node = paths_.size(); node-- > 0;) {
      const std::uint32_t path = paths_[node];
      const Uint128 inclusive = (values.inclusive[path].*side).sum;
      excess[node] += inclusive - (values.self[path].*side).sum;
      if (node != 0) excess[node_of_[tree_.paths().parents()[path]]] -= inclusive;
    }
    if (std::ranges::all_of(excess, [](Uint128 value) { return value == 0; })) return;
    json.NewLine().Key(key).Array();
    for (std::size_t node = 0; node < excess.size(); ++node) {
      if (excess[node] == 0) continue;
      json.Number(node);
      WriteValue(metric, excess[node], json);
    }
    json.EndArray();
  }

  // The comparison as a sentence, and the nodes whose change is certain.
  void WriteCompared(std::size_t metric, JsonWriter& json) const {
    const tree::Comparison& comparison = page_.comparisons[metric];
    const analysis::TreeView view = analysis::TopDown(tree_, metric);
    const std::vector<std::string> marks = MarksOf(comparison, view);
    std::vector<std::uint32_t> path_of(view.nodes.size());
    json.NewLine().Member("sentence", CompareSentence(comparison, tree_.metrics[metric],
                                                      page_.order, {.utf8 = true}));
    json.Key("certain").Array();
    for (std::size_t i = 1; i < view.nodes.size(); ++i) {
      const analysis::ViewNode& node = view.nodes[i];
      const auto path = tree_.paths().Find(tree::PathId(path_of[node.parent]), node.frame);
      FIELDCOST_CHECK(path.has_value());
      path_of[i] = path->value();
      if (!marks[i].empty()) json.Number(node_of_[path_of[i]]).Text(marks[i]);
    }
    json.EndArray();
  }

  void WriteTotals(std::size_t metric, JsonWriter& json) const {
    json.NewLine().Key("totals").Array();
    for (const Timeline::Bin& bin : Bins(metric)) {
      Uint128 sum = 0;
      for (const auto& [path, value] : bin) sum += value;
      WriteValue(metric, sum, json);
    }
    json.EndArray();
  }

  std::string BinsFrom(std::size_t metric, const std::vector<Timeline::Bin>& bins,
                       std::size_t first) const {
    JsonWriter json(JsonWriter::Place::kHtmlScript);
    json.Array();
    const std::size_t end = std::min(first + kBinsPerElement, bins.size());
    for (std::size_t bin = first; bin < end; ++bin) WriteBin(metric, bins[bin], json);
    return json.EndArray().TakeValue();
  }

  void WriteBin(std::size_t metric, const Timeline::Bin& bin, JsonWriter& json) const {
    json.Array();
    std::uint32_t last = 0;
    for (const auto& [path, value] : bin) {
      const std::uint32_t node = node_of_[path];
      FIELDCOST_CHECK(node != 0 || path == 0);
      json.Number(node - last);
      WriteValue(metric, value, json);
      last = node;
    }
    json.EndArray();
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
