#include "agent/unwind/unwinder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/agent/unwind/made_process.h"

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

// 0 to 63: functions without a frame of their own. 64 to 127: the first function, without a caller.
// From 128 on: nothing is known.
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

TEST(UnwinderTest, AReturnAddressAtAFunctionsEndBelongsToIt) {
  // A call that never returns is the function's last instruction.
  MadeProcess process = Made();
  const Stack stack =
      Unwound(process, At(process.Address(4)), Words({process.Address(64), process.Address(70)}));
  EXPECT_EQ(stack.frames.size(), 3U);
  EXPECT_EQ(stack.end, StackEnd::kOutermost);
}

TEST(UnwinderTest, MissingMemoryCutsTheStack) {
  MadeProcess process = Made();
  const Stack stack =
      Unwound(process, At(process.Address(4)), Words({process.Address(20), process.Address(30)}));
  EXPECT_EQ(stack.frames.size(), 3U);
  EXPECT_EQ(stack.end, StackEnd::kCut);
}

TEST(UnwinderTest, NullReturnAddressEndsTheStack) {
  MadeProcess process = Made();
  const Stack stack = Unwound(process, At(process.Address(4)), Words({process.Address(20), 0}));
  EXPECT_EQ(stack.frames.size(), 2U);
  EXPECT_EQ(stack.end, StackEnd::kOutermost);
}

TEST(UnwinderTest, RejectsReturnAddressesOutsideCode) {
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
  // Not aligned, below the stack pointer, far away, or not followed by a code address.
  for (const std::uint64_t frame :
       {kStack + 17, kStack - 16, kStack + (std::uint64_t{2} << 20), kStack}) {
    registers.Set(kRbp, frame);
    EXPECT_EQ(Unwound(process, registers, Words(words)).frames.size(), 1U) << frame - kStack;
  }
}

TEST(UnwinderTest, CallersInGoAreFoundByTheFramePointerAlsoPastOldReturnAddresses) {
  std::string code(128, '\x90');
  code.replace(15, 5, "\xe8\0\0\0\0"s);
  code.resize(256, '\xcc');
  const std::string file = MadeElf(code, Functions());
  const auto unwound = [](const std::string& bytes) {
    MadeProcess process(bytes);
    Registers registers = At(process.Address(4));
    registers.Set(kRbp, kStack + 24);
    // Address(20) was left there by an earlier call.
    return Unwound(process, registers,
                   Words({process.Address(200), process.Address(20), 0, kStack + 64,
                          process.Address(100), 0}));
  };
  EXPECT_EQ(unwound(file).frames.size(), 2U);
  const Stack stack = unwound(testing::AsGo(file));
  EXPECT_THAT(Addresses(stack), ElementsAre(MadeProcess::Address(4), MadeProcess::Address(200),
                                            MadeProcess::Address(100)));
  EXPECT_EQ(stack.end, StackEnd::kOutermost);
}

constexpr std::uint64_t kGenerated = 0x7fff'0000'0000;

// A process with a call that ends at 20, and with memory of generated code.
MadeProcess WithGeneratedCode() {
  std::string code(256, '\x90');
  code.replace(15, 5, "\xe8\0\0\0\0"s);
  MadeProcess process(MadeElf(code, Functions()));
  Mapping mapping;
  mapping.start = kGenerated;
  mapping.end = kGenerated + 4096;
  FIELDCOST_CHECK(process.map.Add(mapping));
  return process;
}

Stack UnwoundWithCode(MadeProcess& process, const Registers& registers, const Words& words,
                      const std::string& code) {
  MemoryAt reader(kGenerated, {reinterpret_cast<const std::uint8_t*>(code.data()), code.size()});
  StackMemory memory(kStack, words.bytes(), &reader);
  Stack stack;
  process.unwinder.Unwind(process.map, registers, memory, stack);
  return stack;
}

// sub $8,%rsp; call *%rcx; add $8,%rsp; ret
const std::string kTrampoline = "\x48\x83\xec\x08\xff\xd1\x48\x83\xc4\x08\xc3";
constexpr std::uint64_t kInTrampoline = kGenerated + 6;  // where its call returns to

TEST(UnwinderTest, GeneratedCodeIsFollowedToItsReturn) {
  MadeProcess process = WithGeneratedCode();
  // function at 4 <- trampoline <- function at 20 <- trampoline <- function at 20 <- first function
  const Words words({kInTrampoline, 7, process.Address(20), kInTrampoline, 7, process.Address(20),
                     process.Address(100)});
  Registers registers = At(process.Address(4));
  // Using the frame pointer of a function further out would skip the callers in between.
  registers.Set(kRbp, kStack + 40);
  const Stack stack = UnwoundWithCode(process, registers, words, kTrampoline);
  EXPECT_THAT(Addresses(stack),
              ElementsAre(process.Address(4), kInTrampoline, process.Address(20), kInTrampoline,
                          process.Address(20), process.Address(100)));
  EXPECT_EQ(stack.end, StackEnd::kOutermost);
  EXPECT_TRUE(stack.frames[2].guessed);
}

TEST(UnwinderTest, PathsThroughGeneratedCodeOutliveTheProgram) {
  MadeProcess process = WithGeneratedCode();
  const Words words({kInTrampoline, 7, process.Address(20), process.Address(100)});
  const Registers registers = At(process.Address(4));
  EXPECT_EQ(Unwound(process, registers, words).end, StackEnd::kNoTable);
  EXPECT_EQ(UnwoundWithCode(process, registers, words, kTrampoline).end, StackEnd::kOutermost);
  EXPECT_EQ(Unwound(process, registers, words).end, StackEnd::kOutermost);
  // While the program runs, only the current code counts.
  EXPECT_EQ(UnwoundWithCode(process, registers, words, std::string(1024, '\x90')).end,
            StackEnd::kNoTable);
}

TEST(UnwinderTest, GeneratedCodeWithoutAReturnNearbyIsLeftByItsFramePointer) {
  MadeProcess process = WithGeneratedCode();
  const Words words({kInTrampoline, 7, kStack + 48, process.Address(20), process.Address(100)});
  Registers registers = At(process.Address(4));
  registers.Set(kRbp, kStack + 16);
  const std::string no_return(1024, '\x90');
  const std::vector<std::uint64_t> expected = {process.Address(4), kInTrampoline,
                                               process.Address(20), process.Address(100)};
  EXPECT_EQ(Addresses(UnwoundWithCode(process, registers, words, no_return)), expected);
  // The code is gone, as after the program has ended.
  EXPECT_EQ(Addresses(Unwound(process, registers, words)), expected);
}

TEST(UnwinderTest, ReturnAddressesFromGeneratedCodeFollowACall) {
  MadeProcess process = WithGeneratedCode();
  const Words words({kInTrampoline, 7, process.Address(21), process.Address(100)});
  const Stack stack = UnwoundWithCode(process, At(process.Address(4)), words, kTrampoline);
  EXPECT_THAT(Addresses(stack), ElementsAre(process.Address(4), kInTrampoline));
  EXPECT_EQ(stack.end, StackEnd::kNoTable);
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

TEST(UnwinderTest, StopsAtBackwardOrEndlessStacks) {
  // The frame is found by rbx, which points backwards.
  std::string section = MadeFunction(MadeCommon(), kCode, 64, "\x0c\x03\x08");
  MadeProcess process(MadeElf(std::string(256, '\x90'), section));
  Registers registers = At(process.Address(4));
  registers.Set(kRbx, kStack - 64);
  EXPECT_EQ(Unwound(process, registers, Words({process.Address(4)})).end, StackEnd::kBroken);
  EXPECT_EQ(Unwound(process, At(process.Address(4)), Words({0})).end,
            StackEnd::kBroken);  // rbx is unknown

  MadeProcess deep = Made();
  const Words words(std::vector<std::uint64_t>(5000, deep.Address(20)));
  const Stack stack = Unwound(deep, At(deep.Address(4)), words);
  EXPECT_EQ(stack.frames.size(), kMostFrames);
  EXPECT_EQ(stack.end, StackEnd::kTooDeep);
}

TEST(UnwinderTest, ReadsAChangedMapAgain) {
  MadeProcess process = Made();
  const Words words({process.Address(20), process.Address(100)});
  EXPECT_EQ(Unwound(process, At(process.Address(4)), words).frames.size(), 3U);
  process.map.Clear();
  EXPECT_EQ(Unwound(process, At(process.Address(4)), words).frames.size(), 1U);
}

TEST(UnwinderTest, RegistersThatACallMayChangeAreNotTheCallers) {
  // The caller's frame is found by rax, which the callee may have changed.
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

TEST(TableCacheTest, ReadsAFileOnceAndCountsWhatDoesNotFit) {
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
