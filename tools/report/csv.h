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

// Writes comma-separated values (RFC 4180): CRLF after every record, quotes where needed, and the
// column names as the first record. A plain value, not thread-safe.
//
// Untrusted text can control neither a terminal nor a spreadsheet: control characters
// are escaped (EscapeControl), and text that begins with = + - @ tab CR or LF, which a spreadsheet
// would interpret as a formula, gets a leading apostrophe. Numbers are written as they are, so that
// a negative one stays a number.
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
  // Writes the shortest decimal that reads back as the same number; empty if not finite.
  CsvWriter& Number(double number);
  CsvWriter& Flag(bool flag);  // true or false
  CsvWriter& Empty();          // unknown
  // Writes an empty cell for nullopt.
  CsvWriter& Known(const std::optional<std::uint64_t>& count);
  CsvWriter& Known(const std::optional<double>& number);

  // REQUIRES: the record has as many cells as columns (checked).
  void EndRecord();

  // All records so far. REQUIRES: no record is unfinished.
  const std::string& text() const;

 private:
  void Begin();  // a cell
  void AppendText(std::string_view untrusted_text);

  std::string text_;
  std::size_t columns_;
  std::size_t cells_ = 0;  // of the unfinished record
};

// A column: its name, and the function that writes its cell of a record.
template <typename Record>
struct CsvColumn {
  std::string name;
  std::function<void(CsvWriter& csv, const Record& record)> put;
};

template <typename Record>
using CsvColumns = std::vector<CsvColumn<Record>>;

// Writes the columns' names and one record per element of `records`. REQUIRES: each column writes
// one cell (checked).
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
