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
  unsigned rank = 0;      // the highest are omitted first; 0 = never
  std::size_t least = 0;  // minimum width of shortened texts; 0 = never shortened
  bool is_name = false;   // of a function: shortened by ShortenName()
  Keeps keeps = Keeps::kBothEnds;
};

// One text per column, escaped; painted only if the column is never shortened.
using TextLine = std::vector<std::string>;

// Separates columns by two blanks; each is as wide as its widest text, but the last is not padded.
// Each line begins with `indent`. Prints no heading if all are empty. REQUIRES: every line has as
// many texts as there are columns (checked).
std::string TextTable(const std::vector<TextColumn>& columns, const std::vector<TextLine>& lines,
                      const Style& style, std::string_view indent = "");

// Whether a printed table contains the column with this heading. Pure.
bool HasColumn(std::string_view table, std::string_view heading);

}  // namespace fieldcost::draw
