// The server with a catalogue whose first sync was interrupted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/tools/lsp/server_fixture.h"

namespace fieldcost::lsp {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr unsigned kFunctions = 60;

class IncompleteCatalogueTest : public LspServerTest {
 protected:
  IncompleteCatalogueTest() {
    std::vector<stats::StatRow> rows;
    for (unsigned i = 0; i < kFunctions; ++i) {
      // The later a function's name, the more it costs, so no order by total is one by name.
      rows.push_back(testing::MakeRow("libone.so.1", Name(i), 100, 1'000'000 * (i + 1)));
      lines_ += fmt::format("int x{} = {}();\n", i, Name(i));
    }
    publisher_.Publish(rows, 2, SystemClock().Now());
  }
  static std::string Name(unsigned i) { return fmt::format("f_{:02}", i); }

  // Fails unless all fragments are served.
  bool Sync() {
    catalog::SyncOptions options = publisher_.Client(home());
    options.full = true;
    return catalog::Sync(options, SystemClock()).has_value();
  }
  void SyncPartly() {
    publisher_.FailAfterFragments(3);
    EXPECT_FALSE(Sync());
    publisher_.FailAfterFragments(-1);
  }

  std::string lines_;  // line i calls Name(i)
};

TEST_F(IncompleteCatalogueTest, HoversAndStatusAreMarkedUntilItIsComplete) {
  SyncPartly();
  Begin();
  client_->Open(kUri, "c", lines_);
  unsigned found = 0;
  for (unsigned i = 0; i < kFunctions; ++i) {
    const std::string hover = HoverAt(static_cast<int>(i), 10);
    if (hover.empty()) continue;
    ++found;
    EXPECT_THAT(hover, AllOf(HasSubstr("n = 100 calls"),
                             HasSubstr("3 of 4 fragments current (incomplete: fieldcost sync)"),
                             Not(ContainsRegex("[Ss]hare|[Tt]otal|%"))));
  }
  EXPECT_GT(found, 0U);
  EXPECT_LT(found, kFunctions);
  const json::value status = client_->Result("fieldcost/status", nullptr);
  EXPECT_TRUE(status.at("incomplete").as_bool());
  EXPECT_THAT(json::value_to<std::string>(status.at("text")), EndsWith(" (incomplete)"));

  ASSERT_TRUE(Sync());
  for (unsigned i = 0; i < kFunctions; ++i) {
    EXPECT_THAT(HoverAt(static_cast<int>(i), 10),
                AllOf(HasSubstr("4 of 4 fragments current"), Not(HasSubstr("incomplete"))));
  }
  EXPECT_FALSE(client_->Result("fieldcost/status", nullptr).at("incomplete").as_bool());
}

TEST_F(IncompleteCatalogueTest, HintsAreTheCostsOfTheFunctionsThatAreThere) {
  SyncPartly();
  Begin();
  client_->Open(kUri, "c", lines_);
  const std::vector<std::string> before = Hints();
  EXPECT_GT(before.size(), 0U);
  EXPECT_LT(before.size(), kFunctions);
  for (const std::string& hint : before) EXPECT_THAT(hint, Not(ContainsRegex("[Ss]hare|%")));
  ASSERT_TRUE(Sync());
  const std::vector<std::string> after = Hints();
  EXPECT_EQ(after.size(), kFunctions);
  const std::set<std::string> all(after.begin(), after.end());
  for (const std::string& hint : before) EXPECT_TRUE(all.contains(hint)) << hint;
}

TEST_F(IncompleteCatalogueTest, CompletionIsOrderedByName) {
  SyncPartly();
  Begin(R"({"completion": {"maxItems": 100, "minPrefix": 1}})");
  client_->Open(kUri, "c", "int x = f_;\n");
  std::vector<std::string> names;
  std::vector<std::string> sort_texts;
  for (const json::value& item : Complete(0, 10)) {
    names.push_back(json::value_to<std::string>(item.at("label")));
    sort_texts.push_back(json::value_to<std::string>(item.at("sortText")));
    EXPECT_THAT(json::serialize(item), Not(ContainsRegex("[Ss]hare|[Tt]otal|%")));
  }
  EXPECT_GT(names.size(), 1U);
  EXPECT_LT(names.size(), kFunctions);
  EXPECT_TRUE(std::ranges::is_sorted(names));
  EXPECT_TRUE(std::ranges::is_sorted(sort_texts));
}

TEST_F(IncompleteCatalogueTest, WithoutAnyFragmentNothingIsShown) {
  publisher_.FailAfterFragments(0);
  EXPECT_FALSE(Sync());
  Begin();
  client_->Open(kUri, "c", lines_);
  EXPECT_EQ(HoverAt(0, 10), "");
  EXPECT_TRUE(Hints().empty());
  const json::value status = client_->Result("fieldcost/status", nullptr);
  EXPECT_TRUE(status.at("catalog").as_bool());
  EXPECT_TRUE(status.at("incomplete").as_bool());
}

}  // namespace
}  // namespace fieldcost::lsp
