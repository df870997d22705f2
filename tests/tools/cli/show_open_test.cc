// `fieldcost show --open`: pages in the cache directory, opened without a server.
#include <sys/stat.h>

#include <filesystem>
#include <sstream>

#include "tests/tools/cli/catalog_fixture.h"

namespace fieldcost::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ShowOpenTest : public CatalogCliTest {
 protected:
  // Without a display, and with this browser.
  testing::ProcessResult Open(std::vector<std::string> arguments, const std::string& browser) {
    arguments.insert(arguments.begin(), {"show", "--open"});
    return Cli(arguments, {{"DISPLAY", ""}, {"WAYLAND_DISPLAY", ""}, {"BROWSER", browser}});
  }
  std::filesystem::path Page(const std::string& name) const {
    return home() / "cache" / "pages" / name;
  }
  static std::string TextOf(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
};

TEST_F(ShowOpenTest, WithoutADisplayThePageIsWrittenAndNamed) {
  PublishAndSync(rows_);
  const std::filesystem::path page = Page("liba.so.1/open_it.html");
  const testing::ProcessResult result = Open({"open_it"}, "");
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_EQ(result.output, "file://" + page.string() + "\n");
  EXPECT_THAT(result.errors, AllOf(HasSubstr("there is no display"), HasSubstr(page.string())));
  EXPECT_THAT(TextOf(page), AllOf(StartsWith("<!doctype html>"), HasSubstr("open_it"),
                                  HasSubstr("1.5 µs"), Not(HasSubstr("<script"))));
}

TEST_F(ShowOpenTest, TheUsersBrowserGetsTheAddress) {
  PublishAndSync(rows_);
  // The stand-in for the browser reports its arguments through a FIFO.
  const testing::ProcessResult result = Shell(
      "cd \"$FIELDCOST_HOME\" && mkfifo opened && printf '#!/bin/sh\\necho \"$*\" > opened\\n' > "
      "look && chmod +x look && export BROWSER=\"$PWD/look --new %s:other\" && \"$fieldcost\" show "
      "open_it --open && cat opened");
  const std::string url = "file://" + Page("liba.so.1/open_it.html").string() + "\n";
  EXPECT_EQ(result.output, url + "--new " + url) << result.errors;
  EXPECT_EQ(result.errors, "");
  const testing::ProcessResult none = Open({"open_it"}, "/no/such/browser");
  EXPECT_NE(none.exit_status, 0);
  EXPECT_THAT(none.errors, HasSubstr("/no/such/browser"));
}

TEST_F(ShowOpenTest, WithoutAnApiTheMostExpensiveOnesAreListedAndLinked) {
  PublishAndSync(rows_);
  const testing::ProcessResult result = Open({}, "");
  EXPECT_EQ(result.exit_status, 0) << result.errors;
  EXPECT_EQ(result.output, "file://" + Page("index.html").string() + "\n");
  const std::string index = TextOf(Page("index.html"));
  for (const char* name :
       {"liba.so.1/open_it.html", "liba.so.1/twin.html", "libb.so.2/twin.html"}) {
    EXPECT_THAT(index, HasSubstr("href=\"" + std::string(name) + "\""));
    EXPECT_THAT(TextOf(Page(name)), StartsWith("<!doctype html>"));
  }
}

TEST_F(ShowOpenTest, AnIncompleteCatalogueHasPagesButNoListOfTheMostExpensive) {
  PublishAndSyncPartly(testing::MakeRows(100, 1500));
  const testing::ProcessResult refused = Open({}, "");
  EXPECT_EQ(refused.exit_status, 69);
  EXPECT_EQ(refused.output, "");
  EXPECT_THAT(refused.errors, HasSubstr("the catalogue is incomplete, 3 of 4 fragments"));
  EXPECT_FALSE(std::filesystem::exists(home() / "cache"));
  const std::string found = Cli({"search", "function_*", "--limit", "1"}).output;
  const std::string name = found.substr(found.find("function_"));
  const testing::ProcessResult one = Open({name.substr(0, name.find_first_of(" \n"))}, "");
  EXPECT_EQ(one.exit_status, 0) << one.errors;
  EXPECT_THAT(one.errors, HasSubstr("the catalogue is incomplete, 3 of 4 fragments"));
}

TEST_F(ShowOpenTest, APageInANamedFileIsOpenedToo) {
  PublishAndSync(rows_);
  const std::filesystem::path file = home() / "step.html";
  const testing::ProcessResult result = Open({"open_it", "--html", file.string()}, "");
  EXPECT_EQ(result.exit_status, 0) << result.errors;
  EXPECT_THAT(result.errors, HasSubstr("open this file in a browser: " + file.string()));
  EXPECT_FALSE(std::filesystem::exists(Page("liba.so.1/open_it.html")));
}

TEST_F(ShowOpenTest, CombinationsWithoutASinglePageAreRefused) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"open_it", "--json"},
                                             {"open_it", "--csv"},
                                             {"open_it", "--html", "-"},
                                             {"--local"},
                                             {"--html", "x.html"},
                                             {"open_it", "--table", "a.lab"}}) {
    const testing::ProcessResult result = Open(arguments, "");
    EXPECT_EQ(result.exit_status, 64) << arguments.back() << result.errors;
    EXPECT_FALSE(std::filesystem::exists(home() / "cache"));
  }
}

}  // namespace
}  // namespace fieldcost::cli
