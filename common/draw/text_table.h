#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fieldcost::draw {

struct TextCell {
  std::string text;  // escaped
  bool right = false;
};

// Lines of cells as columns two blanks apart, each as wide as its widest text; the last column may
// hold colour and is not padded. Each line begins with `indent`. REQUIRES: as many cells in every
// line.
std::string TextTable(const std::vector<std::vector<TextCell>>& lines,
                      std::string_view indent = "");

}  // namespace fieldcost::draw
