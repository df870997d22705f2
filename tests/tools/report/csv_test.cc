#include "tools/report/csv.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/process.h"

namespace fieldcost::report {
namespace {

TEST(CsvTest, RecordsEndInCrLfAndTheFirstHoldsTheNames) {
  CsvWriter csv({"api", "n", "sum", "mean", "flag", "none"});
  csv.Text("open_it").Count(3).Sum(stats::Uint128{1} << 100).Number(1.5).Flag(true).Empty();
  csv.EndRecord();
  EXPECT_EQ(csv.text(),
            "api,n,sum,mean,flag,none\r\n"
            "open_it,3,1267650600228229401496703205376,1.5,true,\r\n");
}

TEST(CsvTest, WhatSeparatesIsQuoted) {
  CsvWriter csv({"a", "b"});
  csv.Text("one,two").Text("say \"hi\"").EndRecord();
  csv.Text("semi;colon").Text("a b").EndRecord();
  EXPECT_EQ(csv.text(), "a,b\r\n\"one,two\",\"say \"\"hi\"\"\"\r\n\"semi;colon\",\"a b\"\r\n");
}

TEST(CsvTest, TextThatASpreadsheetWouldCalculateIsDefused) {
  for (const char* formula : {"=1+1", "+1", "-1", "@SUM(A1)", "=cmd|' /C calc'!A0"}) {
    CsvWriter csv({"a"});
    csv.Text(formula).EndRecord();
    const std::string cell = csv.text().substr(3);
    EXPECT_TRUE(cell.starts_with("'") || cell.starts_with("\"'")) << cell;
  }
  CsvWriter csv({"a", "b", "c"});
  csv.Text("\t=1").Text("\r=1").Text("\n=1").EndRecord();
  EXPECT_EQ(csv.text(), "a,b,c\r\n'\\x09=1,'\\x0d=1,'\\x0a=1\r\n");
}

TEST(CsvTest, NegativeNumbersStayNumbersAndOthersAreEmpty) {
  CsvWriter csv({"a", "b", "c"});
  csv.Number(-0.25).Number(std::numeric_limits<double>::infinity());
  csv.Number(std::numeric_limits<double>::quiet_NaN()).EndRecord();
  EXPECT_EQ(csv.text(), "a,b,c\r\n-0.25,,\r\n");
}

TEST(CsvTest, TerminalsAreNotSteered) {
  CsvWriter csv({"a"});
  csv.Text("x\x1b[31m\r\ny").EndRecord();
  EXPECT_EQ(csv.text(), "a\r\nx\\x1b[31m\\x0d\\x0ay\r\n");
}

TEST(CsvTest, AnotherReaderFindsTheSameCells) {
  CsvWriter csv({"a", "b", "c"});
  csv.Text("A<\"><img>,;").Text("operator,").Text("").EndRecord();
  const testing::ProcessResult result = testing::RunProcess(
      {.arguments = {"python3", "-c",
                     "import csv,io,sys; d=sys.stdin.buffer.read().decode();"
                     "print(list(csv.reader(io.StringIO(d,newline=''),strict=True)))"},
       .input = csv.text()});
  EXPECT_EQ(result.output, "[['a', 'b', 'c'], ['A<\"><img>,;', 'operator,', '']]\n")
      << result.errors;
}

TEST(CsvDeathTest, ARecordOfAnotherLengthIsABug) {
  CsvWriter csv({"a", "b"});
  csv.Count(1);
  EXPECT_DEATH(csv.EndRecord(), "cells_ == columns_");
}

}  // namespace
}  // namespace fieldcost::report
