#include "agent/unwind/expression.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace fieldcost::unwind {
namespace {

using namespace std::string_literals;  // NOLINT: bytes with zeros

constexpr std::uint64_t kBase = 0x1000;

std::optional<std::uint64_t> Value(const std::string& expression, std::uint64_t rip = 0,
                                   std::optional<std::uint64_t> initial = std::nullopt) {
  const std::vector<std::uint64_t> words = {100, 200, 300};
  StackMemory memory(kBase, {reinterpret_cast<const std::uint8_t*>(words.data()), 24}, nullptr);
  Registers registers;
  registers.Set(kRsp, kBase);
  registers.Set(kRip, rip);
  return EvaluateExpression(
      {reinterpret_cast<const std::uint8_t*>(expression.data()), expression.size()}, registers,
      memory, initial);
}

TEST(ExpressionTest, RecognisesSlotsOfProcedures) {
  // The expression that linkers generate for .plt: rsp + 8 + ((rip & 15) >= 11) * 8.
  const std::string slots = "\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22"s;
  for (std::uint64_t inside = 0; inside < 16; ++inside) {
    EXPECT_EQ(Value(slots, 0x401020 + inside), kBase + 8 + (inside >= 11 ? 8 : 0)) << inside;
  }
}

TEST(ExpressionTest, OperationsAreThoseOfDwarf) {
  EXPECT_EQ(Value("\x77\x08\x06"s), 200U);               // deref
  EXPECT_EQ(Value("\x77\x10\x06\x23\x07"s), 307U);       // deref, plus_uconst
  EXPECT_EQ(Value("\x38\x35\x1c"s), 3U);                 // 8 - 5
  EXPECT_EQ(Value("\x35\x38\x1c"s), ~std::uint64_t{2});  // 5 - 8
  EXPECT_EQ(Value("\x38\x35\x1e"s), 40U);
  EXPECT_EQ(Value("\x09\xff"s), ~std::uint64_t{0});  // const1s
  EXPECT_EQ(Value("\x08\xff"s), 255U);
  EXPECT_EQ(Value("\x0a\xff\x01"s), 511U);
  EXPECT_EQ(Value("\x10\x80\x01"s), 128U);
  EXPECT_EQ(Value("\x11\x7f"s), ~std::uint64_t{0});
  EXPECT_EQ(Value("\x09\xff\x34\x26"s), ~std::uint64_t{0});  // shra
  EXPECT_EQ(Value("\x09\xff\x08\x40\x25"s), 0U);             // shr by 64
  EXPECT_EQ(Value("\x31\x08\x40\x24"s), 0U);                 // shl by 64
  EXPECT_EQ(Value("\x09\xff\x30\x2d"s), 1U);                 // -1 < 0
  EXPECT_EQ(Value("\x32\x33\x14\x1c\x1c"s), 1U);             // 2 3 over - - : 2 - (3 - 2)
  EXPECT_EQ(Value("\x32\x33\x15\x01\x13\x13"s), 2U);         // pick, drop, drop
  EXPECT_EQ(Value("\x35\x1f\x20"s), 4U);                     // not of neg
  EXPECT_EQ(Value("\x31\x22"s, 0, 41), 42U);                 // with the CFA on the stack
}

TEST(ExpressionTest, RefusesExpressionsThatCannotBeEvaluated) {
  EXPECT_EQ(Value(""s), std::nullopt);
  EXPECT_EQ(Value("\x22"s), std::nullopt);  // nothing to add
  EXPECT_EQ(Value("\x31\x22"s), std::nullopt);
  EXPECT_EQ(Value("\x73\x00"s), std::nullopt);          // rbx is not known
  EXPECT_EQ(Value("\x8f\x00"s), std::nullopt);          // there is no register 31
  EXPECT_EQ(Value("\x77\x18\x06"s), std::nullopt);      // not in the copy
  EXPECT_EQ(Value("\x31\x2f\xfd\xff"s), std::nullopt);  // skip, backwards
  EXPECT_EQ(Value("\x31\x28\xfd\xff"s), std::nullopt);  // bra
  EXPECT_EQ(Value("\x0e\x01"s), std::nullopt);          // half a number
  EXPECT_EQ(Value(std::string(65, '\x31')), std::nullopt);
  EXPECT_EQ(Value(std::string(64, '\x31')), 1U);
  std::string nothing(256, '\x96');
  nothing[0] = '\x31';
  EXPECT_EQ(Value(nothing), std::nullopt);
  EXPECT_EQ(Value(nothing.substr(0, 255)), 1U);
}

}  // namespace
}  // namespace fieldcost::unwind
