#include "tools/report/cards/card_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/draw/html.h"
#include "common/draw/numbers.h"
#include "common/draw/spectrum.h"
#include "common/draw/svg_parts.h"
#include "common/shm/log2_bucket.h"
#include "tools/report/cards/card_lines.h"
#include "tools/report/freshness_text.h"
#include "tools/report/page_text_style.h"

namespace fieldcost::report {
namespace {

constexpr std::size_t kNameColumns = 50;  // fit between the margins in the widest letters
constexpr std::size_t kSmallColumns = 64;
constexpr unsigned kCardMargin = 16;
constexpr unsigned kBarTop = 88;
constexpr unsigned kBarBottom = 136;
constexpr unsigned kBarsWidth = kCardWidth - 2 * kCardMargin;
constexpr unsigned kWidestBar = 20;

struct Colors {
  std::string_view paper;
  std::string_view ink;   // contrast with the paper: at least 7 : 1
  std::string_view soft;  // at least 4.5 : 1
  std::string_view line;
};
constexpr Colors ColorsOf(CardTheme theme) {
  if (theme == CardTheme::kDark) return {"#16161a", "#e8e8ee", "#ababb8", "#6a6a78"};
  return {"#ffffff", "#1b1b1f", "#55555f", "#8a8a94"};
}

std::string Line(unsigned y, unsigned size, std::string_view color, std::string_view text,
                 bool bold = false) {
  return fmt::format(
      "<text x=\"{}\" y=\"{}\" font-size=\"{}\" font-family=\"sans-serif\"{} fill=\"{}\">{}"
      "</text>\n",
      kCardMargin, y, size, bold ? " font-weight=\"bold\"" : "", color, draw::EscapeHtml(text));
}

// One bar per bucket, with the lowest and the highest cost below.
std::string BarsSvg(const Shown& shown, const Colors& colors) {
  const draw::Bars bars = BarsOf(shown);
  const auto used = draw::FindUsedSlots(bars);
  if (!used) return "";
  const unsigned slots = used->last - used->first + 1;
  const unsigned pitch = std::clamp(kBarsWidth / slots, 1U, kWidestBar);
  const auto most = static_cast<double>(bars.heights[used->fullest]);
  std::string svg;
  for (unsigned slot = used->first; slot <= used->last; ++slot) {
    const std::uint64_t calls = bars.heights[slot];
    if (calls == 0) continue;
    const auto height =
        std::max(1U, static_cast<unsigned>(
                         std::lround(static_cast<double>(calls) / most * (kBarBottom - kBarTop))));
    svg += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" "
        "fill=\"{}\" stroke=\"{}\" stroke-width=\"0.5\"/>\n",
        kCardMargin + (slot - used->first) * pitch, kBarBottom - height, std::max(pitch - 1, 1U),
        height, draw::HexColor(draw::BucketColor(slot)), colors.line);
  }
  svg += fmt::format("<path d=\"M{} {}H{}\" stroke=\"{}\"/>\n", kCardMargin, kBarBottom,
                     kCardMargin + slots * pitch, colors.line);
  const auto costs = [&](unsigned first, unsigned last) {
    return draw::FormatInterval(static_cast<double>(shm::SlotMin(first)),
                                static_cast<double>(shm::SlotMax(last)), " to ", shown.metric,
                                kPageTextStyle);
  };
  svg += Line(kBarBottom + 15, 11, colors.soft,
              fmt::format("from {}, most at {}", costs(used->first, used->last),
                          costs(used->fullest, used->fullest)));
  return svg;
}

}  // namespace

std::string CardSvg(const CostCard& card, CardTheme theme) {
  const CardWords words = WordsOf(card);
  const Colors colors = ColorsOf(theme);
  const Shown shown = ShownOf(card);
  const CardLine& newest = words.lines.front();
  // Ids would have to be unique only if one document held several cards, but each is a file.
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-labelledby=\"title desc\" "
      "width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n<title id=\"title\">Cost of {2}"
      "</title>\n<desc id=\"desc\">{3}</desc>\n"
      "<rect x=\"0.5\" y=\"0.5\" width=\"{4}\" height=\"{5}\" rx=\"8\" fill=\"{6}\" "
      "stroke=\"{7}\"/>\n",
      kCardWidth, kCardHeight, draw::EscapeHtml(words.name), draw::EscapeHtml(words.sentence),
      kCardWidth - 1, kCardHeight - 1, colors.paper, colors.line);
  const auto fit = [](std::string_view text, std::size_t columns) {
    return draw::Shorten(text, columns, kPageTextStyle);
  };
  svg += Line(28, 16, colors.ink, fit(words.function, kNameColumns), true);
  svg += Line(48, 12, colors.soft,
              fit(fmt::format("{}, {}", ApiOf(card).soname, words.subject), kSmallColumns));
  svg += Line(74, 15, colors.ink,
              shown.summary == nullptr
                  ? "not measured"
                  : fmt::format("p50 {} · p95 {} · p99 {}", newest.p50, newest.p95, newest.p99));
  if (shown.summary != nullptr) svg += BarsSvg(shown, colors);
  svg += Line(170, 11, colors.soft, fit(words.basis, kSmallColumns + 8));
  svg += Line(185, 11, card.provenance.synthetic ? colors.ink : colors.soft,
              card.provenance.synthetic ? fmt::format("{}; {}", kSyntheticWords, words.snapshot)
                                        : words.snapshot,
              card.provenance.synthetic);
  return svg + "</svg>\n";
}

}  // namespace fieldcost::report
