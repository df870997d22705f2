#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/stats/uint128.h"

namespace fieldcost::report {

// Makes comma-separated values as RFC 4180 has them: CRLF behind every record, quotes where they
// are needed, the first record the names of the columns. A plain value, not thread-safe.
//
// Text may come from anywhere and steers neither a terminal nor a spreadsheet: control characters
// are escaped (EscapeControl), and text that begins with = + - @ tab CR or LF, which a spreadsheet
// would take for a formula, gets an apostrophe in front. Numbers are written as they are, so that a
// negative one stays a number.
//
//   CsvOf<Row>({{"api", [](CsvWriter& csv, const Row& row) { csv.Text(row.api); }},
//               {"mean", [](CsvWriter& csv, const Row& row) { csv.Number(row.mean); }}},
//              {Row{"=cmd!A1", -1.5}});  // '=cmd!A1,-1.5 below api,mean
class CsvWriter {
 public:
  // Writes the record with the columns' names.
  explicit CsvWriter(std::span<const std::string_view> column_names);

  CsvWriter& Text(std::string_view untrusted_text);
  CsvWriter& Count(std::uint64_t count);
  CsvWriter& Sum(stats::Uint128 sum);  // exact
  // The shortest decimals that read back as the same number; an empty cell if it is not finite.
  CsvWriter& Number(double number);
  CsvWriter& Flag(bool flag);  // true or false
  CsvWriter& Empty();          // not known
  // Empty without a value.
  CsvWriter& Known(const std::optional<std::uint64_t>& count);
  CsvWriter& Known(const std::optional<double>& number);

  // REQUIRES: as many cells as columns (checked).
  void EndRecord();

  // Everything so far. REQUIRES: no record is unfinished.
  const std::string& text() const;

 private:
  void Begin();  // of a cell
  void AppendText(std::string_view untrusted_text);

  std::string text_;
  std::size_t columns_;
  std::size_t cells_ = 0;  // of the unfinished record
};

// A column: its name, and what puts a record's cell into it.
template <typename Record>
struct CsvColumn {
  std::string name;
  std::function<void(CsvWriter& csv, const Record& record)> put;
};

template <typename Record>
using CsvColumns = std::vector<CsvColumn<Record>>;

// The names of the columns, and each of `records`. REQUIRES: a column puts one cell (checked).
template <typename Record>
std::string CsvOf(const CsvColumns<Record>& columns, const std::vector<Record>& records) {
  std::vector<std::string_view> names;
  for (const CsvColumn<Record>& column : columns) names.push_back(column.name);
  CsvWriter csv(names);
  for (const Record& record : records) {
    for (const CsvColumn<Record>& column : columns) column.put(csv, record);
    csv.EndRecord();
  }
  return csv.text();
}

}  // namespace fieldcost::report
