#include "common/unwind/unwinder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/common/unwind/made_process.h"

namespace fieldcost::unwind {
namespace {

using namespace std::string_literals;  // NOLINT: bytes with zeros
using testing::kMadeAddress;
using testing::kMadeCode;
using testing::MadeCommon;
using testing::MadeElf;
using testing::MadeFunction;
using testing::MadeProcess;

constexpr std::uint64_t kStack = 0x7ffc'0000'0000;
constexpr std::uint64_t kCode = kMadeAddress + kMadeCode;

// 0 to 63: functions without a frame of their own; 64 to 127: the first one, without a caller; from
// 128 on: nothing is known.
std::string Functions() {
  std::string section = MadeFunction(MadeCommon(), kCode, 64, "");
  return MadeFunction(section, kCode + 64, 64, "\x07\x10");
}

MadeProcess Made() { return MadeProcess(MadeElf(std::string(256, '\x90'), Functions())); }

struct Words {
  explicit Words(std::vector<std::uint64_t> values) : words(std::move(values)) {}
  std::span<const std::uint8_t> bytes() const {
    return {reinterpret_cast<const std::uint8_t*>(words.data()), words.size() * sizeof words[0]};
  }
  std::vector<std::uint64_t> words;
};

Registers At(std::uint64_t address) {
  Registers registers;
  registers.Set(kRip, address);
  registers.Set(kRsp, kStack);
  return registers;
}

Stack Unwound(MadeProcess& process, const Registers& registers, const Words& words) {
  StackMemory memory(kStack, words.bytes(), nullptr);
  Stack stack;
  process.unwinder.Unwind(process.map, registers, memory, stack);
  return stack;
}

std::vector<std::uint64_t> Addresses(const Stack& stack) {
  std::vector<std::uint64_t> addresses;
  for (const Frame& frame : stack.frames) addresses.push_back(frame.address);
  return addresses;
}

using ::testing::ElementsAre;

TEST(UnwinderTest, GoesFromCallToCallUpToTheOutermost) {
  MadeProcess process = Made();
  const Words words({process.Address(20), process.Address(100), 5, 6});
  const Stack stack = Unwound(process, At(process.Address(4)), words);
  EXPECT_THAT(Addresses(stack),
              ElementsAre(process.Address(4), process.Address(20), process.Address(100)));
  EXPECT_EQ(stack.end, StackEnd::kOutermost);
  EXPECT_TRUE(stack.frames[0].exact);
  EXPECT_FALSE(stack.frames[1].exact);
  EXPECT_EQ(stack.frames[1].lookup_address(), process.Address(19));
}

TEST(UnwinderTest, AReturnAddressBehindAFunctionIsOfIt) {
  // A call that never returns is the function's last instruction.
  MadeProcess process = Made();
  const Stack stack =
      Unwound(process, At(process.Address(4)), Words({process.Address(64), process.Address(70)}));
  EXPECT_EQ(stack.frames.size(), 3U);
  EXPECT_EQ(stack.end, StackEnd::kOutermost);
}

TEST(UnwinderTest, WhatIsMissingCutsTheStack) {
  MadeProcess process = Made();
  const Stack stack =
      Unwound(process, At(process.Address(4)), Words({process.Address(20), process.Address(30)}));
  EXPECT_EQ(stack.frames.size(), 3U);
  EXPECT_EQ(stack.end, StackEnd::kCut);
}

TEST(UnwinderTest, ACallerAtNoAddressIsNone) {
  MadeProcess process = Made();
  const Stack stack = Unwound(process, At(process.Address(4)), Words({process.Address(20), 0}));
  EXPECT_EQ(stack.frames.size(), 2U);
  EXPECT_EQ(stack.end, StackEnd::kOutermost);
}

TEST(UnwinderTest, WhatIsNoCodeIsNoReturnAddress) {
  MadeProcess process = Made();
  const Stack stack =
      Unwound(process, At(process.Address(4)), Words({process.Address(20), 0x1234, 0}));
  EXPECT_EQ(stack.frames.size(), 2U);
  EXPECT_EQ(stack.end, StackEnd::kBroken);
}

TEST(UnwinderTest, CodeWithoutRulesEndsTheStackUnlessAFramePointerLeadsOn) {
  MadeProcess process = Made();
  const std::vector<std::uint64_t> words = {
      1, 2, kStack + 48, process.Address(20), process.Address(100), 0};
  Registers registers = At(process.Address(200));
  EXPECT_EQ(Unwound(process, registers, Words(words)).end, StackEnd::kNoTable);
  registers.Set(kRbp, kStack + 16);
  const Stack stack = Unwound(process, registers, Words(words));
  EXPECT_THAT(Addresses(stack),
              ElementsAre(process.Address(200), process.Address(20), process.Address(100)));
  EXPECT_THAT(stack.frames, ElementsAre(::testing::Field(&Frame::guessed, false),
                                        ::testing::Field(&Frame::guessed, true),
                                        ::testing::Field(&Frame::guessed, false)));
  // Not aligned, below the stack pointer, far away, or to no code.
  for (const std::uint64_t frame :
       {kStack + 17, kStack - 16, kStack + (std::uint64_t{2} << 20), kStack}) {
    registers.Set(kRbp, frame);
    EXPECT_EQ(Unwound(process, registers, Words(words)).frames.size(), 1U) << frame - kStack;
  }
}

TEST(UnwinderTest, CodeThatIsNotMappedHasOneFrame) {
  MadeProcess process = Made();
  Registers registers = At(0);
  registers.Set(kRbp, kStack);
  const Stack stack = Unwound(process, registers, Words({kStack + 16, process.Address(20)}));
  EXPECT_EQ(stack.frames.size(), 1U);
  EXPECT_EQ(stack.end, StackEnd::kNoTable);
  EXPECT_TRUE(Unwound(process, Registers(), Words({})).frames.empty());
}

TEST(UnwinderTest, StacksDoNotGrowBackwardsNorForEver) {
  // The frame is found by rbx, which leads back.
  std::string section = MadeFunction(MadeCommon(), kCode, 64, "\x0c\x03\x08");
  MadeProcess process(MadeElf(std::string(256, '\x90'), section));
  Registers registers = At(process.Address(4));
  registers.Set(kRbx, kStack - 64);
  EXPECT_EQ(Unwound(process, registers, Words({process.Address(4)})).end, StackEnd::kBroken);
  EXPECT_EQ(Unwound(process, At(process.Address(4)), Words({0})).end,
            StackEnd::kBroken);  // rbx is not known

  MadeProcess deep = Made();
  const Words words(std::vector<std::uint64_t>(5000, deep.Address(20)));
  const Stack stack = Unwound(deep, At(deep.Address(4)), words);
  EXPECT_EQ(stack.frames.size(), kMostFrames);
  EXPECT_EQ(stack.end, StackEnd::kTooDeep);
}

TEST(UnwinderTest, AChangedMapIsLookedAtAgain) {
  MadeProcess process = Made();
  const Words words({process.Address(20), process.Address(100)});
  EXPECT_EQ(Unwound(process, At(process.Address(4)), words).frames.size(), 3U);
  process.map.Clear();
  EXPECT_EQ(Unwound(process, At(process.Address(4)), words).frames.size(), 1U);
}

TEST(UnwinderTest, RegistersThatACallMayChangeAreNotTheCallers) {
  // The caller's frame is found by rax, which its callee may have changed.
  std::string section = MadeFunction(MadeCommon(), kCode, 64, "");
  section = MadeFunction(section, kCode + 128, 64, "\x0c\0\x08"s);
  MadeProcess process(MadeElf(std::string(256, '\x90'), section));
  Registers registers = At(process.Address(4));
  registers.Set(kRax, kStack + 8);
  const Stack stack =
      Unwound(process, registers, Words({process.Address(140), process.Address(20), 0}));
  EXPECT_EQ(stack.frames.size(), 2U);
  EXPECT_EQ(stack.end, StackEnd::kBroken);
}

TEST(TableCacheTest, AFileIsReadOnceAndWhatDoesNotFitIsCounted) {
  const std::string file = MadeElf(std::string(256, '\x90'), Functions());
  MadeProcess process(file);
  Mapping other = process.map.mappings()[0];
  other.looked_up = false;
  process.tables.LookUp(1, other);
  ASSERT_NE(other.table, nullptr);
  Mapping again = process.map.mappings()[0];
  again.start += 0x100000;
  process.tables.LookUp(2, again);
  EXPECT_EQ(again.table, other.table);
  EXPECT_EQ(again.bias, other.bias + 0x100000);
  EXPECT_EQ(process.tables.tables(), 1U);

  TableCache small({.most_bytes = 10, .open = [](pid_t, const Mapping&) -> Result<UniqueFd> {
                      return Fail(ErrorCode::kNotFound, "gone");
                    }});
  Mapping third = process.map.mappings()[0];
  small.LookUp(1, third);
  EXPECT_EQ(third.table, nullptr);
  EXPECT_EQ(small.failures(), 1U);
}

}  // namespace
}  // namespace fieldcost::unwind
