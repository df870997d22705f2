// `fieldcost docs` and `fieldcost man`.
#include <filesystem>
#include <map>
#include <sstream>

#include "common/names/cxx_name.h"
#include "tests/tools/cli/catalog_fixture.h"
#include "tools/cli/docs/doxygen_pages.h"
#include "tools/cli/docs/rustdoc_pages.h"

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

// Runs the rustdoc that tests/run.sh unpacks, with Debian's LLVM.
TEST_F(DocsTest, RustdocPagesOfExternalFunctionsGetCards) {
  const std::filesystem::path packages = FIELDCOST_BINARY_DIR "/../packages";
  const std::filesystem::path rustdoc = packages / "rustc" / "usr" / "bin" / "rustdoc";
  if (!std::filesystem::exists(rustdoc)) GTEST_SKIP() << "rustdoc is not unpacked: tests/run.sh";
  std::string libraries;
  for (const auto& folder :
       std::filesystem::directory_iterator(packages / "libstd-rust-1.63" / "usr" / "lib")) {
    libraries = folder.path().string();
  }
  const std::filesystem::path pages = home() / "doc";
  const testing::ProcessResult made = testing::RunProcess(
      {.arguments = {rustdoc.string(), FIELDCOST_CLI_TEST_DIR "/bindings.rs", "-o", pages.string()},
       .environment = {{"LD_LIBRARY_PATH", libraries}, {"RUSTC_BOOTSTRAP", "1"}}});
  ASSERT_EQ(made.exit_status, 0) << made.errors;
  const auto before = Files(pages);
  rows_with_evil_.push_back(testing::MakeRow("lib<img>.so.1", "open_it", 5, 7));
  PublishAndSync(rows_with_evil_);
  const std::vector<std::string> command = {"docs",  "rustdoc",         pages.string(),
                                            "--url", "../costs/{page}", "--json"};
  const testing::ProcessResult result = Cli(command);
  ASSERT_EQ(result.exit_status, 0) << result.errors;
  EXPECT_EQ(Json(result.output, "[d[n] for n in ('functions', 'found', 'cards', 'pages')]"),
            "[3, 2, 2, 2]\n");
  const auto after = Files(pages);
  const std::string& page = after.at("bindings/fn.open_it.html");
  EXPECT_THAT(page, AllOf(HasSubstr("aria-label=\"Cost of liba.so.1!open_it\""),
                          HasSubstr("aria-label=\"Cost of lib&lt;img&gt;.so.1!open_it\""),
                          HasSubstr("href=\"../../costs/liba.so.1/open_it.html\""),
                          Not(HasSubstr("<img>"))));
  EXPECT_LT(page.find("</pre>"), page.find("fieldcost card: begin"));
  EXPECT_LT(page.find("fieldcost card: end"), page.rfind("Opens it."));
  EXPECT_THAT(after.at("bindings/exported/fn.twin.html"),
              AllOf(HasSubstr("Cost of libb.so.2!twin"),
                    HasSubstr("href=\"../../../costs/libb.so.2/twin.html\"")));
  for (const char* same :
       {"bindings/fn.unknown.html", "bindings/wrapper/fn.twin.html", "bindings/index.html"}) {
    EXPECT_EQ(after.at(same), before.at(same)) << same;
  }
  ASSERT_EQ(Cli(command).exit_status, 0);
  EXPECT_EQ(Files(pages), after) << "a second run gives the same bytes";
  ASSERT_EQ(Cli({"docs", "rustdoc", pages.string(), "--library", "libb*"}).exit_status, 0);
  EXPECT_EQ(TextOf(pages / "bindings" / "fn.open_it.html"), before.at("bindings/fn.open_it.html"));
  EXPECT_EQ(Cli({"docs", "rustdoc", (home() / "none").string()}).exit_status, 66);
}

TEST(RustdocPagesTest, OnlyExternalFunctionsAreFound) {
  const auto found = [](const std::string& declaration, const char* file = "fn.f.html") {
    return ExternalFunction(
        file, "<pre class=\"rust item-decl\"><code>" + declaration + "</code></pre><details>");
  };
  EXPECT_EQ(found("pub unsafe extern &quot;C&quot; fn f()"), "f");
  EXPECT_EQ(found("#[no_mangle]\npub extern \"C-unwind\" fn f()"), "f");
  EXPECT_EQ(found("pub fn f(call: extern &quot;C&quot; fn(i32))"), std::nullopt);
  EXPECT_EQ(found("pub fn f()"), std::nullopt);
  for (const char* file : {"f.html", "fn.html", "fn..html", "fn.f.js", "struct.f.html"}) {
    EXPECT_EQ(found("pub unsafe extern &quot;C&quot; fn f()", file), std::nullopt) << file;
  }
  for (const char* page : {"", "item-decl\">", "</pre>", "</pre> item-decl\"> extern \"C\" fn f"}) {
    EXPECT_EQ(ExternalFunction("fn.f.html", page), std::nullopt) << page;
    EXPECT_EQ(WithCardsBelowDeclaration(page, "X"), page);
  }
}

// As rustdoc 1.63 and 1.95 write them.
TEST(RustdocPagesTest, CardsAreInsertedBelowTheDeclarationAndReplaced) {
  const std::string card = "<!-- fieldcost card: begin -->\nX\n<!-- fieldcost card: end -->\n";
  for (const auto& [begin, end] : {std::pair<std::string, std::string>{
                                       "<div class=\"docblock item-decl\"><pre class=\"rust "
                                       "fn\"><code>pub unsafe extern &quot;C&quot; fn f()"
                                       "</code></pre></div>",
                                       "<details class=\"rustdoc-toggle top-doc\" open></details>"},
                                   {"<pre class=\"rust item-decl\"><code>pub unsafe extern "
                                    "&quot;C&quot; fn f()</code></pre>",
                                    "<details class=\"toggle top-doc\" open></details>"}}) {
    const std::string page = WithCardsBelowDeclaration(begin + end, card);
    EXPECT_EQ(page, begin + card + end);
    EXPECT_EQ(WithCardsBelowDeclaration(page, card), page);
    EXPECT_EQ(WithCardsBelowDeclaration(page, ""), begin + end);
  }
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
