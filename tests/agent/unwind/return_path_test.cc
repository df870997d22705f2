#include "agent/unwind/return_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>

namespace fieldcost::unwind {
namespace {

using namespace std::string_view_literals;  // NOLINT: bytes with zeros
using Fate = ReturnPath::Fate;

constexpr std::uint64_t kAddress = 0x1000;

Code CodeOf(std::string_view bytes) {
  return {.address = kAddress, .bytes = {bytes.begin(), bytes.end()}};
}

std::optional<ReturnPath> PathIn(std::string_view bytes, std::uint64_t offset = 0,
                                 bool after_call = false) {
  return FindReturnPath(CodeOf(bytes), kAddress + offset, after_call);
}

void ExpectReturnAt(const std::optional<ReturnPath>& path, StackPlace place) {
  ASSERT_TRUE(path.has_value());
  EXPECT_EQ(path->return_address.base, place.base);
  EXPECT_EQ(path->return_address.offset, place.offset);
}

// In the order of kPreserved: rbx, rbp, r12, ...
const ReturnPath::Preserved& Rbx(const std::optional<ReturnPath>& path) {
  return path->preserved[0];
}
const ReturnPath::Preserved& Rbp(const std::optional<ReturnPath>& path) {
  return path->preserved[1];
}

TEST(ReturnPathTest, AddsUpWhatPopsAndAdditionsTakeOffTheStack) {
  // add $0x28,%rsp; pop %rbx; pop %r12; ret
  const auto path = PathIn("\x48\x83\xc4\x28\x5b\x41\x5c\xc3"sv);
  ExpectReturnAt(path, {.base = kRsp, .offset = 56});
  EXPECT_EQ(Rbx(path).fate, Fate::kRestored);
  EXPECT_EQ(Rbx(path).place, (StackPlace{.base = kRsp, .offset = 40}));
  EXPECT_EQ(path->preserved[2].place, (StackPlace{.base = kRsp, .offset = 48}));
  EXPECT_EQ(Rbp(path).fate, Fate::kKept);
}

TEST(ReturnPathTest, RestoresWhatTheFunctionIsStillToPush) {
  // push %rbp; mov %rsp,%rbp; push %rbx; xor %ebx,%ebx; mov -8(%rbp),%rbx; leave; ret
  constexpr auto kBytes = "\x55\x48\x89\xe5\x53\x31\xdb\x48\x8b\x5d\xf8\xc9\xc3"sv;
  const auto at_start = PathIn(kBytes);
  ExpectReturnAt(at_start, {.base = kRsp, .offset = 0});
  EXPECT_EQ(Rbp(at_start).fate, Fate::kKept);
  EXPECT_EQ(Rbx(at_start).fate, Fate::kKept);
  const auto inside = PathIn(kBytes, 5);
  ExpectReturnAt(inside, {.base = kRbp, .offset = 8});
  EXPECT_EQ(Rbp(inside).place, (StackPlace{.base = kRbp, .offset = 0}));
  EXPECT_EQ(Rbx(inside).place, (StackPlace{.base = kRbp, .offset = -8}));
}

TEST(ReturnPathTest, TakesTheBranchThatReturns) {
  // je +3; pop %rax; ret; pad; hlt at the target. And the reverse.
  ExpectReturnAt(PathIn("\x74\x02\x58\xc3\xf4"sv), {.base = kRsp, .offset = 8});
  ExpectReturnAt(PathIn("\x74\x01\xf4\x58\x58\xc3"sv), {.base = kRsp, .offset = 16});
  // jmp over a hlt
  ExpectReturnAt(PathIn("\xeb\x01\xf4\xc3"sv), {.base = kRsp, .offset = 0});
}

TEST(ReturnPathTest, ACallInGoMayReturnToPadding) {
  // call +0; nopl (%rax); pop %rax; ret
  Code code = CodeOf("\xe8\0\0\0\0\x0f\x1f\0\x58\xc3"sv);
  EXPECT_FALSE(FindReturnPath(code, kAddress, false));
  code.is_go = true;
  ExpectReturnAt(FindReturnPath(code, kAddress, false), {.base = kRsp, .offset = 8});
  ExpectReturnAt(FindReturnPath(code, kAddress + 5, true), {.base = kRsp, .offset = 8});
}

TEST(ReturnPathTest, AFunctionOfGoThatBeginsAgainIsNotFollowed) {
  // 0: sub $16,%rsp; 4: je 15; 6: call +0; 11: je 15; 13: jmp 0; 15: add $16,%rsp; ret
  Code code = CodeOf("\x48\x83\xec\x10\x74\x09\xe8\0\0\0\0\x74\x02\xeb\xf1\x48\x83\xc4\x10\xc3"sv);
  code.is_go = true;
  ExpectReturnAt(FindReturnPath(code, kAddress, false), {.base = kRsp, .offset = 0});
  for (const std::uint64_t inside : {4, 6, 11, 15}) {
    ExpectReturnAt(FindReturnPath(code, kAddress + inside, false), {.base = kRsp, .offset = 16});
  }
  ExpectReturnAt(FindReturnPath(code, kAddress + 11, true), {.base = kRsp, .offset = 16});
}

TEST(ReturnPathTest, ACallFollowedByPaddingDoesNotReturn) {
  // call +0; nopl (%rax); pop %rax; ret
  constexpr auto kBytes = "\xe8\x00\x00\x00\x00\x0f\x1f\x00\x58\xc3"sv;
  EXPECT_FALSE(PathIn(kBytes).has_value());
  EXPECT_FALSE(PathIn(kBytes, 5, true).has_value());
  ExpectReturnAt(PathIn(kBytes, 5, false), {.base = kRsp, .offset = 8});
}

TEST(ReturnPathTest, LastTriesAJumpThroughARegisterAsACallInsteadOfAReturn) {
  // pop %rbp; jmp *%rax
  const auto path = PathIn("\x5d\xff\xe0"sv);
  ExpectReturnAt(path, {.base = kRsp, .offset = 8});
  EXPECT_EQ(Rbp(path).fate, Fate::kRestored);
  // je to pop %rax; ret; else jmp *%rax
  ExpectReturnAt(PathIn("\x74\x02\xff\xe0\x58\xc3"sv), {.base = kRsp, .offset = 8});
}

TEST(ReturnPathTest, LosesWhatItCannotFollow) {
  // mov %rax,%rsp; ret. and $-16,%rsp; ret. enter. An endless loop. The end of the code. No
  // instruction.
  for (const auto bytes : {"\x48\x89\xc4\xc3"sv, "\x48\x83\xe4\xf0\xc3"sv, "\xc8\x10\x00\x00\xc3"sv,
                           "\xeb\xfe"sv, "\x90\x90"sv, "\x06\xc3"sv, ""sv}) {
    EXPECT_FALSE(PathIn(bytes).has_value());
  }
  // xor %ebx,%ebx; ret: rbx no longer has the caller's value.
  EXPECT_EQ(Rbx(PathIn("\x31\xdb\xc3"sv)).fate, Fate::kLost);
  // push %rax; pop %rbx; ret
  EXPECT_EQ(Rbx(PathIn("\x50\x5b\xc3"sv)).fate, Fate::kLost);
}

TEST(ReturnPathTest, LimitsTheNumberOfInstructions) {
  std::string bytes(kMostInstructions, '\x90');
  bytes += '\xc3';
  EXPECT_FALSE(PathIn(bytes).has_value());
  EXPECT_TRUE(PathIn(bytes, 1).has_value());
}

TEST(ReturnPathTest, KnowsWhereACallEnds) {
  // call +0; call *%rax; call *8(%rax); call *(%rip); nop
  const Code code =
      CodeOf("\xe8\x00\x00\x00\x00\xff\xd0\xff\x50\x08\xff\x15\x00\x00\x00\x00\x90"sv);
  for (const std::uint64_t offset : {5, 7, 10, 16}) {
    EXPECT_TRUE(IsAfterCall(code, kAddress + offset)) << offset;
  }
  for (const std::uint64_t offset : {0, 1, 17, 18}) {
    EXPECT_FALSE(IsAfterCall(code, kAddress + offset)) << offset;
  }
  EXPECT_FALSE(IsAfterCall(code, 0));
}

TEST(ReturnPathTest, FindsEachPathOnce) {
  FollowedCode code(CodeOf("\x58\xc3"sv));
  const auto* const first = &code.PathFrom(kAddress, false);
  EXPECT_EQ(first, &code.PathFrom(kAddress, false));
  ExpectReturnAt(*first, {.base = kRsp, .offset = 8});
  EXPECT_FALSE(code.PathFrom(kAddress + 7, false).has_value());
}

}  // namespace
}  // namespace fieldcost::unwind
