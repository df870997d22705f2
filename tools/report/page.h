#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/draw/spectrum.h"

namespace fieldcost::report {

// Shared by all pages: one style for screens from 400 pixels on and for paper, light and dark, and
// one policy. For the pages of this folder and of those below. Pure; thread-safe.

// Up to <body>. A page is self-contained and runs no scripts: its content security policy allows
// the one style, by hash, and forbids the rest; `kBeside` permits pictures in files.
enum class Pictures { kInside, kBeside };
std::string PageBegin(std::string_view untrusted_title, Pictures pictures = Pictures::kInside);
std::string PageEnd();

// A style or script that is part of the page, and the SHA-256 of its text, base64.
struct PageAsset {
  std::string_view text;
  std::string_view hash;
};
// The same for a page that contains and runs `scripts` (ScriptHtml()): it permits these styles and
// scripts by hash in addition to the one style, and nothing else.
std::string PageBegin(std::string_view untrusted_title, std::span<const PageAsset> styles,
                      std::span<const PageAsset> scripts);
std::string ScriptHtml(const PageAsset& script);

enum class ColumnKind { kName, kText, kNumber, kPicture };
struct PageColumn {
  std::string heading;  // HTML
  ColumnKind kind = ColumnKind::kText;
  // Omitted if all lines have the same value; the table's caption states it instead.
  bool drop_if_same = false;
  std::string label = {};  // on narrow screens, if it is not the heading
};

// Lines of cells, HTML each; as many as columns, the first is the line's name. On narrow screens a
// line is a card.
struct PageTable {
  std::string id;  // of its heading, by which it is also known
  std::string title;
  std::string caption;  // HTML
  std::vector<PageColumn> columns;
  std::vector<std::vector<std::string>> lines;
};
// Only the table.
std::string TableHtml(const PageTable& table);
// As a section with its heading.
std::string SectionHtml(const PageTable& table);
// Folded, below the text `summary`; no section, no heading of its own.
std::string FoldedHtml(std::string_view summary, const PageTable& table);

// A function's name in one line, cut where it is too long, in full as title. `link` is where it
// leads ("#id", a relative URL) and may be empty. Below it, `untrusted_below`.
std::string NameHtml(std::string_view untrusted_name, std::string_view link,
                     std::string_view untrusted_below);

// One scale for all spectra of a table. Costs in other units than time, if there are any, have a
// scale of their own.
class SpectrumScale {
 public:
  // Call first, for everything that the table will show.
  void Add(const draw::Bars& bars, stats::Metric metric);
  // With the scale in the heading: that of times, if any.
  PageColumn Column() const;
  // How to read the column, for the caption.
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
