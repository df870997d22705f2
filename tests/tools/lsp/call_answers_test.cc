// Signature help and the inlay hints of the current line, with the real program and a synced
// catalogue.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/lsp/server_fixture.h"

namespace fieldcost::lsp {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class CallAnswersTest : public LspServerTest {
 protected:
  // "label: documentation"; "" if none.
  std::string SignatureAt(int line, int character, const char* uri = kUri) {
    const json::value result =
        client_->Result("textDocument/signatureHelp", At(uri, line, character));
    if (!result.is_object()) return "";
    const json::value& signature = result.at("signatures").at(0);
    return json::value_to<std::string>(signature.at("label")) + ": " +
           json::value_to<std::string>(signature.at("documentation").at("value"));
  }
  void MoveCursor(int line) { client_->Notify("fieldcost/didMoveCursor", At(kUri, line, 2)); }
};

TEST_F(CallAnswersTest, SignatureHelpDocumentsTheCallAroundTheCursorWithItsCost) {
  PublishAndSync(Rows());
  Begin();
  client_->Open(kUri, "c", "int f(void) {\n  return slow_call(open_it(1), \n}\nint g(int a);\n");
  EXPECT_THAT(SignatureAt(1, 19), StartsWith("slow_call(…): slow_call: typically 2.5 ms a call\n"));
  EXPECT_THAT(SignatureAt(1, 28), StartsWith("open_it(…): open_it: typically 1.5 µs a call\n"));
  EXPECT_THAT(SignatureAt(1, 31), StartsWith("slow_call(…): "));
  EXPECT_EQ(SignatureAt(0, 3), "") << "no call";
  EXPECT_EQ(SignatureAt(3, 7), "") << "not in the catalogue";
  client_->Open("file:///w/b.cc", "cpp", "int x = cv::resize(1, 2);");
  // Waits for the C++ names.
  EXPECT_THAT(SignatureAt(0, 22, "file:///w/b.cc"),
              AllOf(StartsWith("cv::resize("), HasSubstr("also cv::resize(")));
  Configure(R"({"signatureHelp": {"enabled": false}})");
  EXPECT_EQ(SignatureAt(1, 19), "");
}

TEST_F(CallAnswersTest, SignaturesAreMarkdownWhereTheClientReadsIt) {
  PublishAndSync(Rows(), true);
  Begin("{}", R"({"textDocument": {"signatureHelp": {"signatureInformation":
                   {"documentationFormat": ["markdown"]}}}})");
  client_->Open(kUri, "c", "int f(void) { return slow_call(1); }\n");
  EXPECT_THAT(SignatureAt(0, 31),
              AllOf(StartsWith("slow_call(…): `slow_call`: typically **2.5 ms** a call\n"),
                    HasSubstr("**SYNTHETIC**")));
}

TEST_F(CallAnswersTest, TheCurrentLineHasAHintForEveryCallWithAKnownCost) {
  PublishAndSync(Rows());
  Begin();
  client_->Open(kUri, "c", "int f() {\n  open_it(slow_call());\n  open_it_again(other());\n}\n");
  EXPECT_THAT(Hints(), ElementsAre("1:19 2.5 ms"));
  MoveCursor(1);
  client_->Await("workspace/inlayHint/refresh");
  EXPECT_THAT(Hints(), ElementsAre("1:9 1.5 µs", "1:19 2.5 ms"));
  MoveCursor(2);
  client_->Await("workspace/inlayHint/refresh");
  EXPECT_THAT(Hints(), ElementsAre("1:19 2.5 ms", "2:15 900 ns"));
  Configure(R"({"inlayHints": {"currentLine": {"enabled": false}}})");
  client_->Await("workspace/inlayHint/refresh");
  EXPECT_THAT(Hints(), ElementsAre("1:19 2.5 ms"));
}

TEST_F(CallAnswersTest, AnEditedLineIsTheCurrentOne) {
  PublishAndSync(Rows());
  Begin();
  client_->Open(kUri, "c", "int f() {\n  open_it();\n}\n");
  EXPECT_THAT(Hints(), IsEmpty());
  Change(R"([{"range": {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 0}},
             "text": "  open_it();\n  open_it_again();"}])");
  EXPECT_THAT(Hints(), ElementsAre("2:15 900 ns", "2:27 1.5 µs"));
  Change(R"([{"text": "int f() { open_it(); }"}])");
  EXPECT_THAT(Hints(), IsEmpty()) << "the whole text was replaced: the line is unknown";
  MoveCursor(0);
  EXPECT_THAT(Hints(), ElementsAre("0:17 1.5 µs"));
}

TEST_F(CallAnswersTest, ACursorInAnUnknownDocumentOrBeyondItsEndIsIgnored) {
  PublishAndSync(Rows());
  Begin();
  MoveCursor(0);
  client_->Open(kUri, "c", "int f() { open_it(); }");
  for (const int line : {7, 2'147'483'647}) MoveCursor(line);
  client_->Notify("fieldcost/didMoveCursor", Json("{}"));
  EXPECT_THAT(Hints(), IsEmpty());
}

}  // namespace
}  // namespace fieldcost::lsp
