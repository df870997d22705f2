// What users see of the synthetic fleet: the real programs from `demo` to documentation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "tests/support/binary_dir.h"
#include "tests/support/demo_catalog.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::testing {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string TextOf(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// One catalogue for all tests, because creating it takes seconds.
class DemoCatalogTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    directory_ = std::make_unique<TempDir>();
    demo_ = std::make_unique<DemoCatalog>(directory_->path());
  }
  static void TearDownTestSuite() {
    demo_.reset();
    directory_.reset();
  }
  void SetUp() override { ASSERT_EQ(demo_->error(), ""); }

  static std::filesystem::path Below(const std::string& name) { return directory_->path() / name; }

  static std::unique_ptr<TempDir> directory_;
  static std::unique_ptr<DemoCatalog> demo_;
};

std::unique_ptr<TempDir> DemoCatalogTest::directory_;
std::unique_ptr<DemoCatalog> DemoCatalogTest::demo_;

TEST_F(DemoCatalogTest, EveryCommandMarksItAsSynthetic) {
  const std::vector<std::vector<std::string>> commands = {
      {"top"},
      {"show", "sqlite3_step"},
      {"hist", "sqlite3_step"},
      {"spectrum", "--library", "libz.so.1"},
      {"search", "inflate"},
      {"check", demo_->profile().string()},
      {"diff", "libz.so.1"},
      {"report", "vendor", "--library", "libz.so.1"},
      {"docs", "cards", "--output", Below("labels").string()},
      {"man", "sqlite3_step", "--roff"},
  };
  for (const std::vector<std::string>& command : commands) {
    const ProcessResult text = demo_->Fieldcost(command);
    EXPECT_THAT(text.output, AllOf(HasSubstr("SYNTHETIC"), HasSubstr("made-up")))
        << command[0] << text.errors;
    std::vector<std::string> with_json = command;
    with_json.push_back("--json");
    const ProcessResult json = demo_->Fieldcost(with_json);
    EXPECT_THAT(json.output, HasSubstr("\"synthetic\":true")) << command[0] << json.errors;
  }
}

TEST_F(DemoCatalogTest, CardsShowTheNewestVersionAndSaySynthetic) {
  const auto cards = Below("cards");
  const ProcessResult made =
      demo_->Fieldcost({"docs", "cards", "--output", cards.string(), "--library", "libz.so.1"});
  ASSERT_EQ(made.exit_status, 0) << made.errors;
  EXPECT_THAT(made.output, HasSubstr("12 cards in "));
  for (const char* suffix : {".light.svg", ".dark.svg", ".html", ".md"}) {
    EXPECT_THAT(TextOf(cards / "libz.so.1" / (std::string("inflate") + suffix)),
                AllOf(HasSubstr("SYNTHETIC: made"), HasSubstr("p50"),
                      AnyOf(HasSubstr("1.3.1"), HasSubstr("1\\.3\\.1"))))
        << suffix;
  }
  EXPECT_THAT(TextOf(cards / "libz.so.1" / "inflate.html"), HasSubstr("1.2.13+synthetic"));
}

TEST_F(DemoCatalogTest, DoxygenPagesOfZlibsOwnHeaderGetCards) {
  const auto work = Below("doxygen");
  std::filesystem::create_directory(work);
  ASSERT_TRUE(std::filesystem::exists("/usr/include/zlib.h")) << "install zlib1g-dev";
  std::ofstream(work / "Doxyfile")
      << "PROJECT_NAME = zlib\nINPUT = /usr/include/zlib.h\nOUTPUT_DIRECTORY = .\n"
         "GENERATE_LATEX = NO\nHAVE_DOT = NO\nEXTRACT_ALL = YES\nMACRO_EXPANSION = YES\n"
         "EXPAND_ONLY_PREDEF = YES\nPREDEFINED = \"OF(x)=x\" ZEXTERN= ZEXPORT=\n"
         "GENERATE_TAGFILE = zlib.tag\nQUIET = YES\nWARNINGS = NO\nOPTIMIZE_OUTPUT_FOR_C = YES\n";
  const ProcessResult doxygen =
      RunProcess({.arguments = {"doxygen", "Doxyfile"}, .directory = work});
  ASSERT_EQ(doxygen.exit_status, 0) << doxygen.errors << "install doxygen";
  const auto page = work / "html" / "zlib_8h.html";
  const std::string before = TextOf(page);

  const std::vector<std::string> command = {"docs",
                                            "doxygen",
                                            (work / "html").string(),
                                            "--tag-file",
                                            (work / "zlib.tag").string(),
                                            "--library",
                                            "libz.so.*",
                                            "--url",
                                            "https://costs.example/api/{soname}!{symbol}",
                                            "--json"};
  const ProcessResult made = demo_->Fieldcost(command);
  ASSERT_EQ(made.exit_status, 0) << made.errors << made.output;
  const boost::json::value counts = boost::json::parse(made.output);
  // All functions of the catalogue except those that the header defines as macros.
  EXPECT_GE(counts.at("found").as_int64(), 8);
  EXPECT_EQ(counts.at("cards"), counts.at("found"));
  EXPECT_EQ(counts.at("pages").as_int64(), 1);

  const std::string after = TextOf(page);
  const std::size_t title = after.find("</a></span>inflate()</h2>");
  ASSERT_NE(title, std::string::npos);
  const std::size_t next = after.find("class=\"memtitle\"", title);
  EXPECT_THAT(after.substr(title, next - title),
              AllOf(HasSubstr("aria-label=\"Cost of libz.so.1!inflate\""),
                    HasSubstr("SYNTHETIC: made-up data"), HasSubstr("<svg role=\"img\""),
                    HasSubstr("href=\"https://costs.example/api/libz.so.1!inflate\"")));
  EXPECT_GT(after.size(), before.size());
  // Running it again gives the same bytes.
  ASSERT_EQ(demo_->Fieldcost(command).exit_status, 0);
  EXPECT_EQ(TextOf(page), after);
}

TEST_F(DemoCatalogTest, ManualPagesEndWithTheCost) {
  const auto manual = Below("manual");
  std::filesystem::create_directories(manual / "man3");
  std::ofstream(manual / "man3" / "sqlite3_step.3")
      << ".TH SQLITE3_STEP 3\n.SH NAME\nsqlite3_step \\- evaluate a statement\n"
         ".SH SYNOPSIS\nint sqlite3_step(sqlite3_stmt*);\n";
  std::ofstream(manual / "man3" / "crc32.3")
      << ".Dd May 1, 2026\n.Dt CRC32 3\n.Os\n.Sh NAME\n.Nm crc32\n.Nd a checksum\n";
  const auto man = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {FIELDCOST_BINARY_DIR "/bin/fieldcost", "man"});
    return RunProcess({.arguments = std::move(arguments),
                       .environment = {{"FIELDCOST_HOME", demo_->home().string()},
                                       {"MANPATH", manual.string()},
                                       {"MANPAGER", "cat"},
                                       {"LC_ALL", "C.UTF-8"}},
                       .unset = {"MANOPT"}});
  };
  const ProcessResult shown = man({"sqlite3_step"});
  ASSERT_EQ(shown.exit_status, 0) << shown.errors << "install man-db and groff-base";
  EXPECT_THAT(shown.output,
              AllOf(HasSubstr("evaluate a statement"), HasSubstr("COST"), HasSubstr("p50"),
                    HasSubstr("3.46.1+synthetic"), HasSubstr("SYNTHETIC: made-up data")));
  EXPECT_LT(shown.output.find("SYNOPSIS"), shown.output.find("COST"));

  EXPECT_THAT(man({"crc32", "--roff"}).output,
              AllOf(HasSubstr(".Nd a checksum"), HasSubstr("\n.Sh COST\n"), Not(HasSubstr(".SH"))));
  EXPECT_THAT(man({"crc32"}).output, AllOf(HasSubstr("a checksum"), HasSubstr("COST")));
  // Without an existing page, only the section is shown.
  EXPECT_THAT(man({"adler32", "--roff"}).output,
              AllOf(HasSubstr(".TH \"adler32\" 3\n"), HasSubstr("\n.SH COST\n")));
  EXPECT_THAT(man({"adler32"}).output, AllOf(HasSubstr("COST"), HasSubstr("p95")));
}

}  // namespace
}  // namespace fieldcost::testing
