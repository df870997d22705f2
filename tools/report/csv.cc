#include "tools/report/csv.h"

#include <fmt/format.h>

#include <cmath>

#include "common/base/check.h"
#include "common/base/text.h"
#include "common/draw/numbers.h"

namespace fieldcost::report {
namespace {

constexpr std::string_view kFormulaStarts = "=+-@\t\r\n";
// Semicolons and tabs separate cells in locales whose decimal separator is a comma.
constexpr std::string_view kQuoted = ",;\"\t\r\n ";

}  // namespace

CsvWriter::CsvWriter(std::span<const std::string_view> column_names)
    : columns_(column_names.size()) {
  for (const std::string_view name : column_names) Text(name);
  EndRecord();
}

void CsvWriter::Begin() {
  if (cells_++ != 0) text_ += ',';
}

void CsvWriter::AppendText(std::string_view untrusted_text) {
  std::string cell = EscapeControl(untrusted_text);
  if (!untrusted_text.empty() && kFormulaStarts.find(untrusted_text[0]) != std::string_view::npos) {
    cell.insert(0, 1, '\'');
  }
  if (cell.find_first_of(kQuoted) == std::string::npos) {
    text_ += cell;
    return;
  }
  text_ += '"';
  for (const char c : cell) text_.append(c == '"' ? 2 : 1, c);
  text_ += '"';
}

CsvWriter& CsvWriter::Text(std::string_view untrusted_text) {
  Begin();
  AppendText(untrusted_text);
  return *this;
}

CsvWriter& CsvWriter::Count(std::uint64_t count) {
  Begin();
  text_ += fmt::format("{}", count);
  return *this;
}

CsvWriter& CsvWriter::Sum(stats::Uint128 sum) {
  Begin();
  text_ += draw::Decimal(sum);
  return *this;
}

CsvWriter& CsvWriter::Number(double number) {
  Begin();
  if (std::isfinite(number)) text_ += fmt::format("{}", number);
  return *this;
}

CsvWriter& CsvWriter::Flag(bool flag) {
  Begin();
  text_ += flag ? "true" : "false";
  return *this;
}

CsvWriter& CsvWriter::Empty() {
  Begin();
  return *this;
}

CsvWriter& CsvWriter::Known(const std::optional<std::uint64_t>& count) {
  return count ? Count(*count) : Empty();
}

CsvWriter& CsvWriter::Known(const std::optional<double>& number) {
  return number ? Number(*number) : Empty();
}

const std::string& CsvWriter::text() const {
  FIELDCOST_CHECK(cells_ == 0);
  return text_;
}

void CsvWriter::EndRecord() {
  FIELDCOST_CHECK(cells_ == columns_);
  text_ += "\r\n";
  cells_ = 0;
}

}  // namespace fieldcost::report
