#include "tools/report/lab/lab_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "tests/common/wire/lab_samples.h"
#include "tests/tools/exchange/read_pprof.h"
#include "tools/exchange/exchange.h"

namespace fieldcost::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using wire::LabTableBuilder;

std::map<std::string, std::uint64_t> Lines(const std::string& folded) {
  std::map<std::string, std::uint64_t> lines;
  for (std::size_t begin = 0; begin < folded.size();) {
    const std::size_t end = folded.find('\n', begin);
    const std::string line = folded.substr(begin, end - begin);
    const std::size_t blank = line.rfind(' ');
    lines[line.substr(0, blank)] = std::stoull(line.substr(blank + 1));
    begin = end + 1;
  }
  return lines;
}

// a: 10 calls of 1000 ns; below it b: 20 calls of 300 ns, of which 5 call c, 100 ns.
LabTableBuilder Nested() {
  LabTableBuilder builder;
  builder.Run("a", {1000, 1000}).Run("b", {300}).Run("c", {100});
  builder.Stack({"a"}, 10, 7).Stack({"a", "b"}, 20, 8).Stack({"a", "b", "c"}, 5, 9);
  return builder.Stack({"c"}, 2, 0);
}

TEST(LabExportTest, AStacksTimeIsItsCallsByTheirMeanLessTheirCallees) {
  const std::string l = "libsqlite3.so.0!";
  EXPECT_THAT(
      Lines(LabFolded(Nested().Table())),
      ElementsAre(std::pair(l + "a", 10 * 1000 - 20 * 300),
                  std::pair(l + "a;" + l + "b", 20 * 300 - 5 * 100),
                  std::pair(l + "a;" + l + "b;" + l + "c", 5 * 100), std::pair(l + "c", 2 * 100)));
}

TEST(LabExportTest, CalleesThatTakeMoreThanTheirCallerShareWhatItTakes) {
  LabTableBuilder builder;
  builder.Run("a", {1000}).Run("b", {3000}).Run("c", {1000});
  builder.Stack({"a"}, 1, 0).Stack({"a", "b"}, 1, 0).Stack({"a", "c"}, 1, 0);
  const std::string l = "libsqlite3.so.0!";
  EXPECT_THAT(Lines(LabFolded(builder.Table())),
              ElementsAre(std::pair(l + "a;" + l + "b", 750), std::pair(l + "a;" + l + "c", 250)));
}

// A recursion's time is its mean as a whole; untimed calls cost as much as their callees.
TEST(LabExportTest, RecursionsAndWhatWasNotTimedCountOnce) {
  LabTableBuilder builder;
  builder.Run("r", {1000}).Run("leaf", {10});
  builder.Stack({"r"}, 2, 0).Stack({"r", "r"}, 6, 0).Stack({"r", "r", "leaf"}, 4, 0);
  builder.Stack({"untimed"}, 1, 0).Stack({"untimed", "leaf"}, 3, 0);
  const std::string l = "libsqlite3.so.0!";
  EXPECT_THAT(Lines(LabFolded(builder.Table())),
              ElementsAre(std::pair(l + "r", 2 * 1000 - 4 * 10),
                          std::pair(l + "r;" + l + "r;" + l + "leaf", 4 * 10),
                          std::pair(l + "untimed;" + l + "leaf", 3 * 10)));
}

TEST(LabExportTest, OfManyTablesNoTimeIsNegativeOrCountsTwice) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const wire::LabTable table = wire::RandomLabTable(seed);
    const std::vector<double> self = EstimatedSelfTimes(table);
    double whole = 0;
    std::vector<double> below(table.stacks.size());
    for (std::size_t i = table.stacks.size(); i-- > 0;) {
      EXPECT_GE(self[i], 0);
      below[i] += self[i];
      if (table.stacks[i].parent == wire::LabStack::kRoot) whole += below[i];
      if (table.stacks[i].parent != wire::LabStack::kRoot)
        below[table.stacks[i].parent] += below[i];
    }
    EXPECT_NEAR(whole, std::accumulate(self.begin(), self.end(), 0.0), 1e-6 * (1 + whole));
  }
}

TEST(LabExportTest, OurOwnReaderTakesFoldedStacks) {
  LabTableBuilder builder = Nested();
  builder.Run("_ZN4Json6Reader5parseEv", {50}).Stack({"_ZN4Json6Reader5parseEv"}, 1, 0);
  const std::string folded = LabFolded(builder.Table());
  EXPECT_THAT(folded, HasSubstr("libsqlite3.so.0!Json::Reader::parse() 50\n"));
  const auto read = exchange::Import(folded);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->format, exchange::Format::kFolded);
  EXPECT_EQ(read->tree.values[0].inclusive[0].sum, 10U * 1000 + 2 * 100 + 50);
}

TEST(LabExportTest, PprofHasExactCallsAndBytesAndSaysThatTimeIsEstimated) {
  const wire::LabTable table = Nested().Table();
  const exchange::PprofContent content = LabPprofContent(table);
  EXPECT_EQ(content.types[content.default_type], (exchange::PprofValueType{"time", "nanoseconds"}));
  EXPECT_THAT(content.samples, ElementsAre(exchange::PprofSample{{0}, {10, 7, 4000}},
                                           exchange::PprofSample{{0, 1}, {20, 8, 5500}},
                                           exchange::PprofSample{{0, 1, 2}, {5, 9, 500}},
                                           exchange::PprofSample{{2}, {2, 0, 200}}));
  EXPECT_THAT(content.comments, ElementsAre(HasSubstr("estimated"), "sqlite3 :memory:"));
  const std::string bytes = LabPprof(table).value();
  std::uint64_t sum = 0;
  const auto unit = exchange::ReadPprof(bytes, [&](auto, std::uint64_t value) {
    sum += value;
    return Status();
  });
  ASSERT_TRUE(unit.has_value()) << unit.error().message;
  EXPECT_EQ(unit->untrusted_unit, "nanoseconds");
  EXPECT_EQ(sum, 10U * 1000 + 2 * 100);
}

}  // namespace
}  // namespace fieldcost::report
