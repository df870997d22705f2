#include "tools/report/cards/cost_card.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include <tuple>

#include "common/base/file.h"
#include "tests/common/stats/published_row.h"
#include "tests/support/process.h"
#include "tools/analysis/summary.h"
#include "tools/report/cards/card_index.h"
#include "tools/report/cards/card_svg.h"
#include "tools/report/cards/card_text.h"
#include "tools/report/link_template.h"

namespace fieldcost::report {
namespace {

using stats::Metric;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::size_t kMaxGoldenBytes = 1 << 20;
constexpr char kEvil[] = "A<\"><img src=x onerror=alert(1)>'&\x1b\n.SH `|\\evil";

stats::StatRow Row(const std::string& symbol, const std::string& version,
                   const std::vector<std::uint64_t>& values) {
  stats::StatRow row;
  row.key.api = {"libz.so.1", version, "00ff", symbol, ""};
  for (const std::uint64_t value : values) row.histogram.Add(value);
  row.scalars.contributions = 7;
  return testing::AsPublished(row);
}

Provenance Published(bool synthetic) {
  return {.source = "catalogue",
          .snapshot = 3,
          .published = "2026-11-21 03:10 UTC",
          .synthetic = synthetic};
}

CostCard Deflate() {
  CostCard card = CardsOf(analysis::Summarise(std::vector<stats::StatRow>{
                              Row("deflate", "1:1.2.13", {900, 1500, 1600, 5000, 70'000}),
                              Row("deflate", "1:1.3.1", {800, 1200, 1300, 4000, 9'000'000}),
                              Row("deflate", "1:1.2.9", {10'000})}),
                          Published(true))
                      .front();
  card.untrusted_link = "https://costs.example/api/libz.so.1!deflate?a&b";
  return card;
}

CostCard Hostile() {
  stats::StatRow row = Row(kEvil, kEvil, {5});
  row.key.api.soname = kEvil;
  CostCard card = CardsOf(analysis::Summarise(std::vector{row}), Published(false)).front();
  card.untrusted_link = "https://costs.example/\"><script>";
  return card;
}

// Compares with a golden file; rewrites it first if FIELDCOST_UPDATE_GOLDEN is set.
void ExpectGolden(const std::string& made, const std::string& name) {
  const std::string path = std::string(FIELDCOST_TEST_DIR) + "/cards/" + name;
  if (std::getenv("FIELDCOST_UPDATE_GOLDEN") != nullptr) {
    EXPECT_TRUE(WriteFileAtomically(path, made, 0644));
  }
  EXPECT_EQ(made, ReadFile(path, kMaxGoldenBytes).value_or(""));
}

// Expects that a real parser accepts the text as well-formed.
void ExpectXml(const std::string& xml) {
  const testing::ProcessResult result =
      testing::RunProcess({.arguments = {"python3", "-c",
                                         "import sys; from xml.dom.minidom import parseString;"
                                         "parseString(sys.stdin.buffer.read())"},
                           .input = xml});
  EXPECT_EQ(result.exit_status, 0) << result.errors << xml;
}

TEST(CostCardTest, EveryFormIsTheGoldenOne) {
  const CostCard card = Deflate();
  const CardPictures pictures{.light = "deflate.light.svg", .dark = "deflate.dark.svg"};
  ExpectGolden(CardSvg(card, CardTheme::kLight), "deflate.light.svg");
  ExpectGolden(CardSvg(card, CardTheme::kDark), "deflate.dark.svg");
  ExpectGolden(CardPage(card, pictures), "deflate.html");
  ExpectGolden(CardHtml(card, {}), "deflate_part.html");
  ExpectGolden(CardIndexHtml(std::vector<IndexedCard>{{&card, "deflate"}}, Published(true)),
               "index.html");
  ExpectGolden(CardMarkdown(card, pictures), "deflate.md");
  ExpectGolden(CardRoff(card, RoffMacros::kMan), "deflate.man");
  ExpectGolden(CardRoff(card, RoffMacros::kMdoc), "deflate.mdoc");
}

TEST(CostCardTest, OneCardPerApiWithVersionsNewestFirst) {
  stats::StatRow other = Row("deflate", "2", {1});
  other.key.api.soname = "liba.so.1";
  const std::vector<CostCard> cards = CardsOf(
      analysis::Summarise(std::vector{Row("inflate", "1.9", {1}), Row("inflate", "1.10", {1}),
                                      Row("crc32", "1.9", {1}), other}),
      Published(false));
  std::vector<std::string> names;
  for (const CostCard& card : cards) names.push_back(stats::DisplayName(ApiOf(card)));
  EXPECT_THAT(names, ElementsAre("liba.so.1!deflate", "libz.so.1!crc32", "libz.so.1!inflate"));
  ASSERT_EQ(cards[2].versions.size(), 2U);
  EXPECT_EQ(cards[2].versions[0].api.package_version, "1.10");
}

TEST(CostCardTest, TheIndexIsATableWithSpectra) {
  const CostCard card = Deflate();
  const std::vector<IndexedCard> cards = {{&card, "libz.so.1/deflate"}};
  const std::string html = CardIndexHtml(cards, Published(false));
  EXPECT_THAT(html, AllOf(HasSubstr("href=\"libz.so.1/deflate.html\">deflate</a>"
                                    "<small>libz.so.1</small></th><td class=\"picture\" "
                                    "data-label=\"Spectrum\"><svg "),
                          HasSubstr(">p99</th>"), Not(HasSubstr("SYNTHETIC"))));
  EXPECT_THAT(CardIndexHtml(cards, Published(true)),
              HasSubstr("<p class=\"warn\">SYNTHETIC: made-up data"));
  EXPECT_THAT(CardIndexMarkdown(cards, Published(true)),
              AllOf(HasSubstr("| API | p50 | p99 |"), HasSubstr("](<libz.so.1/deflate.md>) | "),
                    HasSubstr("**SYNTHETIC: made-up data**"), Not(HasSubstr("INCOMPLETE"))));
  Provenance incomplete = Published(false);
  incomplete.incomplete = true;
  EXPECT_THAT(html, Not(HasSubstr("INCOMPLETE")));
  EXPECT_THAT(CardIndexHtml(cards, incomplete),
              HasSubstr("<p class=\"warn\">INCOMPLETE: functions are missing"));
  EXPECT_THAT(CardIndexMarkdown(cards, incomplete),
              HasSubstr("**INCOMPLETE: functions are missing"));
}

TEST(CostCardTest, PicturesDescribeTheirContentInWords) {
  for (const CardTheme theme : {CardTheme::kLight, CardTheme::kDark}) {
    const std::string svg = CardSvg(Deflate(), theme);
    ExpectXml(svg);
    EXPECT_THAT(
        svg, AllOf(HasSubstr("role=\"img\" aria-labelledby=\"title desc\""),
                   HasSubstr("<title id=\"title\">Cost of libz.so.1!deflate</title>"),
                   HasSubstr("p50 1.3 µs"), HasSubstr("7 contributions"),
                   HasSubstr("published 2026-11-21 03:10 UTC"), HasSubstr("all classes, all weeks"),
                   HasSubstr("SYNTHETIC: made-up data")));
  }
  EXPECT_NE(CardSvg(Deflate(), CardTheme::kLight), CardSvg(Deflate(), CardTheme::kDark));
}

TEST(CostCardTest, MeasuredDataIsNotMarkedSynthetic) {
  CostCard card = Deflate();
  card.provenance = Published(false);
  for (const std::string& form : {CardSvg(card, CardTheme::kLight), CardHtml(card, {}),
                                  CardMarkdown(card, {}), CardRoff(card, RoffMacros::kMan)}) {
    EXPECT_THAT(form, Not(HasSubstr("SYNTHETIC")));
  }
}

TEST(CostCardTest, HostileNamesStayText) {
  const CostCard card = Hostile();
  const std::string svg = CardSvg(card, CardTheme::kDark);
  ExpectXml(svg);
  const std::string page = CardPage(card, {.light = "a", .dark = "b"});
  for (const std::string& form : {svg, page, CardHtml(card, {})}) {
    EXPECT_THAT(form, AllOf(Not(HasSubstr("<img src=x")), Not(HasSubstr("<script")),
                            Not(HasSubstr("\x1b")), HasSubstr("&lt;img src=x")));
  }
  const std::string markdown = CardMarkdown(card, {});
  EXPECT_THAT(markdown, AllOf(Not(HasSubstr("<img")), Not(HasSubstr("\x1b")),
                              HasSubstr("A&lt;&quot;&gt;&lt;img src=x onerror=alert\\(1\\)"),
                              HasSubstr("%3Cscript%3E")));
  for (const RoffMacros macros : {RoffMacros::kMan, RoffMacros::kMdoc}) {
    const std::string roff = CardRoff(card, macros);
    // No line begins with external text, and no roff escape is in it.
    EXPECT_THAT(roff, AllOf(Not(HasSubstr("\n.SH `")), Not(HasSubstr("\x1b")),
                            HasSubstr("\\ex0a.SH \\(ga\\(ba")));
  }
}

TEST(CostCardTest, RoffIsWhatGroffUnderstands) {
  for (const auto& [macros, name, head] :
       {std::tuple{RoffMacros::kMan, "-man", ".TH X 3\n.SH NAME\nx \\- y\n"},
        {RoffMacros::kMdoc, "-mdoc", ".Dd May 1, 2026\n.Dt X 3\n.Os\n.Sh NAME\n.Nm x\n.Nd y\n"}}) {
    for (const CostCard& card : {Deflate(), Hostile()}) {
      const testing::ProcessResult shown =
          testing::RunProcess({.arguments = {"groff", "-Kutf8", "-Tutf8", "-ww", name},
                               .environment = {{"GROFF_NO_SGR", "1"}},
                               .input = head + CardRoff(card, macros)});
      EXPECT_EQ(shown.exit_status, 0);
      EXPECT_EQ(shown.errors, "");
      EXPECT_THAT(shown.output, HasSubstr("contributions;"));
    }
  }
}

TEST(LinkTemplateTest, NamesArePercentEncoded) {
  const stats::ApiKey api{
      .soname = "lib+x.so.1", .package_version = "1:2~3", .symbol = "A<\"><img>/../%\xc3\xa9"};
  EXPECT_EQ(FillLink("https://h/api/{soname}!{symbol}?v={version}", api),
            "https://h/api/lib%2Bx.so.1!A%3C%22%3E%3Cimg%3E%2F..%2F%25%C3%A9?v=1%3A2~3");
  EXPECT_EQ(FillLink("", api), "");
}

// For templates from an editor's settings.
TEST(LinkTemplateTest, OnlyWebAddressesWithAPlaceForTheNameAreLinksForOthers) {
  const stats::ApiKey api{.soname = "libx.so.1", .package_version = "1.2", .symbol = "A<\"><img>"};
  EXPECT_EQ(FillUntrustedLink("https://h/api/{api}", api),
            "https://h/api/libx.so.1!A%3C%22%3E%3Cimg%3E");
  EXPECT_EQ(FillUntrustedLink("HTTPS://h/(x) {soname}/{version}{y}?{symbol}",
                              {.soname = "a", .package_version = "1", .symbol = "b"}),
            "HTTPS://h/%28x%29%20a/1%7By%7D?b");
  for (const char* refused : {"", "https://h/", "https://h/{host}", "file:///etc/{api}",
                              "javascript:{api}", "command:x?{api}", " https://h/{api}"}) {
    EXPECT_EQ(FillUntrustedLink(refused, api), "") << refused;
  }
  const std::string longest = "https://{api}" + std::string(kMaxTemplateBytes - 13, 'h');
  EXPECT_NE(FillUntrustedLink(longest, api), "");
  EXPECT_EQ(FillUntrustedLink(longest + "h", api), "");
}

TEST(LinkTemplateTest, LinksAreRelativeUnlessTheyNameAHostOrTheRoot) {
  for (const char* relative : {"../costs/a.html", "costs/a.html"}) {
    EXPECT_TRUE(IsRelativeLink(relative)) << relative;
  }
  for (const char* other : {"", "https://h/a", "http://h/a", "/costs/a", "?a", "#a"}) {
    EXPECT_FALSE(IsRelativeLink(other)) << other;
  }
}

TEST(LinkTemplateTest, OnlyLinksThatRunNothingAreTaken) {
  for (const char* good : {"https://h/{soname}!{symbol}", "http://h/", "../api/{symbol}.html",
                           "?api={symbol}", "/api/a:b"}) {
    EXPECT_TRUE(CheckLinkTemplate(good).has_value()) << good;
  }
  for (const char* bad : {"", "javascript:alert({symbol})", "data:text/html,{symbol}", "x y",
                          "https://h/\">", "https://h/{host}", "https://h/}", "https://h/{symbol",
                          "HTTPS://h/", "https://h/\x01", "https://h/\xc3\xa9"}) {
    EXPECT_FALSE(CheckLinkTemplate(bad).has_value()) << bad;
  }
  EXPECT_FALSE(CheckLinkTemplate(std::string(kMaxTemplateBytes + 1, 'a')).has_value());
}

}  // namespace
}  // namespace fieldcost::report
