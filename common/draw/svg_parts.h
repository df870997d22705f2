#pragma once

#include <string>
#include <string_view>

#include "common/draw/terminal.h"

namespace fieldcost::draw {

// What the drawings of this folder share. Lengths are in user units, which are CSS pixels at a
// drawing's natural size. Pure.

inline constexpr unsigned kSvgFontSize = 13;
inline constexpr unsigned kSvgTickFontSize = 11;

// "#2c4fa3".
std::string HexColor(const Rgb& color);

// The element's beginning, of that size, with `words` as its title and for those who do not see it.
std::string OpenSvg(unsigned width, unsigned height, const std::string& untrusted_words);

// What the text takes in letters of kSvgFontSize, in the widest usual font.
unsigned SvgTextWidth(std::string_view text);

// A text that begins, ends or has its middle at x: `anchor` is "start", "end" or "middle".
std::string SvgText(double x, double y, std::string_view anchor, unsigned font_size,
                    std::string_view untrusted_text);

}  // namespace fieldcost::draw
