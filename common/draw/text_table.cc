#include "common/draw/text_table.h"

#include <algorithm>
#include <numeric>

#include "common/base/check.h"
#include "common/draw/name_text.h"

namespace fieldcost::draw {
namespace {

constexpr std::size_t kGap = 2;
// Narrower names mostly lack their scopes; columns of kLeastSpareRank are dropped before that.
constexpr std::size_t kReadableName = 32;
constexpr unsigned kLeastSpareRank = 3;

struct Place {
  std::size_t column;
  std::size_t width;  // as wide as its widest text
};

std::size_t LeastWidth(const TextColumn& column, std::size_t width) {
  if (column.least == 0) return width;
  return std::min(width, std::max(column.least, DisplayWidth(column.heading)));
}

std::size_t ReadableWidth(const TextColumn& column, std::size_t width) {
  if (!column.is_name) return LeastWidth(column, width);
  return std::min(width, std::max(column.least, kReadableName));
}

std::vector<Place> NaturalPlaces(const std::vector<TextColumn>& columns,
                                 const std::vector<TextLine>& lines) {
  std::vector<Place> places;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const bool says_nothing = std::ranges::all_of(
        lines, [i](const TextLine& line) { return line[i].empty() || line[i] == "-"; });
    if (columns[i].rank != 0 && says_nothing) continue;
    std::size_t width = DisplayWidth(columns[i].heading);
    for (const TextLine& line : lines) width = std::max(width, PlainWidth(line[i]));
    places.push_back({i, width});
  }
  return places;
}

// The width of lines whose cells have the widths that `width_of` returns.
template <typename WidthOf>
std::size_t LineWidth(const std::vector<TextColumn>& columns, const std::vector<Place>& places,
                      const WidthOf& width_of) {
  return std::accumulate(places.begin(), places.end(), kGap * (places.size() - 1),
                         [&](std::size_t sum, const Place& place) {
                           return sum + width_of(columns[place.column], place.width);
                         });
}

// Omits and narrows columns until lines have at most `room` columns, if possible.
void Fit(const std::vector<TextColumn>& columns, std::size_t room, std::vector<Place>& places) {
  const auto rank = [&](const Place& place) { return columns[place.column].rank; };
  const auto leave_out = [&](unsigned least_rank, const auto& width_of) {
    while (LineWidth(columns, places, width_of) > room) {
      const auto last = std::ranges::max_element(places, {}, rank);
      if (rank(*last) < least_rank) break;
      places.erase(last);
    }
  };
  leave_out(kLeastSpareRank, ReadableWidth);
  leave_out(1, LeastWidth);
  const std::size_t least = LineWidth(columns, places, LeastWidth);
  std::size_t spare = room - std::min(room, least);
  for (Place& place : places) {
    const std::size_t narrow = LeastWidth(columns[place.column], place.width);
    const std::size_t more = std::min(spare, place.width - narrow);
    place.width = narrow + more;
    spare -= more;
  }
}

std::string ShortenCell(const TextColumn& column, const std::string& text, std::size_t width,
                        const Style& style) {
  if (column.is_name) return ShortenName(text, width, style);
  switch (column.keeps) {
    case TextColumn::Keeps::kEnd:
      return ShortenPath(text, width, style);
    case TextColumn::Keeps::kLibrary:
      return ShortenLibrary(text, width, style);
    case TextColumn::Keeps::kStart:
      return ShortenRemark(text, width, style);
    case TextColumn::Keeps::kBothEnds:
      break;
  }
  return ShortenEscaped(text, width, style);
}

}  // namespace

std::string TextTable(const std::vector<TextColumn>& columns, const std::vector<TextLine>& lines,
                      const Style& style, std::string_view indent) {
  for (const TextLine& line : lines) FIELDCOST_CHECK(line.size() == columns.size());
  std::vector<Place> places = NaturalPlaces(columns, lines);
  if (style.columns != 0) {
    Fit(columns, style.columns - std::min(style.columns, indent.size()), places);
  }
  std::string text;
  const auto add = [&](const auto& cell) {
    std::string out(indent);
    for (const Place& place : places) {
      if (&place != &places.front()) out += std::string(kGap, ' ');
      const std::string full = cell(place.column);
      const bool is_short = PlainWidth(full) <= place.width;
      const std::string cut =
          is_short ? full : ShortenCell(columns[place.column], full, place.width, style);
      out += columns[place.column].right ? PadLeft(cut, place.width) : PadRight(cut, place.width);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    text += out + "\n";
  };
  const bool has_headings = std::ranges::any_of(
      columns, [](const TextColumn& column) { return !column.heading.empty(); });
  if (has_headings) add([&](std::size_t i) { return columns[i].heading; });
  for (const TextLine& line : lines) add([&](std::size_t i) { return line[i]; });
  return text;
}

bool HasColumn(std::string_view table, std::string_view heading) {
  return table.substr(0, table.find('\n')).find(heading) != std::string_view::npos;
}

}  // namespace fieldcost::draw
