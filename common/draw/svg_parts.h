#pragma once

#include <string>
#include <string_view>

#include "common/draw/terminal.h"

namespace fieldcost::draw {

// Parts shared by this folder's drawings. Lengths are in user units: CSS pixels at a drawing's
// natural size. Pure.

inline constexpr unsigned kSvgFontSize = 13;
inline constexpr Style kSvgStyle{.utf8 = true};
inline constexpr unsigned kSvgTickFontSize = 11;

// "#2c4fa3".
std::string HexColor(const Rgb& color);

// Opens an element of this size, with `words` as its title and as its description for screen
// readers.
std::string OpenSvg(unsigned width, unsigned height, const std::string& untrusted_words);

// The width of the text at kSvgFontSize, in the widest common font.
unsigned SvgTextWidth(std::string_view text);

// A text that starts, ends or is centred at x: `anchor` is "start", "end" or "middle".
std::string SvgText(double x, double y, std::string_view anchor, unsigned font_size,
                    std::string_view untrusted_text);

}  // namespace fieldcost::draw
