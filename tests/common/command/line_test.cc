#include "common/command/line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fieldcost::command {
namespace {

using ::testing::ElementsAre;

const Command& Sample() {
  static const Command program{
      .name = "sample",
      .commands = {{.name = "top",
                    .options = {{.names = "--word,-w", .value = "WORD"},
                                {.names = "--quiet,-q"},
                                {.names = "--all,-a"},
                                {.names = "file", .value = "FILE"},
                                {.names = "more", .value = "MORE", .repeats = true}}}}};
  return program;
}

const Option& Named(std::string_view name) {
  for (const Option& option : Sample().commands[0].options) {
    if (option.first_name() == name) return option;
  }
  ADD_FAILURE() << name;
  return Sample().commands[0].options[0];
}

Line Read(std::vector<std::string> words) {
  words.insert(words.begin(), "top");
  return ReadLine(Sample(), words);
}

TEST(CommandLineTest, FlagsMayBeJoinedAndTheLastMayHaveAValue) {
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"-qaw", "x"}, {"-qawx"}, {"-aq", "--word=x"}, {"-w", "x", "-a", "--quiet"}}) {
    Line line = Read(words);
    EXPECT_TRUE(line.given.contains(&Named("--quiet")));
    EXPECT_TRUE(line.given.contains(&Named("--all")));
    EXPECT_THAT(line.given[&Named("--word")], ElementsAre("x"));
    EXPECT_FALSE(line.unknown.has_value());
  }
}

TEST(CommandLineTest, AnUnknownLetterAmongJoinedFlagsIsReported) {
  for (const std::string word : {"-qz", "-z", "-q=yes"}) {
    const Line line = Read({word});
    ASSERT_TRUE(line.unknown.has_value()) << word;
    EXPECT_EQ(line.unknown->word, word);
  }
}

TEST(CommandLineTest, DashesNumbersAndListsAreOperands) {
  for (const std::string word : {"-", "-1", "-5m", "[a,b]", "++", ""}) {
    Line line = Read({word, "next", "last"});
    EXPECT_THAT(line.given[&Named("file")], ElementsAre(word));
    EXPECT_THAT(line.given[&Named("more")], ElementsAre("next", "last"));
  }
}

TEST(CommandLineTest, OptionsWithMissingOrSurplusValuesAreReported) {
  EXPECT_EQ(Read({"--word"}).status.error().message, "--word needs a value");
  EXPECT_EQ(Read({"-qw"}).status.error().message, "--word needs a value");
  EXPECT_EQ(Read({"--quiet="}).status.error().message, "--quiet takes no value");
  EXPECT_EQ(Read({"--quiet=1", "-w"}).status.error().message, "--quiet takes no value");
  EXPECT_TRUE(Read({"--word", "--quiet"}).status.has_value());
}

}  // namespace
}  // namespace fieldcost::command
