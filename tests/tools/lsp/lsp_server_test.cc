// How the server responds to changed texts, settings, checks and catalogues, and how it ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/tools/lsp/server_fixture.h"
#include "tools/lsp/lsp_server.h"

namespace fieldcost::lsp {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TEST_F(LspServerTest, EditsMoveCostsAlongInUtf16) {
  PublishAndSync(Rows());
  Begin();
  client_->Open(kUri, "c", "int x = 0;\nint y = slow_call();\n");
  EXPECT_THAT(Hints(), ElementsAre("1:17 2.5 ms"));
  // U+1F600 counts as two units.
  Change(R"([{"range": {"start": {"line": 1, "character": 8}, "end": {"line": 1, "character": 8}},
             "text": "/* 😀 */ "},
             {"range": {"start": {"line": 0, "character": 10}, "end": {"line": 1, "character": 0}},
             "text": " "}])");
  EXPECT_THAT(Hints(), ElementsAre("0:37 2.5 ms"));
  EXPECT_THAT(HoverAt(0, 29), StartsWith("`slow_call`"));
  EXPECT_EQ(HoverAt(0, 25), "");
  Change(R"([{"text": "slow_call"}])");
  EXPECT_THAT(HoverAt(0, 0), StartsWith("`slow_call`"));
}

TEST_F(LspServerTest, AnEditThatCannotBeSilencesTheDocumentUntilItIsSentAnew) {
  PublishAndSync(Rows());
  Begin();
  client_->Open(kUri, "c", "int y = slow_call();\n");
  Change(R"([{"range": {"start": {"line": 1, "character": 0}, "end": {"line": 0, "character": 0}},
             "text": "x"}])");
  EXPECT_THAT(Hints(), IsEmpty());
  Change(R"([{"text": "int y = slow_call();"}])");
  EXPECT_THAT(Hints(), ElementsAre("0:17 2.5 ms"));
  Change(R"([{"text": 7}])");
  EXPECT_THAT(Hints(), IsEmpty());
  client_->Notify("textDocument/didClose",
                  json::object{{"textDocument", json::object{{"uri", kUri}}}});
  EXPECT_EQ(HoverAt(0, 10), "");
}

TEST_F(LspServerTest, HalfACharacterInAnEditIsAsLongAsInTheEditor) {
  PublishAndSync(Rows());
  Begin();
  client_->Open(kUri, "c", "int y = slow_call();\n");
  client_->SendJson(R"({"jsonrpc": "2.0", "method": "textDocument/didChange", "params":
      {"textDocument": {"uri": "file:///w/a.c", "version": 2}, "contentChanges": [
       {"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}},
        "text": "/*\ud83d*/"},
       {"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}},
        "text": "/*\udc00\ud83d\ude00 \\ud83d\ud83d\u0041*/"}]}})");
  EXPECT_THAT(Hints(), ElementsAre("0:38 2.5 ms"));
}

TEST_F(LspServerTest, AMessageThatCouldNotBeReadMayHaveBeenAnEdit) {
  PublishAndSync(Rows());
  Begin();
  for (const std::string& lost : {std::string(17 << 20, ' '), std::string("{\"jsonrpc\": 2.")}) {
    client_->Open(kUri, "c", "int y = slow_call();\n");
    EXPECT_THAT(Hints(), ElementsAre("0:17 2.5 ms"));
    client_->SendJson(lost);
    // Hints there would move the text after them.
    EXPECT_THAT(Hints(), IsEmpty());
  }
}

TEST_F(LspServerTest, MarksFindingsOfTheLastCheckOnlyOnRequest) {
  PublishAndSync(Rows());
  std::filesystem::create_directories(home() / "state");
  const auto write = [&](const std::string& verdict) {
    std::ofstream(home() / "state" / "check.json")
        << R"({"format_version": 1, "checked": "2026-11-21 15:00 UTC", "metric": "wall_time", "apis": [
            {"library": "libslow.so.1", "symbol": "slow_call", "version": "1.2-3", "verdict": ")"
        << verdict << R"(", "ratio": 3.1, "cliffs_delta": 0.4, "q": 0.001},
            {"library": "libcv.so.4", "symbol": "_ZN2cv6resizeEd", "version": "", "verdict": ")"
        << verdict << R"(", "ratio": 2, "cliffs_delta": 0.4, "q": 0.001}]})";
  };
  write("more");
  Begin();
  client_->Open(kUri, "cpp", "int x = slow_call();\nint y = cv::resize(2.0) + slow_calls();\n");
  EXPECT_EQ(client_->Result("fieldcost/status", nullptr).at("flagged").to_number<int>(), 0);
  Configure(R"({"diagnostics": {"enabled": true}})");
  constexpr int kMostPublished = 10;
  const auto messages = [&](std::size_t count) {
    std::vector<std::string> texts;
    // C++ names may be indexed slightly later, and the marks are then published again.
    for (int published = 0; published < kMostPublished; ++published) {
      const json::value message = client_->Await("textDocument/publishDiagnostics");
      if (message.is_null()) break;
      texts.clear();
      for (const json::value& one : message.at("params").at("diagnostics").as_array()) {
        texts.push_back(std::to_string(one.at("range").at("start").at("line").as_int64()) + " " +
                        json::value_to<std::string>(one.at("message")));
      }
      if (texts.size() == count) break;
    }
    return texts;
  };
  EXPECT_THAT(messages(2),
              ElementsAre(StartsWith("0 slow_call (libslow.so.1 1.2-3) is worse here"),
                          StartsWith("1 cv::resize(double) (libcv.so.4) is worse here")));
  EXPECT_EQ(client_->Result("fieldcost/status", nullptr).at("flagged").to_number<int>(), 2);
  write("normal ");  // changes the size, in case the file system's clock is coarse
  client_->Result("fieldcost/status", nullptr);
  EXPECT_THAT(messages(0), IsEmpty());
}

TEST_F(LspServerTest, ACatalogueThatASyncHasChangedIsNoticed) {
  PublishAndSync(Rows());
  Begin();
  client_->Open(kUri, "c", "int x = slow_call();");
  EXPECT_THAT(HoverAt(0, 10), HasSubstr("2.5 ms"));
  PublishAndSync({testing::MakeRow("libslow.so.1", "slow_call", 100, 7'000)});
  EXPECT_THAT(HoverAt(0, 10), AllOf(HasSubstr("7.0 µs"), HasSubstr("snapshot 2")));
  EXPECT_TRUE(client_->Await("fieldcost/didChangeStatus").at("params").at("catalog").as_bool());
  std::filesystem::remove(home() / "catalog.db");
  std::filesystem::remove(home() / "catalog.db-wal");
  EXPECT_EQ(HoverAt(0, 10), "");
}

TEST_F(LspServerTest, HintsAreAskedForAgainAfterEachSync) {
  PublishAndSync(Rows());
  Begin();
  client_->Open(kUri, "c", "int x = slow_call();");
  client_->Await("workspace/inlayHint/refresh");  // the C++ names have been indexed
  PublishAndSync({testing::MakeRow("libslow.so.1", "slow_call", 100, 7'000)});
  client_->Result("fieldcost/status", nullptr);
  EXPECT_FALSE(client_->Await("workspace/inlayHint/refresh").is_null());
}

// A server whose index of C++ names never becomes ready.
class WithoutIndexTest : public LspServerTest {
 protected:
  void Handle(const char* text) {
    server_.Handle(ParseMessage(text), std::make_shared<std::atomic<bool>>(false));
  }
  // Opens a document with this text.
  void Open(const std::string& text) {
    Handle(
        R"({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}})");
    const std::string open =
        R"({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument":
            {"uri": "file:///a", "languageId": "cpp", "version": 1, "text": ")" +
        text + "\"}}}";
    Handle(open.c_str());
    sent_.clear();
  }
  void HoverAtCharacter5() {
    Handle(R"({"jsonrpc": "2.0", "id": 2, "method": "textDocument/hover", "params":
               {"textDocument": {"uri": "file:///a"}, "position": {"line": 0, "character": 5}}})");
  }

  std::vector<std::string> sent_;
  Server server_{{.catalog_file = home() / "catalog.db",
                  .check_file = home() / "check.json",
                  .clock = &SystemClock(),
                  .version = "1",
                  .send = [this](std::string_view text) { sent_.emplace_back(text); },
                  .index_names = [] {}}};
};

TEST_F(WithoutIndexTest, NoRequestIsLeftWithoutAnAnswerAtShutdown) {
  PublishAndSync(testing::MakeRows(1100, 5));  // more than kMaxFewNames contain "function"
  Open("a::function();");
  HoverAtCharacter5();
  EXPECT_THAT(sent_, IsEmpty()) << "the names of C++ are not known yet";
  Handle(R"({"jsonrpc": "2.0", "id": 3, "method": "shutdown"})");
  EXPECT_THAT(sent_, ElementsAre(HasSubstr("\"id\":2,\"result\":null"),
                                 HasSubstr("\"id\":3,\"result\":null")));
}

TEST_F(WithoutIndexTest, AHoverReadsTheFewNamesThatContainTheIdentifier) {
  PublishAndSync(Rows());
  Open("cv::resize(1, 2);");
  HoverAtCharacter5();
  EXPECT_THAT(sent_, ElementsAre(::testing::AllOf(HasSubstr("cv::resize(int, int)"),
                                                  HasSubstr("cv::resize(double)"))));
}

TEST_F(WithoutIndexTest, AHoverOnAMemberShowsTheSameCandidates) {
  PublishAndSync(Rows());
  Open("  x.resize(1, 2);");
  HoverAtCharacter5();
  EXPECT_THAT(sent_, ElementsAre(::testing::AllOf(HasSubstr("cv::resize(int, int)"),
                                                  HasSubstr("candidates by name"))));
}

TEST_F(WithoutIndexTest, ANameThatIsMissingIsAnsweredAtOnce) {
  PublishAndSync(Rows());
  Open("cv::missing(1, 2);");
  HoverAtCharacter5();
  EXPECT_THAT(sent_, ElementsAre(HasSubstr("\"id\":2,\"result\":null")));
}

TEST_F(LspServerTest, AnUnchangedCatalogueIsReportedOnce) {
  PublishAndSync(Rows());
  Begin();
  client_->Await("fieldcost/didChangeStatus");
  for (int i = 0; i < 20; ++i) client_->Result("fieldcost/status", nullptr);
  client_->Result("shutdown", nullptr);
  client_->Notify("exit", nullptr);
  int reports = 0;
  for (json::value message = client_->Receive(); !message.is_null(); message = client_->Receive()) {
    ++reports;
  }
  EXPECT_LE(reports, 1);  // a second time once the C++ names have been indexed
  EXPECT_EQ(client_->ExitStatus(), 0);
}

TEST_F(LspServerTest, SettingsAreFetchedFromClientsThatKeepThem) {
  PublishAndSync(Rows());
  Begin("{}", R"({"workspace": {"configuration": true}})");
  client_->Open(kUri, "c", "int x = open_it();");
  EXPECT_THAT(Hints(), IsEmpty());
  const json::value asked = client_->Await("workspace/configuration");
  EXPECT_EQ(asked.at("params").at("items").at(0).at("section").as_string(), "fieldcost");
  client_->SendJson(json::serialize(
      json::object{{"jsonrpc", "2.0"},
                   {"id", asked.at("id")},
                   {"result", Json(R"([{"inlayHints": {"calls": {"minMicroseconds": 1}}}])")}}));
  EXPECT_THAT(Hints(), ElementsAre("0:15 1.5 µs"));
}

}  // namespace
}  // namespace fieldcost::lsp
