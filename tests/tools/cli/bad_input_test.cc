#include <fstream>

#include "common/sqlite/sqlite.h"
#include "tests/tools/cli/catalog_fixture.h"

namespace fieldcost::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::ProcessResult;
using ::testing::StartsWith;

constexpr int kUsage = 64;
constexpr int kDamaged = 65;
constexpr int kNotFound = 66;
constexpr int kUnsupported = 78;

// How reading commands react to invalid catalogues and names.
class BadInputTest : public CatalogCliTest {
 protected:
  const std::vector<std::vector<std::string>> reading_ = {
      {"show", "open_it"},     {"hist", "open_it"},
      {"spectrum", "open_it"}, {"spectrum", "--library", "liba*"},
      {"search", "open"},      {"top"},
      {"top", "--sort", "p99"}};

  std::filesystem::path file() const { return home() / "catalog.db"; }

  void Change(const char* sql) {
    auto database = sqlite::Database::Open(file(), sqlite::Database::Access::kWrite);
    ASSERT_TRUE(database.has_value()) << database.error().message;
    const Status status = database->Execute(sql);
    ASSERT_TRUE(status.has_value()) << status.error().message;
  }

  // Expects that each reading command fails with one line and that status, and with valid JSON.
  void ExpectRefusal(int status, const std::string& code, const std::string& message) {
    for (const std::vector<std::string>& command : reading_) {
      const ProcessResult result = Cli(command);
      EXPECT_EQ(result.exit_status, status) << ::testing::PrintToString(command);
      EXPECT_THAT(result.output, IsEmpty());
      EXPECT_THAT(result.errors, AllOf(StartsWith("fieldcost: "), HasSubstr(message)));
      EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1) << result.errors;
    }
    std::vector<std::string> command = reading_[0];
    command.emplace_back("--json");
    EXPECT_EQ(Json(Cli(command).output, "d['error']"), code + "\n");
  }
};

TEST_F(BadInputTest, WithoutACatalogueTheWayToOneIsNamed) {
  ExpectRefusal(kNotFound, "not_found", "no catalogue yet: run `fieldcost sync`");
}

TEST_F(BadInputTest, NeverReadsUnverifiedFiles) {
  // After a refused sync, the file has no snapshot: there is no catalogue.
  PublishAndSync(rows_);
  Change("DELETE FROM meta WHERE key = 'snapshot_version'");
  ExpectRefusal(kNotFound, "not_found", "no catalogue yet: run `fieldcost sync`");
}

TEST_F(BadInputTest, AnExpiredCatalogueStillServesAndIsMarked) {
  PublishAndSync(rows_);
  Change("UPDATE meta SET value = 1000000000000000 WHERE key = 'snapshot_expires'");
  for (const std::vector<std::string>& command : reading_) {
    const ProcessResult result = Cli(command);
    EXPECT_EQ(result.exit_status, 0) << ::testing::PrintToString(command);
    EXPECT_EQ(result.errors,
              "fieldcost: the local catalogue is out of date since 2001-09-09 01:46 UTC: "
              "fieldcost sync\n");
    EXPECT_THAT(result.output, HasSubstr("open_it"));
  }
  const ProcessResult json = Cli({"show", "open_it", "--json"});
  EXPECT_EQ(Json(json.output, "d['freshness']['expired'], d['freshness']['expires']"),
            "True 2001-09-09 01:46 UTC\n");
  EXPECT_THAT(Cli({"show", "open_it", "--csv"}).output, HasSubstr(",true,false\r\n"));
}

TEST_F(BadInputTest, AFreshCatalogueIsNotCalledExpired) {
  PublishAndSync(rows_);
  const ProcessResult json = Cli({"show", "open_it", "--json"});
  EXPECT_EQ(Json(json.output, "d['freshness']['expired']"), "False\n");
  EXPECT_THAT(json.errors, IsEmpty());
}

TEST_F(BadInputTest, FilesThatAreNotCataloguesAreDamaged) {
  std::filesystem::create_directories(home());
  std::ofstream(file()) << std::string(5000, 'x');
  ExpectRefusal(kDamaged, "corrupt", "remove it and run `fieldcost sync --full`");
}

TEST_F(BadInputTest, RowsThatDoNotDecodeAreDamage) {
  PublishAndSync(rows_);
  Change("UPDATE apis SET rows = x'28b52ffd00'");
  ExpectRefusal(kDamaged, "corrupt", "remove it and run `fieldcost sync --full`");
}

TEST_F(BadInputTest, AllThatReadsRowsNamesTheWayOutOfDamage) {
  PublishAndSync(rows_);
  Change("UPDATE apis SET rows = x'28b52ffd00'");
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"diff", "liba"},
           {"report", "vendor", "--library", "liba"},
           {"docs", "cards", "--output", (home() / "cards").string()},
           {"man", "open_it", "--roff"}}) {
    const ProcessResult result = Cli(command);
    EXPECT_EQ(result.exit_status, kDamaged) << ::testing::PrintToString(command);
    EXPECT_THAT(result.errors, HasSubstr("remove it and run `fieldcost sync --full`"));
  }
}

TEST_F(BadInputTest, ATruncatedFileIsDamaged) {
  PublishAndSync(testing::MakeRows(400, 1000));
  Change("PRAGMA wal_checkpoint(TRUNCATE)");
  std::filesystem::resize_file(file(), 8192);
  const ProcessResult result = Cli({"top"});
  EXPECT_EQ(result.exit_status, kDamaged);
  EXPECT_THAT(result.errors, HasSubstr("remove it and run `fieldcost sync --full`"));
}

TEST_F(BadInputTest, ACatalogueOfANewerProgramIsRefusedWithTheWayOut) {
  PublishAndSync(rows_);
  Change("PRAGMA user_version=99");
  ExpectRefusal(kUnsupported, "unsupported", "remove the file and run `fieldcost sync`");
}

TEST_F(BadInputTest, UnknownAndAmbiguousNamesAreAnsweredWithNames) {
  PublishAndSync(rows_);
  for (const char* command : {"show", "hist", "spectrum"}) {
    const ProcessResult typo = Cli({command, "opn_it"});
    EXPECT_EQ(typo.exit_status, kNotFound);
    EXPECT_EQ(typo.errors,
              "fieldcost: no measurements of opn_it; did you mean liba.so.1!open_it?\n");
    const ProcessResult twin = Cli({command, "twin"});
    EXPECT_EQ(twin.exit_status, kUsage);
    EXPECT_EQ(twin.errors,
              "fieldcost: twin is in several libraries; choose one: liba.so.1!twin, "
              "libb.so.2!twin\n");
  }
  const ProcessResult far = Cli({"show", "completely_different"});
  EXPECT_EQ(far.errors, "fieldcost: no measurements of completely_different\n");
}

TEST_F(BadInputTest, NamesFromTheCommandLineSteerNoTerminal) {
  PublishAndSync(rows_);
  const std::string hostile = "\x1b]0;owned\x07\n\xff";
  for (const char* command : {"show", "hist", "spectrum", "search"}) {
    const ProcessResult result = Cli({command, hostile});
    EXPECT_EQ(result.exit_status, kNotFound);
    EXPECT_THAT(result.errors, AllOf(HasSubstr("\\x1b]0;owned\\x07\\x0a"), Not(HasSubstr("\x1b"))));
    EXPECT_EQ(Json(Cli({command, hostile, "--json"}).output, "d['error']"), "not_found\n");
  }
  EXPECT_THAT(Cli({"show", "\x1b!"}).errors, HasSubstr("'\\x1b!' is neither"));
  // Text that was escaped when the error was created is not escaped again.
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"diff", hostile}, {"docs", "cards", "--output", "x", "--library", hostile}}) {
    EXPECT_THAT(Cli(command).errors,
                AllOf(HasSubstr("\\x1b]0;owned\\x07\\x0a"), Not(HasSubstr("x5c"))));
  }
}

TEST_F(BadInputTest, JsonIsUtf8ForAnyName) {
  PublishAndSync(rows_);
  // Overlong, a surrogate, above U+10FFFF, cut short.
  for (const std::string bad : {"\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                                "\xf5\x80\x80\x80", "\xf0\x8f\x80\x80", "\xe2\x82"}) {
    EXPECT_THAT(Cli({"show", bad, "--json"}).output,
                AllOf(HasSubstr(R"(no measurements of \ufffd\ufffd)"), Not(HasSubstr(bad))));
  }
  EXPECT_THAT(Cli({"show", "µ€𝄞", "--json"}).output, HasSubstr("no measurements of µ€𝄞"));
}

TEST_F(BadInputTest, AReportStatesUntilWhenItsCatalogueIsValid) {
  PublishAndSync(rows_);
  Change("UPDATE meta SET value = 1000000000000000 WHERE key = 'snapshot_expires'");
  const ProcessResult page = Cli({"report", "vendor", "--library", "liba", "--html", "-"});
  EXPECT_EQ(page.exit_status, 0);
  EXPECT_THAT(page.output, HasSubstr("<dt>Valid until</dt><dd>2001-09-09 01:46 UTC</dd>"));
}

TEST_F(BadInputTest, HostileNamesInTheCatalogueAreOnlyText) {
  const std::string markup = "A<\"><img/src=x>";
  const std::string formula = "=cmd|'/C,calc'!A0";
  PublishAndSync({testing::MakeRow("liba.so.1", markup, 3, 100),
                  testing::MakeRow("libz.so.1", formula, 2, 50)});
  const ProcessResult show = Cli({"show", markup});
  EXPECT_EQ(show.exit_status, 0) << show.errors;
  EXPECT_THAT(show.output, StartsWith("liba.so.1!" + markup));
  EXPECT_EQ(Json(Cli({"search", "img", "--json"}).output, "d['rows'][0]['symbol']"), markup + "\n");
  const std::string csv = Cli({"top", "--csv"}).output;
  EXPECT_THAT(csv,
              AllOf(HasSubstr(",\"A<\"\"><img/src=x>\","), HasSubstr(",\"'=cmd|'/C,calc'!A0\",")));
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"top"}, {"spectrum", markup}, {"hist", markup}}) {
    EXPECT_THAT(Cli(command).output, HasSubstr("A<\"><img"));
  }
}

TEST_F(BadInputTest, EscapesTerminalControlsInNamesOfTheFile) {
  // Rows cannot contain such names (the decoder refuses them), but the file's index can.
  PublishAndSync(rows_);
  Change("UPDATE apis SET symbol = 'open_' || char(27) || '[2J' WHERE symbol = 'open_it'");
  const ProcessResult typo = Cli({"show", "open_"});
  EXPECT_EQ(typo.exit_status, kNotFound);
  EXPECT_THAT(typo.errors, AllOf(HasSubstr("open_\\x1b[2J"), Not(HasSubstr("\x1b"))));
  EXPECT_THAT(Cli({"search", "open"}).output, Not(HasSubstr("\x1b")));
  EXPECT_THAT(Cli({"__complete", "show", "open"}).output, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace fieldcost::cli
