#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/draw/page_asset.h"
#include "common/draw/spectrum.h"

namespace fieldcost::report {

// Shared by all pages: one style for screens (400 pixels or wider) and paper, light and dark, and
// one content security policy. Only for pages in this folder and its subfolders. Pure; thread-safe.

// The document up to <body>. A page is self-contained and runs no scripts: its content security
// policy allows one style, by hash, and nothing else; with `kBeside` also pictures in files.
enum class Pictures { kInside, kBeside };
std::string PageBegin(std::string_view untrusted_title, Pictures pictures = Pictures::kInside);
std::string PageEnd();

// The same for a page that contains and runs `scripts` (ScriptHtml()): also permits these styles
// and scripts, by hash; with `kLoadOthers` also scripts that these load.
enum class Scripts { kInside, kLoadOthers };
std::string PageBegin(std::string_view untrusted_title, std::span<const draw::PageAsset> styles,
                      std::span<const draw::PageAsset> scripts, Scripts kind = Scripts::kInside);
std::string ScriptHtml(const draw::PageAsset& script);

enum class ColumnKind { kName, kText, kNumber, kPicture };
struct PageColumn {
  std::string heading;  // HTML
  ColumnKind kind = ColumnKind::kText;
  // Omitted if all lines have the same value; the table's caption states it instead.
  bool drop_if_same = false;
  std::string label = {};  // on narrow screens, if different from the heading
};

// Lines of cells in HTML, one per column; the first is the line's name. On narrow screens each line
// becomes a card.
struct PageTable {
  std::string id;  // of its heading, which also labels the table
  std::string title;
  std::string caption;  // HTML
  std::vector<PageColumn> columns;
  std::vector<std::vector<std::string>> lines;
};
// The table alone.
std::string TableHtml(const PageTable& table);
// The table as a section with its heading.
std::string SectionHtml(const PageTable& table);
// The table folded below the text `summary`; not a section, and without its own heading.
std::string FoldedHtml(std::string_view summary, const PageTable& table);

// A function's name on one line, truncated if too long, with the full name as title; below it
// `untrusted_below`. `link` ("#id", a relative URL) may be empty.
std::string NameHtml(std::string_view untrusted_name, std::string_view link,
                     std::string_view untrusted_below);

// One scale for all spectra of a table. Costs in units other than time have their own scale.
class SpectrumScale {
 public:
  // REQUIRES: called for everything the table will show, before the functions below.
  void Add(const draw::Bars& bars, stats::Metric metric);
  // The column, with the scale in its heading: that of times, if any.
  PageColumn Column() const;
  // Explains the column, for the caption.
  std::string Words() const;
  std::string Cell(const draw::Bars& bars, stats::Metric metric) const;

 private:
  struct Scale {
    draw::UsedSlots range;
    stats::Metric metric = stats::Metric::kWallTime;
  };
  std::map<std::string_view, Scale> by_unit_;
};

}  // namespace fieldcost::report
