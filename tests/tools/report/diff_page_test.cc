#include "tools/report/diff_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/analysis/version_fleet.h"
#include "tests/tools/report/page_check.h"
#include "tools/report/version_diff.h"

namespace fieldcost::report {
namespace {

using analysis::VersionFleet;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const Provenance kProvenance{
    .source = "catalogue", .snapshot = 7, .published = "2026-11-21 03:10 UTC", .synthetic = true};

// Adds an API in two versions; `before` and `after` are its costs in octaves.
void AddApi(VersionFleet& fleet, const std::string& symbol, double before, double after,
            analysis::LibraryComparison& comparison) {
  comparison.Add(std::vector<stats::StatRow>{
      fleet.Row({.symbol = symbol, .version = "1.0", .octaves = before, .machines = 40}),
      fleet.Row({.symbol = symbol, .version = "2.0", .octaves = after, .machines = 40})});
}

analysis::LibraryChange Change(const std::vector<std::string>& others = {}) {
  VersionFleet fleet(90);
  analysis::LibraryComparison comparison("libz.so.1", "1.0", "2.0");
  AddApi(fleet, "z_flate", 14, 15, comparison);
  AddApi(fleet, "z_check", 10, 9, comparison);
  AddApi(fleet, "_ZN4Json6Reader5parseERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEb", 12,
         12, comparison);
  for (const std::string& symbol : others) AddApi(fleet, symbol, 12, 14, comparison);
  return comparison.Finish();
}

TEST(DiffPageTest, ThePageIsTheGoldenOne) {
  const std::string page = DiffPage(Change(), true, kProvenance);
  EXPECT_EQ(page, Golden("diff_page.golden.html", page));
  EXPECT_THAT(PageProblems(page), IsEmpty());
}

TEST(DiffPageTest, ItBeginsWithASentenceAndShowsWhatHasChanged) {
  const std::string sentence = DiffSentence(Change(), {.utf8 = true});
  EXPECT_THAT(sentence,
              ::testing::MatchesRegex("1 of 3 APIs is slower, 1 is faster; most: z_flate, "
                                      "(1\\.[89]|2\\.[0-2]) × slower"));
  const std::string page = DiffPage(Change(), false, {});
  EXPECT_THAT(page, HasSubstr("<p class=\"lead\">" + sentence + ".</p>"));
  EXPECT_THAT(DiffText(Change(), false, {.utf8 = true}),
              ::testing::StartsWith("libz.so.1: 1.0 → 2.0\n" + sentence + ".\n"));
  EXPECT_THAT(page, AllOf(HasSubstr("libz.so.1: 1.0 → 2.0</h1>"), HasSubstr("× faster"),
                          Not(HasSubstr("Json::Reader")), Not(HasSubstr("SYNTHETIC"))));
  EXPECT_THAT(DiffPage(Change(), true, {}), HasSubstr("Json::Reader::parse("));
  EXPECT_GT(page.find(">Delta</th>"), page.find("<details>"));
}

TEST(DiffPageTest, TheSentenceDescribesTheComparedMetric) {
  analysis::LibraryChange change = Change();
  for (analysis::ApiChange& api : change.apis) {
    std::erase_if(api.metrics,
                  [](const auto& one) { return one.metric != stats::Metric::kWallTime; });
    for (analysis::MetricChange& one : api.metrics) one.metric = stats::Metric::kAllocInclusive;
  }
  EXPECT_THAT(DiffSentence(change, {}),
              ::testing::MatchesRegex("1 of 3 APIs takes more, 1 takes less; most: z_flate, "
                                      "(1\\.[89]|2\\.[0-2]) x more"));
}

TEST(DiffPageTest, WithoutChangesThereIsAPageToo) {
  const std::string page = DiffPage({.soname = "a", .before = "1", .after = "2"}, false, {});
  EXPECT_THAT(page,
              AllOf(HasSubstr("0 of 0 APIs are slower"), HasSubstr("No significant changes")));
  EXPECT_THAT(PageProblems(page), IsEmpty());
}

TEST(DiffPageTest, HostileNamesStayText) {
  analysis::LibraryChange change = Change({kEvil});
  change.soname = change.before = change.after = kEvil;
  change.added = change.removed = {kEvil};
  for (analysis::ApiChange& api : change.apis) api.symbol_version = kEvil;
  const std::string page = DiffPage(change, true, {});
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<img")), Not(HasSubstr("\x1b")), HasSubstr("\\x1b")));
  EXPECT_THAT(PageProblems(page), IsEmpty());
  EXPECT_THAT(DiffText(change, true, {}), Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace fieldcost::report
