// Sphinx's extension, with the real sphinx-build.
#include <filesystem>
#include <sstream>

#include "tests/tools/cli/catalog_fixture.h"

namespace fieldcost::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kPage[] = R"(A library
=========

.. c:function:: int open_it(const char *path)

   Opens it.

.. c:function:: int unknown(void)

   Is not in the catalogue.

.. cpp:class:: Json::Reader

   .. cpp:function:: bool parse(const char *text)
                     bool parse(const char *text, int flags)

      Parses it.

.. py:function:: zlib.crc32(data)

   Computes a checksum.

.. py:function:: module.twin(data)

   Is not the C function of that name.

.. toctree::

   more/twin
)";

class DocsSphinxTest : public CatalogCliTest {
 protected:
  DocsSphinxTest() {
    std::filesystem::create_directories(home() / "docs");
    std::ofstream(home() / "docs" / "conf.py")
        << "import sys\nsys.path.append('" FIELDCOST_SPHINX_DIR
           "')\nextensions = ['fieldcost_sphinx']\nfieldcost_cards = '../cards'\n";
    std::ofstream(home() / "docs" / "index.rst") << kPage;
    std::filesystem::create_directories(home() / "docs" / "more");
    std::ofstream(home() / "docs" / "more" / "twin.rst")
        << "Twins\n=====\n\n.. c:function:: int twin(void)\n";
    rows_.push_back(testing::MakeRow("lib<img>.so.1", "open_it", 5, 7));
    rows_.push_back(testing::MakeRow("libj.so.1", "_ZN4Json6Reader5parseEPKc", 5, 7));
    rows_.push_back(testing::MakeRow("libj.so.1", "_ZN4Json6Reader5parseEPKci", 5, 7));
    rows_.push_back(testing::MakeRow("libpython3.11.so.1.0", "zlib_crc32", 5, 7));
    rows_.push_back(testing::MakeRow("liba.so.1", "A<\"><img>", 5, 7));
  }

  void WriteCards(const std::string& site = "https://costs.example") {
    const testing::ProcessResult made =
        Cli({"docs", "cards", "--output", (home() / "cards").string(), "--url", site + "/{page}"});
    ASSERT_EQ(made.exit_status, 0) << made.errors;
  }

  testing::ProcessResult Sphinx(const std::string& builder = "html") {
    return testing::RunProcess(
        {.arguments = {"sphinx-build", "-q", "-W", "-b", builder, "docs", builder},
         .environment = {{"PYTHONDONTWRITEBYTECODE", "1"}},
         .directory = home()});
  }

  std::string PageText(const std::string& name = "html/index.html") {
    std::ostringstream text;
    text << std::ifstream(home() / name).rdbuf();
    return text.str();
  }

  // The part of the page that describes the function with this anchor.
  std::string Described(const std::string& anchor) {
    const std::string page = PageText();
    const std::size_t begin = page.find("id=\"" + anchor + "\"");
    EXPECT_NE(begin, std::string::npos) << anchor;
    return page.substr(begin, page.find("<dt class=\"sig ", begin) - begin);
  }

  static int CardsIn(const std::string& text) {
    const std::string begin = "<!-- fieldcost card: begin -->";
    int count = 0;
    for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at + 1))
      ++count;
    return count;
  }

  std::vector<stats::StatRow> rows_ = CatalogCliTest::rows_;
};

TEST_F(DocsSphinxTest, AddsCardsToTheFunctionsThatTheCatalogueKnows) {
  PublishAndSync(rows_);
  WriteCards();
  const testing::ProcessResult made = Sphinx();
  ASSERT_EQ(made.exit_status, 0) << made.errors << "install python3-sphinx";
  const std::string opened = Described("c.open_it");
  EXPECT_EQ(CardsIn(opened), 2) << "of two libraries";
  EXPECT_THAT(opened, AllOf(HasSubstr("p50 1.5 µs"), HasSubstr("<svg role=\"img\""),
                            HasSubstr("href=\"https://costs.example/liba.so.1/open_it.html\""),
                            HasSubstr("lib&lt;img&gt;.so.1"), Not(HasSubstr("<img>"))));
  EXPECT_LT(opened.find("fieldcost card: begin"), opened.find("Opens it."));
  EXPECT_EQ(CardsIn(Described("c.unknown")), 0);
  EXPECT_EQ(CardsIn(Described("_CPPv4N4Json6Reader5parseEPKci")), 2) << "both overloads";
  EXPECT_EQ(CardsIn(Described("zlib.crc32")), 1);
  EXPECT_EQ(CardsIn(Described("module.twin")), 0);
  EXPECT_EQ(CardsIn(PageText()), 5);

  // Other formats have no HTML.
  ASSERT_EQ(Sphinx("text").exit_status, 0);
  EXPECT_THAT(PageText("text/index.txt"), AllOf(HasSubstr("Opens it."), Not(HasSubstr("p50"))));
}

TEST_F(DocsSphinxTest, WritesPagesAgainIfTheCardsChange) {
  PublishAndSync(rows_);
  WriteCards();
  ASSERT_EQ(Sphinx().exit_status, 0);
  const std::string before = PageText();
  ASSERT_EQ(Sphinx().exit_status, 0);
  EXPECT_EQ(PageText(), before);
  // Relative links lead from the HTML directory.
  WriteCards("../costs");
  ASSERT_EQ(Sphinx().exit_status, 0);
  EXPECT_THAT(Described("zlib.crc32"),
              HasSubstr("href=\"../costs/libpython3.11.so.1.0/zlib_crc32.html\""));
  EXPECT_THAT(PageText("html/more/twin.html"),
              AllOf(HasSubstr("href=\"../../costs/liba.so.1/twin.html\""),
                    HasSubstr("href=\"../../costs/libb.so.2/twin.html\"")));
  ASSERT_EQ(Sphinx("dirhtml").exit_status, 0);
  EXPECT_THAT(PageText("dirhtml/more/twin/index.html"),
              HasSubstr("href=\"../../../costs/liba.so.1/twin.html\""));
}

TEST_F(DocsSphinxTest, MissingCardsAreAnErrorThatStatesTheCommand) {
  const testing::ProcessResult made = Sphinx();
  EXPECT_NE(made.exit_status, 0);
  EXPECT_THAT(made.errors, AllOf(HasSubstr("cannot read the cards in"), HasSubstr("index.json"),
                                 HasSubstr("fieldcost docs cards --output")));
  EXPECT_FALSE(std::filesystem::exists(home() / "html" / "index.html"));
}

}  // namespace
}  // namespace fieldcost::cli
