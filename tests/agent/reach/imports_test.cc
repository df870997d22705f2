#include "agent/reach/imports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "common/base/file.h"
#include "common/shm/x86_64/slot_uses.h"
#include "tests/support/binary_dir.h"

namespace fieldcost::reach {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kVictims = FIELDCOST_BINARY_DIR "/victims/";

// The uses of functions of the victims' library: P has a PLT, c is called, t has its address taken.
std::map<std::string, std::string> Uses(const std::string& program) {
  std::map<std::string, std::string> uses;
  for (const ImportedFunction& function : ImportsOfProgram(kVictims + program)) {
    if (!function.untrusted_symbol.starts_with("no_plt_")) continue;
    uses[function.untrusted_symbol.substr(7)] = std::string(function.has_plt ? "P" : "") +
                                                (function.is_called_directly ? "c" : "") +
                                                (function.is_address_taken ? "t" : "");
  }
  return uses;
}

TEST(ImportsTest, DistinguishesCallsFromTakenAddresses) {
  const std::map<std::string, std::string> expected = {
      {"called", "c"},  {"jumped_to", "c"}, {"compared", "ct"},      {"stored", "ct"},
      {"passed", "ct"}, {"in_data", "ct"},  {"only_pointed_to", "t"}};
  for (const char* const build : {"no_plt", "no_plt_now", "no_plt_stripped"}) {
    EXPECT_EQ(Uses(build), expected) << build;
  }
}

TEST(ImportsTest, RecognisesProgramsWithAPlt) {
  const auto uses = Uses("with_plt");
  EXPECT_EQ(uses.at("called"), "P");
  EXPECT_EQ(uses.at("jumped_to"), "P");
}

TEST(ImportsTest, GivesTheReasonOnlyWhereItApplies) {
  const auto imports = ImportsOfProgram(kVictims + "no_plt");
  EXPECT_THAT(WhyNotMeasured("./app", imports, "libno_plt.so.1!no_plt_compared"),
              AllOf(HasSubstr("./app loads the address"), HasSubstr("-fno-plt"),
                    HasSubstr("selection.data_slots"), HasSubstr("--function-pointers")));
  EXPECT_THAT(WhyNotMeasured("./app", imports, "no_plt_stored,no_plt_passed"),
              HasSubstr("./app loads the address"));
  for (const char* const globs : {"*!no_plt_called", "*!no_plt_*", "*!no_such_function", "*!*"}) {
    EXPECT_THAT(WhyNotMeasured("./app", imports, globs), IsEmpty()) << globs;
  }
}

TEST(ImportsTest, FindsNothingInFilesThatAreNotPrograms) {
  EXPECT_THAT(ImportsOfProgram("/no/such/program"), IsEmpty());
  EXPECT_THAT(ReadImports(ReaderOf(std::string_view("#!/bin/sh\n"))), IsEmpty());
}

TEST(ImportsTest, NoDamageToAFileDoesHarm) {
  const std::string good = ReadFile(kVictims + "no_plt_stripped", 1 << 20).value();
  for (std::size_t size = 0; size < good.size(); size += 97) {
    ReadImports(ReaderOf(std::string_view(good).substr(0, size)));
  }
  std::string bytes = good;
  // Headers, symbols, relocations and the dynamic section: changed numbers refer to other places.
  for (std::size_t at = 0; at < good.size(); at += at < 4096 ? 1 : 31) {
    for (const char value : {'\0', '\x7f', '\xff'}) {
      bytes[at] = value;
      EXPECT_LE(ReadImports(ReaderOf(std::string_view(bytes))).size(), kMaxImports);
    }
    bytes[at] = good[at];
  }
}

// One slot, and an operand at code[2] that refers to it if `more` bytes follow the displacement.
class SlotUsesTest : public ::testing::Test {
 protected:
  std::uint8_t Use(std::uint8_t opcode, std::uint8_t modrm, std::uint32_t more,
                   std::uint64_t slot = 0x2000) {
    constexpr std::uint64_t kCode = 0x1000;
    std::uint8_t code[16] = {opcode, modrm};
    const auto displacement = static_cast<std::int32_t>(slot - (kCode + 6 + more));
    std::memcpy(code + 2, &displacement, sizeof displacement);
    return Search(code, kCode);
  }
  std::uint8_t Search(const std::uint8_t (&code)[16], std::uint64_t address,
                      bool is_fixed = false) {
    std::uint8_t uses[2] = {shm::kSlotAsked, 0};
    shm::FindSlotUses(code, shm::kBytesBeforeDisplacement, 12, address,
                      {.first = 0x2000, .words = 2, .is_fixed = is_fixed, .uses = uses});
    EXPECT_EQ(uses[1], 0);  // was not searched
    return static_cast<std::uint8_t>(uses[0] & ~shm::kSlotAsked);
  }
};

TEST_F(SlotUsesTest, DistinguishesCallsAndJumpsFromEverythingElse) {
  EXPECT_EQ(Use(0xff, 0x15, 0), shm::kSlotCalled);
  EXPECT_EQ(Use(0xff, 0x25, 0), shm::kSlotCalled);
  EXPECT_EQ(Use(0xff, 0x35, 0), shm::kSlotTaken);  // push
  EXPECT_EQ(Use(0x8b, 0x05, 0), shm::kSlotTaken);  // mov
  EXPECT_EQ(Use(0x8d, 0x15, 0), shm::kSlotTaken);  // lea
  EXPECT_EQ(Use(0x3b, 0x25, 0), shm::kSlotTaken);  // cmp
}

TEST_F(SlotUsesTest, ImmediateValuesMayFollow) {
  for (const std::uint32_t more : {1U, 2U, 4U}) {
    EXPECT_EQ(Use(0x83, 0x3d, more), shm::kSlotTaken) << more;
    EXPECT_EQ(Use(0xff, 0x15, more), shm::kSlotTaken) << more;
  }
  EXPECT_EQ(Use(0x83, 0x3d, 3), 0);
}

TEST_F(SlotUsesTest, IgnoresOtherAddresses) {
  for (const std::uint64_t slot : {0x1ff8, 0x1ff9, 0x2001, 0x2004, 0x2008, 0x2010}) {
    EXPECT_EQ(Use(0xff, 0x15, 0, slot), 0) << slot;
  }
}

TEST_F(SlotUsesTest, AbsoluteOperandsCountInProgramsAtAFixedAddress) {
  const std::uint8_t code[16] = {0x8b, 0x04, 0x25, 0x00, 0x20};  // mov 0x2000, %eax
  EXPECT_EQ(Search(code, 0x100000, true), shm::kSlotTaken);
  EXPECT_EQ(Search(code, 0x100000, false), 0);
}

}  // namespace
}  // namespace fieldcost::reach
