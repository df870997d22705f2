// A new user's day: what volunteers, designers, vendors and operators do first, with the real
// programs, on a terminal of 80 columns. All typed words have been shown before, by --help or by
// output, so that users need not open a document.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "common/draw/terminal.h"
#include "tests/support/binary_dir.h"
#include "tests/support/demo_catalog.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/lsp/lsp_client.h"

namespace fieldcost::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::size_t kColumns = 80;
constexpr char kBin[] = FIELDCOST_BINARY_DIR "/bin/";
const std::string kVictim = FIELDCOST_BINARY_DIR "/victims/victim";
const std::string kZlibCalls = FIELDCOST_BINARY_DIR "/victims/zlib_calls";
using Words = std::vector<std::string>;
// The short run under a sanitizer does not build what measures programs exactly.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kMeasures = false;
#else
constexpr bool kMeasures = true;
#endif

std::string TextOf(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Joins lines that were wrapped at blanks to fit the terminal.
std::string OnOneLine(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

class UserDayTest : public ::testing::Test {
 protected:
  // Records the number of commands for a task, and of words that nothing had shown before.
  ~UserDayTest() override {
    RecordProperty("commands", commands_);
    RecordProperty("documents", documents_);
  }

  // Types a line, and `answers` to what it asks; returns what the terminal shows afterwards.
  std::string Type(const std::string& program, Words words, int status,
                   const std::string& answers = "") {
    ++commands_;
    ExpectKnown(words);
    Words command = {"python3", FIELDCOST_CLI_TEST_DIR "/in_terminal.py"};
    if (!answers.empty()) command.insert(command.end(), {"--type", answers, "--prompt", "[y/N] "});
    command.insert(command.end(), {"50", std::to_string(kColumns), kBin + program});
    command.insert(command.end(), words.begin(), words.end());
    const ProcessResult result = RunProcess({.arguments = std::move(command),
                                             .environment = Environment(),
                                             .unset = {"NO_COLOR", "FIELDCOST_PAGER", "LD_PRELOAD",
                                                       "FIELDCOST_QUIET", "FIELDCOST_PICK"}});
    const std::string line = ::testing::PrintToString(words);
    EXPECT_EQ(result.exit_status, status) << line << "\n" << result.output << result.errors;
    std::istringstream lines(result.output);
    for (std::string text; std::getline(lines, text);) {
      std::string last = text.substr(text.rfind('\r') + 1);  // as progress is shown
      // Independent of the length of the test's directory.
      for (std::size_t at; (at = last.find(directory_.path().string())) != std::string::npos;) {
        last.replace(at, directory_.path().string().size(), "/srv");
      }
      EXPECT_LE(draw::PlainWidth(last), kColumns) << line << "\n" << text;
    }
    shown_ += result.output;
    return result.output;
  }
  std::string Fieldcost(Words words, int status = 0) {
    return Type("fieldcost", std::move(words), status);
  }
  std::string Aggregator(Words words, int status = 0) {
    return Type("fieldcost-aggregator", std::move(words), status);
  }

  std::filesystem::path Below(const std::string& name) const { return directory_.path() / name; }
  // Begins with another user: nothing has been shown yet.
  void NextUser() { shown_.clear(); }

  const TempDir directory_;
  std::filesystem::path home_ = directory_.path() / "home";
  std::vector<std::pair<std::string, std::string>> more_variables_;

 private:
  std::vector<std::pair<std::string, std::string>> Environment() const {
    std::vector<std::pair<std::string, std::string>> variables = {
        {"FIELDCOST_HOME", home_.string()},
        {"LC_ALL", "C.UTF-8"},
        {"TERM", "xterm"},
        {"PAGER", "cat"},
        // Profiles of shells, and no service manager of this user.
        {"HOME", home_.string()},
        {"XDG_CONFIG_HOME", ""},
        {"XDG_RUNTIME_DIR", directory_.path().string()}};
    variables.insert(variables.end(), more_variables_.begin(), more_variables_.end());
    return variables;
  }
  // Every user knows --help. Commands, which come first, and options must have been shown.
  void ExpectKnown(const Words& words) {
    static const std::set<std::string> kGroups = {"agent", "docs", "report"};
    for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
      const bool is_option = words[i].starts_with("-") && words[i] != "--help";
      const bool is_command =
          !words[i].starts_with("-") && (i == 0 || (i == 1 && kGroups.contains(words[0])));
      if (!is_option && !is_command) continue;
      if (words[i] == kMistyped || shown_.find(words[i]) != std::string::npos) continue;
      ++documents_;
      ADD_FAILURE() << "where does one learn of " << words[i] << "?";
    }
  }

 protected:
  static constexpr char kMistyped[] = "shwo";

 private:
  std::string shown_;
  int commands_ = 0;
  int documents_ = 0;
};

TEST_F(UserDayTest, AVolunteerJoinsLooksAndLeaves) {
  const std::string service = Below("service").string();
  ASSERT_EQ(RunProcess({.arguments = {std::string(kBin) + "fieldcost-aggregator", "init", "--dir",
                                      service, "--host", "localhost", "--port", "0", "--admin-port",
                                      "0", "--open", "--operator", "Example"}})
                .exit_status,
            0);
  BackgroundProcess server({.arguments = {std::string(kBin) + "fieldcost-aggregator", "--config",
                                          service + "/aggregator.toml"}});
  ASSERT_TRUE(server.WaitForLine("listening on https://"));
  std::filesystem::create_directory(home_);

  Fieldcost({"--help"});
  EXPECT_THAT(Fieldcost({"run", "--", kVictim, "alloc"}), HasSubstr("fieldcost agent local|on"));
  EXPECT_THAT(Fieldcost({"agent", "local"}), HasSubstr("fieldcost top --local"));
  // The very first run shows results: it calls so many functions of public libraries that some of
  // the randomly drawn ones are called.
  EXPECT_THAT(Fieldcost({"run", "--", "python3", "-c", "pass"}), HasSubstr("TOTAL"));
  EXPECT_THAT(Fieldcost({"top", "--local"}), AllOf(HasSubstr("API"), HasSubstr("on request")));
  EXPECT_THAT(Fieldcost({"show", "victim_allocate"}, 66), HasSubstr("add --local"));
  EXPECT_THAT(Fieldcost({"agent", "--help"}), AllOf(HasSubstr("pause"), HasSubstr("join")));
  EXPECT_THAT(Fieldcost({"agent", "join", "--help"}), HasSubstr("--ca-file"));
  std::string url = TextOf(service + "/address");
  url.pop_back();
  EXPECT_THAT(Type("fieldcost", {"agent", "join", url, "--ca-file", service + "/ca.pem"}, 0, "y\n"),
              AllOf(HasSubstr("operator      Example"), HasSubstr("\njoined\n"),
                    HasSubstr("fieldcost agent status"), HasSubstr("fieldcost agent leave")));
  EXPECT_THAT(Fieldcost({"agent", "status"}),
              AllOf(HasSubstr("mode                on since "), HasSubstr(url),
                    HasSubstr("missing             daemon: "), HasSubstr("next check in ")));
  EXPECT_THAT(Fieldcost({"agent", "pause"}), HasSubstr("fieldcost agent resume"));
  EXPECT_THAT(Fieldcost({"agent", "resume"}), HasSubstr("the mode is on"));
  EXPECT_THAT(Fieldcost({"agent", "leave"}), HasSubstr("\nleft"));
  EXPECT_THAT(Fieldcost({"agent", "status"}), HasSubstr("mode                local"));
  EXPECT_THAT(Fieldcost({"agent", "forget", "--local", "--yes"}), HasSubstr("erased"));
  EXPECT_THAT(Fieldcost({"top", "--local"}), HasSubstr("Nothing has been measured yet"));
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait().exit_status, 0);
}

// Uses the catalogue of the synthetic fleet.
class UserDayWithCatalogTest : public UserDayTest {
 protected:
  void SetUp() override {
    ASSERT_EQ(demo_.error(), "");
    home_ = demo_.home();
  }
  void ADesignerFindsWhatACallCosts();
  void LooksInAnEditor();
  void AVendorReadsTheRegressionFirst();

  const DemoCatalog demo_{directory_.path(), {.agents = 90}};
};

// A hover and a completion, as an editor requests them.
void UserDayWithCatalogTest::LooksInAnEditor() {
  namespace json = boost::json;
  constexpr char kUri[] = "file:///w/a.cc";
  lsp::LspClient editor(home_);
  editor.Start();
  editor.Open(kUri, "cpp", "x = Json::Reader::parse(text);\nJson::Rea\n");
  const auto at = [&](int line, int character) {
    return json::object{{"textDocument", json::object{{"uri", kUri}}},
                        {"position", json::object{{"line", line}, {"character", character}}}};
  };
  EXPECT_THAT(json::serialize(editor.Result("textDocument/hover", at(0, 20))),
              AllOf(HasSubstr("Json::Reader::parse"), HasSubstr("typically")));
  EXPECT_THAT(json::serialize(editor.Result("textDocument/completion", at(1, 9))),
              HasSubstr("\"label\":\"Json::Reader::parse\""));
}

void UserDayWithCatalogTest::ADesignerFindsWhatACallCosts() {
  Fieldcost({"--help"});
  EXPECT_THAT(Fieldcost({"search", "parse"}), HasSubstr("::Reader::parse"));
  EXPECT_THAT(Fieldcost({"show", "Json::Reader::parse"}), HasSubstr("wall_time"));
  EXPECT_THAT(Fieldcost({"show", "Json::Reader::pasre"}, 66), HasSubstr("Json::Reader::parse?"));
  EXPECT_THAT(Fieldcost({kMistyped, "deflate"}, 64), HasSubstr("did you mean show?"));
  Fieldcost({"show", "--help"});
  EXPECT_THAT(Fieldcost({"show", "deflate", "--of-version", "9"}, 66),
              AllOf(HasSubstr("no version 9 of deflate"), HasSubstr("1.3.1+synthetic")));
  Fieldcost({"top", "--help"});
  EXPECT_THAT(Fieldcost({"top", "--library", "zlib"}, 66), HasSubstr("did you mean libz.so.1?"));
  EXPECT_THAT(Fieldcost({"top", "--library", "libz"}),
              AllOf(HasSubstr("deflate"), Not(HasSubstr("sqlite3"))));
  more_variables_ = {{"BROWSER", "echo"}};
  EXPECT_THAT(Fieldcost({"show", "deflate", "--open"}), ContainsRegex("file://.*deflate.html"));
  Fieldcost({"check", "--help"});
  if (kMeasures) {
    // Each call gets half a megabyte, more than those of other programs.
    EXPECT_THAT(
        Fieldcost({"check", "--rounds", "1", "--", kZlibCalls, "adler32", "110", "524288"}, 1),
        AllOf(ContainsRegex("! worse than the field: 1[^\n]*\n[^\n]*API[^\n]*\n[^\n]*adler32"),
              HasSubstr("zlib_calls!Often")));
  } else {
    EXPECT_THAT(Fieldcost({"check", demo_.profile().string()}, 1), HasSubstr("! worse"));
  }
  // Completion, as a shell's script requests it.
  EXPECT_THAT(demo_.Fieldcost({"__complete", "show", "Json::Reader::pa"}).output,
              HasSubstr("Json::Reader::parse\t"));
  LooksInAnEditor();
}

void UserDayWithCatalogTest::AVendorReadsTheRegressionFirst() {
  Fieldcost({"--help"});
  Fieldcost({"report", "--help"});
  Fieldcost({"report", "vendor", "--help"});
  const std::string report = Below("zlib.html").string();
  Fieldcost({"report", "vendor", "--library", "libz", "--html", report});
  EXPECT_THAT(TextOf(report),
              ContainsRegex("class=\"lead\">1 regression: deflateInit_ is [0-9.]+ × slower"));
  Fieldcost({"diff", "--help"});
  EXPECT_THAT(
      Fieldcost({"diff", "libz"}, 1),
      ContainsRegex("^libz.so.1: [^\n]*\n1 of [0-9]+ APIs is slower, [0-9]+ (is|are) faster; most: "
                    "deflateInit_, [0-9.]+ × slower"));
  Fieldcost({"docs", "--help"});
  Fieldcost({"docs", "site", "--help"});
  Fieldcost({"docs", "site", Below("site").string(), "--library", "libz.so.1"});
  EXPECT_THAT(TextOf(Below("site/libz.so.1/deflateInit_.html")), HasSubstr("deflateInit_"));
  if (!kMeasures) return;
  Fieldcost({"measure", "--help"});
  const std::string budget = Below("budget.toml").string();
  std::ofstream(budget) << "[[function]]\nname = \"libz.so.1!adler32\"\ncalls = 10\n";
  EXPECT_THAT(Fieldcost({"measure", "--rounds", "1", "--apis", "libz.so.1!adler32", "--require",
                         budget, "--", kZlibCalls, "adler32", "20", "100"},
                        1),
              ContainsRegex("violated +adler32 .*calls ≤ 10 +20"));
}

TEST_F(UserDayWithCatalogTest, ADesignerAndAVendorFindTheirAnswers) {
  ADesignerFindsWhatACallCosts();
  NextUser();
  AVendorReadsTheRegressionFirst();
}

TEST_F(UserDayTest, AnOperatorChecksBeforeStarting) {
  Aggregator({"--help"});
  Aggregator({"serve", "--help"});
  Aggregator({"init", "--help"});
  const std::string service = Below("service").string();
  EXPECT_THAT(Aggregator({"init", "--dir", service, "--host", "localhost", "--port", "0",
                          "--admin-port", "0"}),
              AllOf(HasSubstr("made: "), HasSubstr("--check-config")));
  const std::string config = service + "/aggregator.toml";
  const std::string good = TextOf(config);
  EXPECT_THAT(Aggregator({"--check-config", "--config", config}), HasSubstr(": OK"));
  std::string broken = good;
  broken.replace(broken.find("port ="), 4, "prot");
  std::ofstream(config) << broken;
  EXPECT_THAT(
      OnOneLine(Aggregator({"--check-config", "--config", config}, 64)),
      ContainsRegex("aggregator.toml:[0-9]+:[0-9]+: [a-z]+.prot: unknown key; the nearest known "
                    "one is [a-z]+.port"));
  std::ofstream(config) << good;
  EXPECT_THAT(Aggregator({"--check-config", "--config", config}), HasSubstr(": OK"));

  // A fleet to explore, served at a free port.
  Aggregator({"demo", "--help"});
  const std::string demo = Below("demo").string();
  EXPECT_THAT(
      Aggregator({"demo", "--data", demo, "--agents", "60"}),
      AllOf(HasSubstr("fieldcost-aggregator serve --config"), HasSubstr("fieldcost sync --full")));
  BackgroundProcess server({.arguments = {std::string(kBin) + "fieldcost-aggregator", "serve",
                                          "--config", demo + "/aggregator.toml"}});
  ASSERT_TRUE(server.WaitForLine("listening on https://"));
  home_ = demo + "/home";
  EXPECT_THAT(Fieldcost({"sync", "--full"}), HasSubstr("4 of 4"));
  EXPECT_THAT(Fieldcost({"top"}), HasSubstr("SYNTHETIC"));
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait().exit_status, 0);
}

}  // namespace
}  // namespace fieldcost::testing
