#include "common/draw/terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "common/base/text.h"

namespace fieldcost::draw {
namespace {

bool IsUtf8(std::string locale) {
  std::transform(locale.begin(), locale.end(), locale.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
}

ColorDepth DepthOf(const TerminalFacts& facts) {
  if (facts.color_term == "truecolor" || facts.color_term == "24bit") return ColorDepth::kTrue;
  return ColorDepth::k256;
}

// The nearest colour of the 6x6x6 cube of 256-colour terminals.
int CubeColor(Rgb color) {
  const auto level = [](std::uint8_t part) { return (part * 5 + 127) / 255; };
  return 16 + 36 * level(color.red) + 6 * level(color.green) + level(color.blue);
}

}  // namespace

Style ChooseStyle(ColorChoice choice, const TerminalFacts& facts) {
  Style style;
  style.utf8 = IsUtf8(facts.locale);
  if (choice == ColorChoice::kNever) return style;
  const bool wanted =
      choice == ColorChoice::kAlways ||
      (facts.is_terminal && facts.no_color.empty() && !facts.term.empty() && facts.term != "dumb");
  if (wanted) style.color = DepthOf(facts);
  return style;
}

std::string Paint(std::string_view text, Rgb color, ColorDepth depth) {
  switch (depth) {
    case ColorDepth::kNone:
      return std::string(text);
    case ColorDepth::k256:
      return fmt::format("\x1b[38;5;{}m{}\x1b[0m", CubeColor(color), text);
    case ColorDepth::kTrue:
      return fmt::format("\x1b[38;2;{};{};{}m{}\x1b[0m", color.red, color.green, color.blue, text);
  }
  return std::string(text);
}

std::size_t DisplayWidth(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::size_t PlainWidth(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const std::size_t escape = std::min(text.find('\x1b'), text.size());
    width += DisplayWidth(text.substr(0, escape));
    text.remove_prefix(escape);
    if (!text.empty()) text.remove_prefix(std::min(text.find('m'), text.size() - 1) + 1);
  }
  return width;
}

std::string PadRight(std::string_view text, std::size_t width) {
  const std::size_t used = DisplayWidth(text);
  return std::string(text) + std::string(width > used ? width - used : 0, ' ');
}

std::string PadLeft(std::string_view text, std::size_t width) {
  const std::size_t used = DisplayWidth(text);
  return std::string(width > used ? width - used : 0, ' ') + std::string(text);
}

std::string Shorten(std::string_view untrusted_text, std::size_t max_width, const Style& style) {
  const std::string text = EscapeControl(untrusted_text);
  if (text.size() <= max_width || DisplayWidth(text) <= max_width) return text;
  const std::size_t tail = (max_width - 1) / 3;
  const std::size_t head = max_width - 1 - tail;
  return fmt::format("{}{}{}", text.substr(0, head), style.utf8 ? "…" : "~",
                     text.substr(text.size() - tail));
}

}  // namespace fieldcost::draw
