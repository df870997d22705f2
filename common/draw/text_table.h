#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/draw/terminal.h"

namespace fieldcost::draw {

// A column of a text table. If lines do not fit the terminal (Style::columns), texts are shortened
// first, then columns are omitted; but columns of rank 3 and above are omitted before names are
// shortened to fewer than 32 columns. A column that may be omitted and is empty ("-" or "" in every
// line) always is.
struct TextColumn {
  // The part that is kept when a text is shortened.
  enum class Keeps {
    kBothEnds,
    kEnd,      // of a path: ShortenPath()
    kLibrary,  // of a library: ShortenLibrary()
    kStart,    // of a remark: ShortenRemark()
  };

  std::string heading;
  bool right = false;
  unsigned rank = 0;      // columns with the highest are left out first; 0 = never
  std::size_t least = 0;  // texts may be shortened to this; 0 = they may not
  bool is_name = false;   // of functions: shortened by ShortenName()
  Keeps keeps = Keeps::kBothEnds;
};

// One text per column: escaped, and painted only where it may not be shortened.
using TextLine = std::vector<std::string>;

// Columns two blanks apart, each as wide as its widest text; the last one is not padded. Each line
// begins with `indent`. Without any heading there is no line of them. REQUIRES: as many texts as
// columns in every line (checked).
std::string TextTable(const std::vector<TextColumn>& columns, const std::vector<TextLine>& lines,
                      const Style& style, std::string_view indent = "");

// Whether a table has kept the column of this heading. Pure.
bool HasColumn(std::string_view table, std::string_view heading);

}  // namespace fieldcost::draw
