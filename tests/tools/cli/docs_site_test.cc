// `fieldcost docs site`: a static site whose links all lead somewhere.
#include <filesystem>
#include <map>
#include <regex>
#include <sstream>

#include "tests/tools/cli/catalog_fixture.h"

namespace fieldcost::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class DocsSiteTest : public CatalogCliTest {
 protected:
  std::filesystem::path site() const { return home() / "site"; }

  void Write(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"docs", "site", site().string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    made_ = Cli(arguments);
    ASSERT_EQ(made_.exit_status, 0) << made_.errors;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(site())) {
      if (!entry.is_regular_file()) continue;
      std::ostringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      files_[std::filesystem::relative(entry.path(), site()).string()] = text.str();
    }
  }

  // The addresses that a page refers to.
  static std::vector<std::string> Links(const std::string& html) {
    static const std::regex kLink("(?:href|src)=\"([^\"]*)\"");
    std::vector<std::string> links;
    for (std::sregex_iterator link(html.begin(), html.end(), kLink), end; link != end; ++link) {
      links.push_back((*link)[1]);
    }
    return links;
  }

  testing::ProcessResult made_;
  std::map<std::string, std::string> files_;
};

TEST_F(DocsSiteTest, EveryLinkLeadsToAPageOfTheSite) {
  std::vector<stats::StatRow> rows = rows_;
  rows.push_back(testing::MakeRow("liba.so.1", "index", 5, 7));
  rows.push_back(testing::MakeRow("libstdc++.so.6", "_ZN1a1fEv", 5, 7));
  rows.push_back(testing::MakeRow("liba.so.1", "A<\"><img>", 5, 7));
  PublishAndSync(rows);
  Write({"--json"});
  EXPECT_EQ(Json(made_.output, "d['libraries'], d['functions'], d['synthetic']"), "3 6 False\n");
  std::size_t count = 0;
  for (const auto& [name, text] : files_) {
    EXPECT_THAT(text, Not(HasSubstr("<img>"))) << name;
    if (!name.ends_with(".html")) continue;
    for (const std::string& link : Links(text)) {
      if (link.starts_with("#")) continue;
      const auto target = (std::filesystem::path(name).parent_path() / link).lexically_normal();
      EXPECT_TRUE(files_.contains(target.string())) << name << " links to " << link;
      ++count;
    }
  }
  EXPECT_GE(count, 3 * 6U);
  for (const char* page : {"liba.so.1/open_it.html", "liba.so.1/open_it.dark.svg",
                           "liba.so.1/~69ndex.html", "libstdc~2B~2B.so.6/_ZN1a1fEv.html"}) {
    EXPECT_TRUE(files_.contains(page)) << page;
  }
  EXPECT_THAT(files_["liba.so.1/index.html"], HasSubstr("href=\"~69ndex.html\""));
}

TEST_F(DocsSiteTest, TheIndexSearchesTheNamesAndLoadsNothingElse) {
  PublishAndSync(rows_);
  Write();
  EXPECT_THAT(made_.output,
              HasSubstr("3 functions of 2 libraries: " + (site() / "index.html").string()));
  const std::string& index = files_["index.html"];
  EXPECT_THAT(index, AllOf(HasSubstr("<input type=\"search\""), HasSubstr("default-src 'none'"),
                           HasSubstr("data-root=\"0/0\""), HasSubstr("findEntries"),
                           HasSubstr("'strict-dynamic'"), Not(HasSubstr("http://")),
                           Not(HasSubstr("https://"))));
  EXPECT_THAT(files_["~search/0/0.js"], HasSubstr("[\"open_it\",\"liba.so.1\",\"\",\"1.5 µs\"]"));
  EXPECT_THAT(files_["liba.so.1/open_it.html"], Not(HasSubstr("<script")));
}

TEST_F(DocsSiteTest, OneLibraryAloneAndTheSameBytesAgain) {
  PublishAndSync(rows_);
  Write({"--library", "libb.so.2"});
  EXPECT_TRUE(files_.contains("libb.so.2/twin.html"));
  EXPECT_FALSE(files_.contains("liba.so.1/twin.html"));
  const std::map<std::string, std::string> before = files_;
  Write({"--library", "libb.so.2"});
  EXPECT_EQ(files_, before);
  EXPECT_EQ(Cli({"docs", "site", site().string(), "--library", "libnone"}).exit_status, 66);
}

TEST_F(DocsSiteTest, CardsLinkToItsPages) {
  PublishAndSync(rows_);
  Write();
  const std::filesystem::path cards = home() / "cards";
  ASSERT_EQ(
      Cli({"docs", "cards", "--output", cards.string(), "--url", "../../site/{page}"}).exit_status,
      0);
  std::ostringstream card;
  card << std::ifstream(cards / "liba.so.1" / "open_it.html").rdbuf();
  EXPECT_THAT(card.str(), HasSubstr("href=\"../../site/liba.so.1/open_it.html\""));
}

}  // namespace
}  // namespace fieldcost::cli
