#include "agent/unwind/cfi_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/base/file.h"
#include "tests/agent/unwind/made_elf.h"

namespace fieldcost::unwind {
namespace {

using namespace std::string_literals;  // NOLINT: bytes with zeros
using testing::kMadeAddress;
using testing::kMadeCode;
using testing::MadeCommon;
using testing::MadeElf;
using testing::MadeFunction;

constexpr std::uint64_t kCode = kMadeAddress + kMadeCode;

CfiTable TableOf(const std::string& file) {
  auto table = MakeCfiTable(ReaderOf(std::string_view(file)));
  EXPECT_TRUE(table.has_value()) << (table ? "" : table.error().message);
  return table ? std::move(*table) : CfiTable();
}

std::string Code() { return std::string(256, '\x90'); }

// "cfa: register number + saved@offset ..." of the row at `address`.
std::string RowAt(const CfiTable& table, std::uint64_t address) {
  const CfiTable::Rule* const rule = table.Find(address);
  if (rule == nullptr) return "none";
  std::string text = rule->cfa == CfiTable::Cfa::kExpression
                         ? fmt::format("expression {}", table.ExpressionAt(rule->cfa_offset).size())
                         : fmt::format("r{}+{}", rule->cfa_register, rule->cfa_offset);
  for (const CfiTable::Saved& saved : table.SavedOf(*rule)) {
    text += fmt::format(" r{}:{}", saved.number, static_cast<int>(saved.place));
    if (saved.place == CfiTable::Place::kAtCfa || saved.place == CfiTable::Place::kCfaItself ||
        saved.place == CfiTable::Place::kRegister) {
      text += fmt::format("@{}", saved.offset);
    }
  }
  return text;
}

TEST(CfiTableTest, RowsHoldFromTheirInstructionToTheNext) {
  // push rbp: after 1 byte; mov rsp, rbp: after 3 more; restored for the return, then as before.
  const std::string program = "\x41\x0e\x10\x86\x02\x43\x0d\x06\x0a\x44\xc6\x0c\x07\x08\x41\x0b"s;
  const CfiTable table =
      TableOf(MadeElf(Code(), MadeFunction(MadeCommon(), kCode + 16, 32, program)));
  EXPECT_EQ(RowAt(table, kCode + 15), "none");
  EXPECT_EQ(table.FunctionStart(kCode + 15), std::nullopt);
  EXPECT_EQ(table.FunctionStart(kCode + 16), kCode + 16);
  EXPECT_EQ(table.FunctionStart(kCode + 47), kCode + 16);
  EXPECT_EQ(table.FunctionStart(kCode + 48), std::nullopt);
  EXPECT_EQ(RowAt(table, kCode + 16), "r7+8 r16:0@-8");
  EXPECT_EQ(RowAt(table, kCode + 17), "r7+16 r6:0@-16 r16:0@-8");
  EXPECT_EQ(RowAt(table, kCode + 19), "r7+16 r6:0@-16 r16:0@-8");
  EXPECT_EQ(RowAt(table, kCode + 20), "r6+16 r6:0@-16 r16:0@-8");
  EXPECT_EQ(RowAt(table, kCode + 24), "r7+8 r16:0@-8");
  EXPECT_EQ(RowAt(table, kCode + 25), "r6+16 r6:0@-16 r16:0@-8");
  EXPECT_EQ(RowAt(table, kCode + 47), "r6+16 r6:0@-16 r16:0@-8");
  EXPECT_EQ(RowAt(table, kCode + 48), "none");
  EXPECT_EQ(table.refused_functions(), 0U);
}

TEST(CfiTableTest, EveryPlaceThatARegisterCanBeInIsKept) {
  // offset_extended r12 at -16; register r13 is in r3; val_offset r14 is CFA - 24; expression r15;
  // val_expression r3; undefined r6; vector registers have no rule.
  const std::string program =
      "\x05\x0c\x02\x09\x0d\x03\x14\x0e\x03\x10\x0f\x02\x77\x08"
      "\x16\x03\x02\x77\x10\x07\x06\x05\x20\x09"s;
  const CfiTable table = TableOf(MadeElf(Code(), MadeFunction(MadeCommon(), kCode, 16, program)));
  EXPECT_EQ(RowAt(table, kCode), "r7+8 r3:4 r6:5 r12:0@-16 r13:2@3 r14:1@-24 r15:3 r16:0@-8");
}

TEST(CfiTableTest, AnUnknownInstructionEndsTheRulesOfItsFunctionOnly) {
  const std::string unknown = "\x44\x0e\x20\x44\x1d\x44\x0e\x30"s;
  std::string section = MadeFunction(MadeCommon(), kCode, 32, unknown);
  section = MadeFunction(section, kCode + 32, 32, "\x0e\x40");
  const CfiTable table = TableOf(MadeElf(Code(), section));
  EXPECT_EQ(RowAt(table, kCode + 4), "r7+32 r16:0@-8");
  EXPECT_EQ(RowAt(table, kCode + 8), "none");
  EXPECT_EQ(RowAt(table, kCode + 12), "none");
  EXPECT_EQ(RowAt(table, kCode + 32), "r7+64 r16:0@-8");
  EXPECT_EQ(table.refused_functions(), 1U);
}

TEST(CfiTableTest, RecognisesSignalFramesByTheirAugmentation) {
  const std::string common = MadeCommon("zS");
  const CfiTable table = TableOf(MadeElf(Code(), MadeFunction(common, kCode, 16, "", true)));
  ASSERT_NE(table.Find(kCode), nullptr);
  EXPECT_TRUE(table.Find(kCode)->signal_frame);
  const CfiTable other = TableOf(MadeElf(Code(), MadeFunction(MadeCommon(), kCode, 16, "")));
  EXPECT_FALSE(other.Find(kCode)->signal_frame);
}

TEST(CfiTableTest, FunctionsThatOverlapOrLieOutsideOfTheCodeAreCut) {
  std::string section = MadeFunction(MadeCommon(), kCode + 8, 64, "\x0e\x20");
  section = MadeFunction(section, kCode, 32, "\x0e\x30");
  section = MadeFunction(section, 0, 1000, "\x0e\x40");           // discarded by the linker
  section = MadeFunction(section, kCode, ~std::uint64_t{0}, "");  // past the end of memory
  const CfiTable table = TableOf(MadeElf(Code(), section));
  EXPECT_EQ(RowAt(table, kCode + 7), "r7+48 r16:0@-8");
  EXPECT_EQ(RowAt(table, kCode + 8), "r7+32 r16:0@-8");
  EXPECT_EQ(RowAt(table, kCode + 71), "r7+32 r16:0@-8");
  EXPECT_EQ(RowAt(table, kCode + 72), "none");
}

TEST(CfiTableTest, ProgramsWithoutRulesEndAtTheirEntry) {
  // call of the code 11 bytes after it.
  const std::string code = std::string(4, '\x90') + "\xe8\x0b\0\0\0"s + std::string(200, '\x90');
  const CfiTable table = TableOf(MadeElf(code, "", kCode));
  EXPECT_EQ(RowAt(table, kCode), "r7+0 r16:5");
  EXPECT_EQ(RowAt(table, kCode + 19), "r7+0 r16:5");
  EXPECT_EQ(RowAt(table, kCode + 20), "none");
}

TEST(CfiTableTest, FindsTheSignalReturnByItsInstructions) {
  const std::string code =
      std::string(32, '\x90') + "\x48\xc7\xc0\x0f\0\0\0\x0f\x05"s + std::string(32, '\x90');
  const CfiTable table = TableOf(MadeElf(code, ""));
  ASSERT_NE(table.Find(kCode + 32), nullptr);
  EXPECT_TRUE(table.Find(kCode + 32)->signal_frame);
  EXPECT_NE(table.Find(kCode + 31), nullptr);  // where its return address is looked up
  EXPECT_EQ(table.Find(kCode + 30), nullptr);
  EXPECT_EQ(table.Find(kCode + 41), nullptr);
}

TEST(CfiTableTest, FilesThatEndTooEarlyHaveFewerRowsOrAreRefused) {
  std::string section = MadeCommon();
  for (int i = 0; i < 3; ++i) section = MadeFunction(section, kCode + 16 * i, 16, "\x41\x0e\x10");
  const std::string file = MadeElf(Code(), section);
  const std::size_t rows = TableOf(file).rows();
  EXPECT_GE(rows, 3U);
  for (std::size_t size = 0; size < file.size(); ++size) {
    const auto table = MakeCfiTable(ReaderOf(std::string_view(file).substr(0, size)));
    EXPECT_TRUE(!table || table->rows() < rows) << size;
  }
  EXPECT_EQ(MakeCfiTable(ReaderOf(std::string_view("#!/bin/sh"))).error().code,
            ErrorCode::kUnsupported);
}

TEST(CfiTableTest, OfALibraryThereAreFewRulesAndManyRows) {
  const auto file =
      ReadFile(std::filesystem::canonical("/lib/x86_64-linux-gnu/libc.so.6"), 64 << 20);
  ASSERT_TRUE(file.has_value());
  const CfiTable table = TableOf(*file);
  EXPECT_EQ(table.refused_functions(), 0U);
  EXPECT_GT(table.rows(), 10'000U);
  EXPECT_LT(table.rules(), 2'000U);
  EXPECT_EQ(table.build_id().size(), 40U);
}

}  // namespace
}  // namespace fieldcost::unwind
