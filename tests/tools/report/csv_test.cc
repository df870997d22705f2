#include "tools/report/csv.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace fieldcost::report {
namespace {

using Put = std::function<void(CsvWriter& csv)>;

// Columns a, b, ...: each of `puts` writes one column's cell, the same in each record.
std::string CsvOfCells(const std::vector<Put>& puts, std::size_t records = 1) {
  CsvColumns<int> columns;
  for (std::size_t i = 0; i < puts.size(); ++i) {
    columns.push_back({std::string(1, static_cast<char>('a' + i)),
                       [put = puts[i]](CsvWriter& csv, int) { put(csv); }});
  }
  return CsvOf(columns, std::vector<int>(records));
}

Put Text(std::string text) {
  return [text](CsvWriter& csv) { csv.Text(text); };
}

Put Number(double number) {
  return [number](CsvWriter& csv) { csv.Number(number); };
}

TEST(CsvTest, RecordsEndInCrLfAndTheFirstHoldsTheNames) {
  const std::vector<Put> cells = {
      Text("open_it"),
      [](CsvWriter& csv) { csv.Count(3); },
      [](CsvWriter& csv) { csv.Sum(stats::Uint128{1} << 100); },
      Number(1.5),
      [](CsvWriter& csv) { csv.Flag(true); },
      [](CsvWriter& csv) { csv.Empty(); },
  };
  EXPECT_EQ(CsvOfCells(cells, 2),
            "a,b,c,d,e,f\r\n"
            "open_it,3,1267650600228229401496703205376,1.5,true,\r\n"
            "open_it,3,1267650600228229401496703205376,1.5,true,\r\n");
  EXPECT_EQ(CsvOfCells(cells, 0), "a,b,c,d,e,f\r\n");
}

TEST(CsvTest, QuotesFieldsWithSeparators) {
  EXPECT_EQ(CsvOfCells({Text("one,two"), Text("say \"hi\""), Text("semi;colon"), Text("a b")}),
            "a,b,c,d\r\n\"one,two\",\"say \"\"hi\"\"\",\"semi;colon\",\"a b\"\r\n");
}

TEST(CsvTest, TextThatASpreadsheetWouldCalculateIsDefused) {
  for (const char* formula : {"=1+1", "+1", "-1", "@SUM(A1)", "=cmd|' /C calc'!A0"}) {
    const std::string cell = CsvOfCells({Text(formula)}).substr(3);
    EXPECT_TRUE(cell.starts_with("'") || cell.starts_with("\"'")) << cell;
  }
  EXPECT_EQ(CsvOfCells({Text("\t=1"), Text("\r=1"), Text("\n=1")}),
            "a,b,c\r\n'\\x09=1,'\\x0d=1,'\\x0a=1\r\n");
}

TEST(CsvTest, NegativeNumbersStayNumbersAndOthersAreEmpty) {
  EXPECT_EQ(CsvOfCells({Number(-0.25), Number(std::numeric_limits<double>::infinity()),
                        Number(std::numeric_limits<double>::quiet_NaN())}),
            "a,b,c\r\n-0.25,,\r\n");
}

TEST(CsvTest, TerminalsAreNotSteered) {
  EXPECT_EQ(CsvOfCells({Text("x\x1b[31m\r\ny")}), "a\r\nx\\x1b[31m\\x0d\\x0ay\r\n");
}

TEST(CsvTest, AnotherReaderFindsTheSameCells) {
  const testing::ProcessResult result = testing::RunProcess(
      {.arguments = {"python3", "-c",
                     "import csv,io,sys; d=sys.stdin.buffer.read().decode();"
                     "print(list(csv.reader(io.StringIO(d,newline=''),strict=True)))"},
       .input = CsvOfCells({Text("A<\"><img>,;"), Text("operator,"), Text("")})});
  EXPECT_EQ(result.output, "[['a', 'b', 'c'], ['A<\"><img>,;', 'operator,', '']]\n")
      << result.errors;
}

TEST(CsvDeathTest, AColumnThatPutsNoCellOrTwoIsABug) {
  EXPECT_DEATH(CsvOfCells({Number(1), [](CsvWriter&) {}}), "cells_ == columns_");
  EXPECT_DEATH(CsvOfCells({[](CsvWriter& csv) { csv.Count(1).Count(2); }}), "cells_ == columns_");
}

}  // namespace
}  // namespace fieldcost::report
