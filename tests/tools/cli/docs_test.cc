// `fieldcost docs` and `fieldcost man`.
#include <filesystem>
#include <map>
#include <sstream>

#include "common/names/cxx_name.h"
#include "tests/tools/cli/catalog_fixture.h"
#include "tools/cli/docs/doxygen_pages.h"

namespace fieldcost::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kEvilSymbol[] = "A<\"><img>";

std::string TextOf(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class DocsTest : public CatalogCliTest {
 protected:
  DocsTest() {
    std::filesystem::create_directories(output().parent_path());
    rows_with_evil_.push_back(testing::MakeRow("liba.so.1", kEvilSymbol, 5, 7));
  }

  std::filesystem::path output() const { return home() / "docs" / "cards"; }

  // All files below a directory with their contents.
  static std::map<std::string, std::string> Files(const std::filesystem::path& directory) {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
      if (!entry.is_regular_file()) continue;
      files[std::filesystem::relative(entry.path(), directory).string()] = TextOf(entry.path());
    }
    return files;
  }

  std::vector<stats::StatRow> rows_with_evil_ = rows_;
};

TEST_F(DocsTest, EveryApiGetsItsFilesAndTheIndexNamesThem) {
  PublishAndSync(rows_with_evil_);
  const testing::ProcessResult made =
      Cli({"docs", "cards", "--output", output().string(), "--url",
           "https://costs.example/api/{soname}!{symbol}", "--json"});
  ASSERT_EQ(made.exit_status, 0) << made.errors << made.output;
  const auto files = Files(output());
  EXPECT_EQ(files.size(), 4 * 5 + 3U);
  EXPECT_EQ(files.at("index.json"), made.output);
  EXPECT_EQ(Json(made.output, "len(d['cards']), d['synthetic'], d['cards'][1]['symbol']"),
            "4 False open_it\n");
  EXPECT_THAT(files.at("liba.so.1/open_it.html"),
              AllOf(HasSubstr("srcset=\"open_it.dark.svg\""), HasSubstr("open_it.light.svg"),
                    HasSubstr("href=\"https://costs.example/api/liba.so.1!open_it\"")));
  EXPECT_THAT(files.at("liba.so.1/open_it.light.svg"), HasSubstr("<desc"));
  EXPECT_EQ(Json(made.output, "d['cards'][1]['name'], d['cards'][1]['fragment']"),
            "open_it liba.so.1/open_it.fragment\n");
  EXPECT_THAT(
      files.at("liba.so.1/open_it.fragment"),
      AllOf(HasSubstr("<svg role=\"img\""), HasSubstr("<details>"), Not(HasSubstr("<html"))));
  // Characters other than letters, digits, '_', '-' and '.' are written in hexadecimal.
  EXPECT_THAT(files.at("liba.so.1/A~3C~22~3E~3Cimg~3E.html"),
              HasSubstr("api/liba.so.1!A%3C%22%3E%3Cimg%3E"));
  for (const auto& [name, text] : files) {
    if (name == "index.json") continue;  // JSON need not escape such names
    EXPECT_THAT(text, Not(HasSubstr("<img>"))) << name;
  }
  EXPECT_THAT(files.at("index.html"), HasSubstr("href=\"liba.so.1/A~3C~22~3E~3Cimg~3E.html\""));

  // The same catalogue gives the same bytes.
  ASSERT_EQ(Cli({"docs", "cards", "--output", (home() / "again").string(), "--url",
                 "https://costs.example/api/{soname}!{symbol}"})
                .exit_status,
            0);
  EXPECT_EQ(Files(home() / "again"), files);
}

TEST_F(DocsTest, ReportsWhatCannotBeDone) {
  const auto error_of = [&](std::vector<std::string> arguments, int status) {
    const testing::ProcessResult result = Cli(arguments);
    EXPECT_EQ(result.exit_status, status) << result.errors;
    return result.errors;
  };
  const std::string out = output().string();
  EXPECT_THAT(error_of({"docs", "cards", "--output", out}, 66), HasSubstr("fieldcost sync"));
  PublishAndSync(rows_);
  EXPECT_THAT(error_of({"docs"}, 64), HasSubstr("docs needs one of: cards, doxygen"));
  EXPECT_THAT(error_of({"docs", "cards"}, 64), HasSubstr("--output"));
  EXPECT_THAT(error_of({"docs", "cards", "--output", out, "--library", "libq*"}, 66),
              HasSubstr("no library named libq*"));
  EXPECT_THAT(error_of({"docs", "cards", "--output", out, "--url", "javascript:x"}, 64),
              HasSubstr("must begin with https://"));
  EXPECT_THAT(error_of({"docs", "doxygen", out, "--tag-file", out + "/no.tag"}, 66),
              HasSubstr("no.tag"));
  EXPECT_THAT(error_of({"man", "open_its"}, 66), HasSubstr("did you mean liba.so.1!open_it?"));
  EXPECT_FALSE(std::filesystem::exists(output()));
}

TEST_F(DocsTest, RefusesPathsAsManualPageNames) {
  const std::string path = (home() / "secret").string();
  std::filesystem::create_directories(home());
  std::ofstream(path) << ".TH SECRET 1\n.SH NAME\nsecret \\- of this machine\n";
  PublishAndSync({testing::MakeRow("liba.so.1", path, 5, 7)});
  const testing::ProcessResult shown = Cli({"man", path, "--roff"});
  EXPECT_EQ(shown.exit_status, 0) << shown.errors;
  EXPECT_THAT(shown.output, AllOf(HasSubstr("\n.SH COST\n"), Not(HasSubstr("of this machine"))));
}

TEST_F(DocsTest, APageIsTheFunctionsNotACommandsOfThatName) {
  const std::filesystem::path manual = home() / "man";
  for (const char* section : {"1", "3"}) {
    const std::filesystem::path folder = manual / ("man" + std::string(section));
    std::filesystem::create_directories(folder);
    std::ofstream(folder / ("open_it." + std::string(section)))
        << ".TH open_it " << section << "\n.SH NAME\nopen_it \\- page of section " << section
        << "\n";
  }
  PublishAndSync(rows_);
  const auto page = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"man", "open_it", "--roff"});
    return Cli(arguments, {{"MANPATH", manual.string()}}).output;
  };
  EXPECT_THAT(page({}), HasSubstr("page of section 3"));
  EXPECT_THAT(page({"--section", "1"}), HasSubstr("page of section 1"));
  EXPECT_THAT(page({"--section", "2"}), Not(HasSubstr("page of section")));
}

TEST_F(DocsTest, ManAndItsPagerGetSignalsAsUsual) {
  PublishAndSync(rows_);
  const std::filesystem::path bin = home() / "bin";
  std::filesystem::create_directories(bin);
  std::ofstream(bin / "man") << R"(#!/bin/sh
case "$*" in *--recode*) exit 16;; esac
kill -INT $PPID
yes | head -n 1
cat
)";
  std::filesystem::permissions(bin / "man", std::filesystem::perms::owner_all);
  const testing::ProcessResult shown =
      Cli({"man", "open_it"}, {{"PATH", bin.string() + ":/usr/bin:/bin"}});
  EXPECT_EQ(shown.exit_status, 0) << "ended by ^C at the pager: signal " << shown.signal;
  EXPECT_THAT(shown.output, AllOf(HasSubstr("y\n"), HasSubstr(".SH COST")));
  EXPECT_EQ(shown.errors, "") << "a pipe without a reader ends its writer";
}

TEST_F(DocsTest, ALibraryCalledLikeAnIndexDoesNotTakeItsPlace) {
  PublishAndSync({testing::MakeRow("index.html", "open_it", 5, 7)});
  const testing::ProcessResult made = Cli({"docs", "cards", "--output", output().string()});
  EXPECT_EQ(made.exit_status, 0) << made.errors;
  EXPECT_TRUE(std::filesystem::is_regular_file(output() / "index.html"));
}

TEST(DoxygenPagesTest, FunctionsOfATagFileAreFoundWithTheirScopes) {
  const auto functions = ReadTagFile(R"(<?xml version='1.0'?>
<tagfile doxygen_version="1.9.4">
  <compound kind="file"><name>zlib.h</name>
    <member kind="define"><name>Z_OK</name><anchorfile>z.html</anchorfile><anchor>a0</anchor></member>
    <member kind="function"><type>int</type><name>inflate</name>
      <anchorfile>z.html</anchorfile><anchor>a1</anchor></member>
    <member kind="function"><name>without_page</name></member>
  </compound>
  <compound kind="class"><name>Json::Value</name>
    <member kind="function"><name>operator&lt;</name>
      <anchorfile>v.html</anchorfile><anchor>a2</anchor></member>
  </compound>
</tagfile>)");
  ASSERT_TRUE(functions.has_value()) << functions.error().message;
  EXPECT_THAT(*functions,
              ElementsAre(DocumentedFunction{"inflate", "z.html", "a1"},
                          DocumentedFunction{"Json::Value::operator<", "v.html", "a2"}));
}

TEST(DoxygenPagesTest, RefusesFilesThatAreNotTagFiles) {
  const auto member = [](const std::string& page) {
    return "<tagfile><compound kind=\"file\"><member kind=\"function\"><name>f</name><anchorfile>" +
           page + "</anchorfile><anchor>a</anchor></member></compound></tagfile>";
  };
  EXPECT_TRUE(ReadTagFile(member("sub/z.html")).has_value());
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "<a>";
  std::string hidden;  // text that looks like closing tags but is not
  for (int i = 0; i < 100'000; ++i) hidden += "<a b='</a>'><!-- </a> --><![CDATA[</a>]]>";
  EXPECT_FALSE(ReadTagFile(hidden).has_value());
  for (const std::string& bad :
       {std::string(), std::string("<html></html>"), std::string("<tagfile>"), deep,
        member("../../etc/z.html"), member("/etc/z.html"), member("a/../../z.html")}) {
    EXPECT_FALSE(ReadTagFile(bad).has_value()) << bad.substr(0, 80);
  }
}

TEST(DoxygenPagesTest, CardsAreInsertedOnceAndReplaced) {
  const std::string page =
      "<a id=\"a1\" name=\"a1\"></a>\n<div class=\"memdoc\">\nold words</div>\n"
      "<a id=\"a2\" name=\"a2\"></a>\n<a id=\"a3\" name=\"a3\"></a>\n<div "
      "class=\"memdoc\">\n</div>\n";
  const std::string card = "<!-- fieldcost card: begin -->\nX\n<!-- fieldcost card: end -->\n";
  const PageWithCards once = InsertCards(page, {{"a1", card}, {"a2", card}, {"none", card}});
  EXPECT_EQ(once.cards, 1U) << "a2 has no description of its own";
  EXPECT_THAT(once.html, HasSubstr("<div class=\"memdoc\">\n" + card + "old words"));
  EXPECT_EQ(InsertCards(once.html, {{"a1", card}}).html, once.html);
  EXPECT_EQ(InsertCards(once.html, {}).html, page);
}

TEST(DoxygenPagesTest, NamesLoseTheirArguments) {
  const std::pair<const char*, const char*> cases[] = {
      {"inflate", "inflate"},
      {"Json::Value::isMember(char const*) const", "Json::Value::isMember"},
      {"Json::writeString[abi:cxx11](Json::Value const&)", "Json::writeString"},
      {"Json::Value::operator[](char const*)", "Json::Value::operator[]"},
      {"a::B::operator()(int)", "a::B::operator()"},
      {"a::B::operator<(a::B const&)", "a::B::operator<"},
      {"a::B<c::D (*)(int)>::f(int)", "a::B<c::D (*)(int)>::f"},
      {"(anonymous namespace)::f(int)", "(anonymous namespace)::f"},
      {"", ""}};
  for (const auto& [demangled, name] : cases)
    EXPECT_EQ(names::NameWithoutArguments(demangled), name);
}

}  // namespace
}  // namespace fieldcost::cli
