// `fieldcost docs` with a catalogue whose first sync was interrupted.
#include <algorithm>
#include <filesystem>
#include <regex>
#include <sstream>

#include "tests/tools/cli/catalog_fixture.h"

namespace fieldcost::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kMark[] = "INCOMPLETE: functions are missing";
constexpr unsigned kFunctions = 60;

class DocsIncompleteTest : public CatalogCliTest {
 protected:
  // The later a function's name, the more it costs, so no order by total is one by name.
  static std::vector<stats::StatRow> Rows() {
    std::vector<stats::StatRow> rows;
    for (unsigned i = 0; i < kFunctions; ++i) {
      rows.push_back(testing::MakeRow("libone.so.1", Name(i), 100, 1000 * (i + 1)));
    }
    return rows;
  }
  static std::string Name(unsigned i) { return fmt::format("f_{:02}", i); }

  testing::ProcessResult Docs(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "docs");
    testing::ProcessResult result = Cli(arguments);
    EXPECT_EQ(result.exit_status, 0) << arguments[1] << result.errors;
    return result;
  }
  std::string TextOf(const std::string& file) const {
    std::ostringstream text;
    text << std::ifstream(home() / file).rdbuf();
    return text.str();
  }
  // The functions that a list links to, in its order.
  static std::vector<std::string> Listed(const std::string& text) {
    static const std::regex kName("[(</\"](f_[0-9]{2})[.](?:html|md)");
    std::vector<std::string> names;
    for (std::sregex_iterator name(text.begin(), text.end(), kName), end; name != end; ++name) {
      names.push_back((*name)[1]);
    }
    return names;
  }
  static void ExpectByNameWithoutShares(const std::string& text) {
    const std::vector<std::string> names = Listed(text);
    EXPECT_GT(names.size(), 1U) << text;
    EXPECT_LT(names.size(), kFunctions);
    EXPECT_TRUE(std::ranges::is_sorted(names)) << text;
    EXPECT_THAT(text, Not(ContainsRegex("[Ss]hare|SHARE|[Tt]otal|TOTAL")));
  }
};

TEST_F(DocsIncompleteTest, ListsAreMarkedAndHaveNoOrderByTotalAndNoShare) {
  PublishAndSyncPartly(Rows());
  const std::string cards = (home() / "cards").string();
  const std::string site = (home() / "site").string();
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"cards", "--output", cards}, {"site", site}}) {
    const testing::ProcessResult text = Docs(command);
    EXPECT_THAT(text.errors, HasSubstr("the catalogue is incomplete, 3 of 4 fragments"));
    EXPECT_THAT(text.output, HasSubstr("3 of 4 fragments current (incomplete: fieldcost sync)"));
    std::vector<std::string> with_json = command;
    with_json.push_back("--json");
    EXPECT_EQ(Json(Docs(with_json).output, "d['incomplete']"), "True\n");
  }
  for (const char* list : {"cards/index.html", "cards/index.md", "site/libone.so.1/index.html"}) {
    const std::string text = TextOf(list);
    EXPECT_THAT(text, HasSubstr(kMark)) << list;
    ExpectByNameWithoutShares(text);
  }
  EXPECT_THAT(TextOf("site/index.html"), HasSubstr(kMark));

  ASSERT_EQ(Cli({"sync"}).exit_status, 0) << "completes it";
  EXPECT_EQ(
      Json(Docs({"cards", "--output", cards, "--json"}).output, "d['incomplete'], len(d['cards'])"),
      fmt::format("False {}\n", kFunctions));
  EXPECT_EQ(Docs({"site", site}).errors, "");
  for (const char* list :
       {"cards/index.html", "cards/index.md", "site/index.html", "site/libone.so.1/index.html"}) {
    EXPECT_THAT(TextOf(list), Not(HasSubstr(kMark))) << list;
  }
}

TEST_F(DocsIncompleteTest, TheCardOfAFunctionIsTheOneOfTheCompleteCatalogue) {
  PublishAndSyncPartly(Rows());
  ASSERT_TRUE(Docs({"cards", "--output", (home() / "cards").string()}).output.size() > 0);
  const std::vector<std::string> names = Listed(TextOf("cards/index.html"));
  ASSERT_EQ(Cli({"sync"}).exit_status, 0);
  Docs({"cards", "--output", (home() / "complete").string()});
  for (const std::string& name : names) {
    for (const char* suffix : {".html", ".md", ".fragment", ".light.svg", ".dark.svg"}) {
      const std::string file = "libone.so.1/" + name + suffix;
      EXPECT_EQ(TextOf("cards/" + file), TextOf("complete/" + file)) << file;
    }
  }
}

TEST_F(DocsIncompleteTest, PagesOfOtherProgramsGetTheCardsThatAreThere) {
  PublishAndSyncPartly(Rows());
  const std::filesystem::path pages = home() / "doc";
  std::filesystem::create_directories(pages);
  for (unsigned i = 0; i < kFunctions; ++i) {
    std::ofstream(pages / fmt::format("fn.{}.html", Name(i)))
        << "<pre class=\"rust item-decl\"><code>pub extern &quot;C&quot; fn " << Name(i)
        << "()</code></pre>";
  }
  std::ofstream(home() / "all.tag") << R"(<tagfile><compound kind="file">
<member kind="function"><name>f_00</name><anchorfile>all.html</anchorfile><anchor>a0</anchor></member>
</compound></tagfile>)";
  std::ofstream(pages / "all.html") << "<a id=\"a0\"></a><div class=\"memdoc\">\n</div>";
  const std::vector<std::string> doxygen = {"doxygen", pages.string(), "--tag-file",
                                            (home() / "all.tag").string(), "--json"};
  const std::vector<std::string> rustdoc = {"rustdoc", pages.string(), "--json"};
  for (const auto& command : {rustdoc, doxygen}) {
    const testing::ProcessResult made = Docs(command);
    EXPECT_THAT(made.errors, HasSubstr("the catalogue is incomplete, 3 of 4 fragments"));
    EXPECT_EQ(Json(made.output, "d['incomplete'], d['found'] <= d['functions']"), "True True\n");
  }
  unsigned with_card = 0;
  for (unsigned i = 0; i < kFunctions; ++i) {
    const std::string page = TextOf(fmt::format("doc/fn.{}.html", Name(i)));
    with_card += page.find("fieldcost card: begin") != std::string::npos ? 1 : 0;
    EXPECT_THAT(page, Not(ContainsRegex("[Ss]hare|[Tt]otal")));
  }
  EXPECT_GT(with_card, 0U);
  EXPECT_LT(with_card, kFunctions);
  ASSERT_EQ(Cli({"sync"}).exit_status, 0);
  EXPECT_EQ(Json(Docs(rustdoc).output, "d['incomplete'], d['found']"),
            fmt::format("False {}\n", kFunctions));
  EXPECT_EQ(Json(Docs(doxygen).output, "d['incomplete'], d['found']"), "False 1\n");
}

}  // namespace
}  // namespace fieldcost::cli
