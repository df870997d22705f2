#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fieldcost::draw {

enum class ColorDepth { kNone, k256, kTrue };
enum class ColorChoice { kAuto, kAlways, kNever };

// How text may be drawn. The default suits files and old terminals.
struct Style {
  bool utf8 = false;
  ColorDepth color = ColorDepth::kNone;
  std::size_t columns = 0;  // of a line; 0 = unlimited: not a terminal
};

// The environment's settings for the terminal; empty = variable not set.
struct TerminalFacts {
  bool is_terminal = false;
  std::string no_color;     // NO_COLOR: any text switches colour off (https://no-color.org)
  std::string term;         // TERM
  std::string color_term;   // COLORTERM
  std::string locale;       // LC_ALL, else LC_CTYPE, else LANG
  std::size_t columns = 0;  // 0 = unknown
};

// The user's choice overrides NO_COLOR, which overrides the terminal. Pure.
Style ChooseStyle(ColorChoice choice, const TerminalFacts& facts);

struct Rgb {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;
};

// `text` in that colour, or unchanged without colour.
std::string Paint(std::string_view text, Rgb color, ColorDepth depth);

// The width of UTF-8 text without escape sequences in columns: its number of code points, since no
// wide ones are printed.
std::size_t DisplayWidth(std::string_view text);

// The same for text that may contain Paint()'s escape sequences.
std::size_t PlainWidth(std::string_view text);

// The part of such text that takes the first or last `width` columns; all of it if it is narrower.
std::string_view FirstColumns(std::string_view text, std::size_t width);
std::string_view LastColumns(std::string_view text, std::size_t width);

// Pads `text`, which may be painted, with spaces to `width` columns.
std::string PadRight(std::string_view text, std::size_t width);
std::string PadLeft(std::string_view text, std::size_t width);

// Escapes external text and, if it is wider than `max_width` columns, drops its middle
// ("sqlite3_~_step").
std::string Shorten(std::string_view untrusted_text, std::size_t max_width, const Style& style);
// The same for text that is already escaped, and is not painted unless it fits.
std::string ShortenEscaped(std::string_view text, std::size_t max_width, const Style& style);

// Wraps lines that are longer than the terminal at blanks; continuation lines are indented by two
// more columns. Longer words are not split.
std::string WrapLines(std::string_view text, const Style& style);

}  // namespace fieldcost::draw
