#include "common/draw/terminal.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/ascii.h"
#include "common/base/text.h"

namespace fieldcost::draw {
namespace {

constexpr std::size_t kUsualColumns = 80;

bool IsUtf8(std::string_view untrusted_locale) {
  const std::string locale = LowerCase(untrusted_locale);
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

// Returns the position of the last blank with at most `room` columns before it, else that of the
// first blank after a word; npos if none.
std::size_t BreakOf(std::string_view line, std::size_t room) {
  std::size_t best = std::string_view::npos;
  for (std::size_t at = line.find(' ', line.find_first_not_of(' ')); at != std::string_view::npos;
       at = line.find(' ', line.find_first_not_of(' ', at))) {
    if (best != std::string_view::npos && PlainWidth(line.substr(0, at)) > room) break;
    best = at;
  }
  return best;
}

// Whether a byte is the first of a UTF-8 code point.
bool BeginsColumn(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

}  // namespace

Style ChooseStyle(ColorChoice choice, const TerminalFacts& facts) {
  Style style;
  style.utf8 = IsUtf8(facts.locale);
  if (facts.is_terminal) style.columns = facts.columns == 0 ? kUsualColumns : facts.columns;
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
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), BeginsColumn));
}

std::string_view FirstColumns(std::string_view text, std::size_t width) {
  std::size_t end = 0;
  for (; end < text.size(); ++end) {
    if (!BeginsColumn(text[end])) continue;
    if (width == 0) break;
    --width;
  }
  return text.substr(0, end);
}

std::string_view LastColumns(std::string_view text, std::size_t width) {
  std::size_t begin = text.size();
  while (begin > 0 && width > 0) {
    if (BeginsColumn(text[--begin])) --width;
  }
  return text.substr(begin);
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
  const std::size_t used = PlainWidth(text);
  return std::string(text) + std::string(width > used ? width - used : 0, ' ');
}

std::string PadLeft(std::string_view text, std::size_t width) {
  const std::size_t used = PlainWidth(text);
  return std::string(width > used ? width - used : 0, ' ') + std::string(text);
}

std::string ShortenEscaped(std::string_view text, std::size_t max_width, const Style& style) {
  if (text.size() <= max_width || PlainWidth(text) <= max_width) return std::string(text);
  if (max_width == 0) return "";
  const std::size_t tail = (max_width - 1) / 3;
  const std::size_t head = max_width - 1 - tail;
  return fmt::format("{}{}{}", FirstColumns(text, head), style.utf8 ? "…" : "~",
                     LastColumns(text, tail));
}

std::string Shorten(std::string_view untrusted_text, std::size_t max_width, const Style& style) {
  return ShortenEscaped(EscapeControl(untrusted_text), max_width, style);
}

std::string WrapLines(std::string_view text, const Style& style) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    std::size_t indent = 0;
    const std::size_t next_indent = std::min(line.find_first_not_of(' '), line.size()) + 2;
    while (style.columns != 0 && indent + PlainWidth(line) > style.columns) {
      const std::size_t cut = BreakOf(line, style.columns - std::min(style.columns, indent));
      if (cut == std::string_view::npos) break;
      out += std::string(indent, ' ') + std::string(line.substr(0, cut)) + "\n";
      line.remove_prefix(std::min(line.find_first_not_of(' ', cut), line.size()));
      indent = next_indent;
    }
    out += std::string(indent, ' ') + std::string(line) + "\n";
  }
  return out;
}

}  // namespace fieldcost::draw
