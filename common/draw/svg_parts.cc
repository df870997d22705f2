#include "common/draw/svg_parts.h"

#include <fmt/format.h>

#include "common/draw/html.h"

namespace fieldcost::draw {
namespace {

// The width of two letters or digits in the widest common font; anything wider would be cut off.
constexpr unsigned kTwoLettersWidth = 17;

}  // namespace

std::string HexColor(const Rgb& color) {
  return fmt::format("#{:02x}{:02x}{:02x}", color.red, color.green, color.blue);
}

std::string OpenSvg(unsigned width, unsigned height, const std::string& untrusted_words) {
  const std::string escaped = EscapeHtml(untrusted_words);
  return fmt::format(
      "<svg role=\"img\" aria-label=\"{0}\" width=\"{1}\" height=\"{2}\" viewBox=\"0 0 {1} {2}\">"
      "<title>{0}</title>",
      escaped, width, height);
}

unsigned SvgTextWidth(std::string_view text) {
  return (static_cast<unsigned>(DisplayWidth(text)) * kTwoLettersWidth + 1) / 2;
}

std::string SvgText(double x, double y, std::string_view anchor, unsigned font_size,
                    std::string_view untrusted_text) {
  return fmt::format(
      R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}" font-size="{}" fill="currentColor">{}</text>)",
      x, y, anchor, font_size, EscapeHtml(untrusted_text));
}

}  // namespace fieldcost::draw
