#include "tests/fuzz/mutator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace fieldcost::fuzz {
namespace {

TEST(MutatorTest, AnInputDependsOnTheSeedAndItsNumberOnly) {
  const Mutator mutator({"first entry", "second entry 12"}, 7);
  const Mutator same({"first entry", "second entry 12"}, 7);
  const Mutator other({"first entry", "second entry 12"}, 8);
  std::size_t differences = 0;
  for (std::uint64_t number = 100; number-- > 0;) {
    EXPECT_EQ(mutator.Input(number), same.Input(number));
    if (mutator.Input(number) != other.Input(number)) ++differences;
  }
  EXPECT_GT(differences, 90u);
}

// The standard prescribes the generator, so a number found on another machine can be repeated here.
TEST(MutatorTest, InputsAreTheSameOnEveryMachine) {
  const Mutator mutator({"0123456789"}, 1);
  EXPECT_EQ(mutator.Input(0), Mutator({"0123456789"}, 1).Input(0));
  std::seed_seq sequence{1U, 0U, 0U, 0U};
  std::mt19937_64 random(sequence);
  EXPECT_EQ(random(), 7'712'288'819'789'024'404u);
}

TEST(MutatorTest, InputsAreBoundedAndVaried) {
  const Mutator mutator({std::string(kMaxInputBytes, 'a'), "", "12"}, 1);
  std::set<std::string> inputs;
  for (std::uint64_t number = 0; number < 2000; ++number) {
    const std::string input = mutator.Input(number);
    EXPECT_LE(input.size(), kMaxInputBytes);
    inputs.insert(input);
  }
  EXPECT_GT(inputs.size(), 1000u);
}

class ChangeTest : public ::testing::Test {
 protected:
  // Returns the results of applying the change to a text many times.
  std::set<std::string> Tries(const std::string& text, void (Change::*change)()) {
    std::set<std::string> made;
    for (int i = 0; i < 10'000; ++i) {
      std::string input = text;
      Change changing(input, random_);
      (changing.*change)();
      made.insert(input);
    }
    return made;
  }
  std::mt19937_64 random_{1};
};

TEST_F(ChangeTest, EachBitIsFlipped) {
  const auto made = Tries(std::string(2, '\0'), &Change::FlipBit);
  EXPECT_EQ(made.size(), 16u);
  EXPECT_TRUE(made.contains(std::string("\0\x80", 2)));
}

TEST_F(ChangeTest, IntegersOfBothOrdersAreAtTheirBounds) {
  const auto made = Tries(std::string(4, 'x'), &Change::SetInteger);
  for (const char* const bytes : {"\xff\xff\xff\xff", "\x80\0\0\0", "\0\0\0\x80", "\xff\x7fxx"}) {
    EXPECT_TRUE(made.contains(std::string(bytes, 4))) << bytes;
  }
}

TEST_F(ChangeTest, NumbersOfTextBecomeBoundaryNumbers) {
  const auto made = Tries("a=12;", &Change::ReplaceDigits);
  for (const char* const text : {"a=0;", "a=18446744073709551615;", "a=4294967296;", "a=-0;"}) {
    EXPECT_TRUE(made.contains(text)) << text;
  }
}

TEST_F(ChangeTest, EndsAreLostAndPiecesRemovedRepeatedAndMoved) {
  EXPECT_EQ(Tries("abc", &Change::Truncate), (std::set<std::string>{"", "a", "ab"}));
  EXPECT_TRUE(Tries("abc", &Change::RemovePiece).contains("ac"));
  EXPECT_TRUE(Tries("abc", &Change::RepeatPiece).contains("abbc"));
  EXPECT_TRUE(Tries("abc", &Change::MovePiece).contains("bca"));
  for (const std::string& input : Tries("abc", &Change::InsertBytes)) {
    EXPECT_GT(input.size(), 3u);
  }
}

TEST_F(ChangeTest, PiecesOfAnotherEntryAreTakenAndBothSpliced) {
  std::set<std::string> taken;
  std::set<std::string> spliced;
  for (int i = 0; i < 2000; ++i) {
    std::string input = "abc";
    Change(input, random_).TakePieceOf("XY");
    taken.insert(input);
    input = "abc";
    Change(input, random_).Splice("XY");
    spliced.insert(input);
  }
  for (const char* const text : {"aXYbc", "XYc", "XYabc"}) EXPECT_TRUE(taken.contains(text));
  for (const char* const text : {"abXY", "Y", "abc", "XY"}) EXPECT_TRUE(spliced.contains(text));
}

TEST_F(ChangeTest, EmptyInputStaysEmpty) {
  for (const auto change :
       {&Change::FlipBit, &Change::SetByte, &Change::SetInteger, &Change::ReplaceDigits,
        &Change::Truncate, &Change::RemovePiece, &Change::RepeatPiece, &Change::MovePiece}) {
    EXPECT_EQ(Tries("", change), std::set<std::string>{""});
  }
}

}  // namespace
}  // namespace fieldcost::fuzz
