#include "tools/report/lab/lab_page.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/draw/lab_svg.h"
#include "tests/common/wire/lab_samples.h"
#include "tests/tools/report/page_check.h"

namespace fieldcost::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

LabPageContent Content() {
  LabPageContent content = LabPageContentOf(wire::ShapesLabTable());
  std::vector<stats::ApiKey> timed;
  for (const analysis::LabCost& cost : content.costs) timed.push_back(cost.summary.api);
  content.groups = {{timed[0], timed[2], timed[3]}, {timed[1]}};
  return content;
}

TEST(LabPageTest, ThePageIsTheGoldenOne) {
  const std::string page = LabPage(Content());
  EXPECT_EQ(page, Golden("lab_page.golden.html", page));
  EXPECT_THAT(PageProblems(page), IsEmpty());
}

TEST(LabPageTest, EachApiHasItsShapeWithTheEvidence) {
  const std::string page = LabPage(Content());
  EXPECT_THAT(page,
              AllOf(HasSubstr("with a start-up cost 1, growing with an argument 1, bimodal 1, "
                              "heavy-tailed 1."),
                    HasSubstr("<strong>grows with argument 3, ~n^0.9</strong>"),
                    HasSubstr("fit: R² 1.00"), HasSubstr("<polyline "),
                    HasSubstr(">argument 3</text>"), HasSubstr(">mean cost</text>"),
                    HasSubstr("Histogram of libsqlite3.so.0!Json::Reader::parse()")));
  EXPECT_THAT(page, AllOf(HasSubstr("Group 1: 3 functions"), HasSubstr("Group 2: 1 function<"),
                          HasSubstr("own above grows"), HasSubstr("never_timed")));
  EXPECT_THAT(LabPage(LabPageContentOf(wire::ShapesLabTable())), Not(HasSubstr("Groups</h2>")));
}

TEST(LabPageTest, TheLeadCountsOnlyShapesThatOccur) {
  LabPageContent content = Content();
  std::erase_if(content.costs, [](const analysis::LabCost& cost) {
    return cost.shape.start_up || cost.shape.shape == stats::Shape::kHeavyTailed;
  });
  const std::string page = LabPage(content);
  EXPECT_THAT(page, HasSubstr("called: growing with an argument 1, bimodal 1.</p>"));
  std::erase_if(content.costs, [](const analysis::LabCost& cost) {
    return cost.shape.shape == stats::Shape::kGrows || cost.shape.shape == stats::Shape::kBimodal;
  });
  EXPECT_THAT(LabPage(content), HasSubstr("functions were called.</p>"));
}

TEST(LabPageTest, FunctionsThatWaitAreNamedBelowUnlessWanted) {
  const std::string line = "waiting: 1 function set apart, since waiting is not a cost: poll.";
  EXPECT_THAT(LabPage(Content()), AllOf(HasSubstr(line), Not(HasSubstr("libc.so.6"))));
  const std::string all = LabPage(LabPageContentOf(wire::ShapesLabTable(), true));
  EXPECT_THAT(all, AllOf(HasSubstr("libc.so.6"), Not(HasSubstr(line))));
}

TEST(LabPageTest, WithoutCallsThereIsAPageToo) {
  wire::LabTableBuilder builder;
  const std::string page = LabPage(LabPageContentOf(builder.Table()));
  EXPECT_THAT(page, AllOf(HasSubstr("Nothing was called."), Not(HasSubstr("On one stack"))));
  EXPECT_THAT(PageProblems(page), IsEmpty());
}

TEST(LabPageTest, ManyPairsAreThoseOfTheMostPaired) {
  wire::LabTableBuilder builder;
  for (int i = 0; i < 40; ++i) {
    builder.Stack({"hub", fmt::format("leaf{:02}", i)}, 1, 0);
    builder.Stack({"hub", "second", fmt::format("leaf{:02}", i % 30)}, 1, 0);
  }
  const std::string page = LabPage(LabPageContentOf(builder.Table()));
  EXPECT_THAT(page, AllOf(HasSubstr("the 24 functions with the most"), HasSubstr(">hub 1</text>"),
                          HasSubstr(">second 2</text>"), HasSubstr("leaf21 24</text>"),
                          Not(HasSubstr("leaf22 25</text>"))));
  EXPECT_THAT(PageProblems(page), IsEmpty());
}

TEST(LabPageTest, HostileNamesStayText) {
  LabPageContent content = Content();
  for (analysis::LabCost& cost : content.costs) cost.summary.api.symbol = kEvil;
  for (auto& [outer, inner] : content.pairs) outer.symbol = kEvil;
  content.parts[0].name = content.parts[0].environment = kEvil;
  content.groups[0][0].symbol = kEvil;
  const std::string page = LabPage(content);
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<img")), Not(HasSubstr("\x1b")), HasSubstr("\\x1b")));
  EXPECT_THAT(PageProblems(page), IsEmpty());
}

TEST(GrowthSvgTest, FlatOrShortGrowthIsDrawnToo) {
  EXPECT_EQ(draw::GrowthSvg({}, "f"), "");
  const stats::Growth one{.argument = 1, .points = {{.slot = 0, .calls = 3, .octaves = 5}}};
  EXPECT_THAT(draw::GrowthSvg(one, "f"), AllOf(HasSubstr("<circle"), Not(HasSubstr("nan"))));
  EXPECT_EQ(draw::PairsSvg({}, {}), "");
}

}  // namespace
}  // namespace fieldcost::report
