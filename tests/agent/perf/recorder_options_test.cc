#include "agent/perf/recorder_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fieldcost::perf {
namespace {

using ::testing::ElementsAre;

struct Given {
  std::string output;
  std::uint32_t runs = 1;
  bool quiet = false;
};

std::optional<std::vector<std::string>> Take(std::vector<std::string> words, Given& given) {
  words.insert(words.begin(), "recorder");
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return TakeOptions(static_cast<int>(words.size()), pointers.data(),
                     {TextOption("output", given.output), NumberOption("runs", given.runs, 20),
                      FlagOption("quiet", given.quiet)});
}

TEST(RecorderOptionsTest, OptionsAreTakenAndTheRestIsTheCommand) {
  Given given;
  const auto rest =
      Take({"--output", "a b", "--quiet", "--runs=20", "--", "ls", "--runs", "3"}, given);
  ASSERT_TRUE(rest.has_value());
  EXPECT_THAT(*rest, ElementsAre("ls", "--runs", "3"));
  EXPECT_EQ(given.output, "a b");
  EXPECT_EQ(given.runs, 20U);
  EXPECT_TRUE(given.quiet);
}

TEST(RecorderOptionsTest, OptionsOfTheCommandAreItsOwnAlsoWithoutAMark) {
  Given given;
  EXPECT_THAT(Take({"ls", "--quiet"}, given).value(), ElementsAre("ls", "--quiet"));
  EXPECT_FALSE(given.quiet);
}

TEST(RecorderOptionsTest, RefusesUnknownOptionsAndInvalidValues) {
  const std::vector<std::vector<std::string>> table = {
      {"--output"},     {"--nonsense"},   {"--quiet=1"},  {"--runs", "0"},
      {"--runs", "21"}, {"--runs", "-1"}, {"--runs", ""}, {"--runs", "4294967297"}};
  for (const auto& words : table) {
    Given given;
    EXPECT_FALSE(Take(words, given).has_value()) << ::testing::PrintToString(words);
  }
}

}  // namespace
}  // namespace fieldcost::perf
