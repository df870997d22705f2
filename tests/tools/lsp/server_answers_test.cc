// Responses about positions in documents, with the real program and a synced catalogue.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/lsp/server_fixture.h"

namespace fieldcost::lsp {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

TEST_F(LspServerTest, AHoverShowsCostStrataAndFreshnessInMarkdownOrPlain) {
  PublishAndSync(Rows());
  Begin(R"({"drillDown": {"url": "https://costs.example/api/{api}"}})");
  client_->Open(kUri, "c", "void f(void) {\n  open_it(1);\n}\n");
  EXPECT_THAT(HoverAt(1, 4),
              AllOf(StartsWith("`open_it`: typically **1.5 µs** a call"), HasSubstr("- p99 1.5 µs"),
                    HasSubstr("n = 300 calls"), HasSubstr("all classes, all weeks"),
                    HasSubstr("snapshot 1, published"), Not(HasSubstr("SYNTHETIC")),
                    HasSubstr("[Details](https://costs.example/api/libfast.so.1!open_it)")));
  const json::value range = client_->Result("textDocument/hover", At(kUri, 1, 9)).at("range");
  EXPECT_EQ(json::serialize(range),
            R"({"start":{"line":1,"character":2},"end":{"line":1,"character":9}})");
  EXPECT_EQ(HoverAt(1, 11), "");
  EXPECT_EQ(HoverAt(2, 0), "");
  Begin("{}", "{}");
  client_->Open(kUri, "c", "void f(void) {\n  open_it(1);\n}\n");
  EXPECT_THAT(HoverAt(1, 4), StartsWith("open_it: typically 1.5 µs a call\n"));
}

TEST_F(LspServerTest, ASyntheticCatalogueIsLabelledEverywhere) {
  PublishAndSync(Rows(), true);
  Begin();
  client_->Open(kUri, "c", "void f(void) {\n  slow_call(1);\n}\n");
  EXPECT_THAT(HoverAt(1, 4), HasSubstr("**SYNTHETIC**"));
  EXPECT_THAT(Hints(), ElementsAre("1:11 2.5 ms (synthetic)"));
  EXPECT_EQ(Complete(1, 6).at(0).at("labelDetails").at("detail").as_string(),
            " 2.5 ms (synthetic)");
  EXPECT_TRUE(client_->Result("fieldcost/status", nullptr).at("synthetic").as_bool());
}

TEST_F(LspServerTest, LocalNamesCommentsAndTextsHaveNoCost) {
  PublishAndSync(Rows());
  Begin();
  client_->Open(kUri, "c",
                "// slow_call()\n"
                "static int slow_call(int a);\n"
                "int f(int open_it) { return slow_call(open_it); }\n"
                "const char *s = \"hungry()\";\n"
                "int g(void) { return hungry(); }\n");
  for (const auto& [line, character] :
       {std::pair(0, 5), {1, 13}, {2, 12}, {2, 30}, {2, 40}, {3, 19}}) {
    EXPECT_EQ(HoverAt(line, character), "") << line << ":" << character;
  }
  EXPECT_THAT(HoverAt(4, 24), StartsWith("`hungry`"));
  EXPECT_THAT(Hints(), ElementsAre("4:27 allocates 1.0 MiB"));
}

TEST_F(LspServerTest, ASymbolOfSeveralLibrariesNamesThemAll) {
  PublishAndSync(Rows());
  Begin();
  client_->Open(kUri, "c", "int x = twin();");
  EXPECT_THAT(HoverAt(0, 9), AllOf(HasSubstr("`liba.so.1`"), HasSubstr("`libb.so.2`"),
                                   HasSubstr("also `twin`: typically **7.0 ms** a call")));
}

TEST_F(LspServerTest, CxxNamesAreFoundWithTheirOverloads) {
  PublishAndSync(Rows());
  Begin();
  client_->Open(kUri, "cpp",
                "void f() { cv::resize(1, 2); stand_one(3); }\n"
                "void g() { resize(1); x.resize(2); }\n");
  // This includes the first hover, which may come before the names are indexed.
  EXPECT_THAT(HoverAt(0, 17), AllOf(StartsWith("`cv::resize("), HasSubstr("also `cv::resize(")));
  EXPECT_THAT(HoverAt(0, 31), StartsWith("`stand_one(int)`"));
  EXPECT_EQ(HoverAt(1, 13), "");
  Change(R"([{"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}},
             "text": "using namespace cv;\n"}])");
  EXPECT_THAT(HoverAt(2, 13), StartsWith("`cv::resize("));
  EXPECT_THAT(Hints(), ::testing::SizeIs(2));
}

TEST_F(LspServerTest, AMemberOfAnUnknownClassHasMarkedCandidates) {
  PublishAndSync({testing::MakeRow("libjsoncpp.so.25", "_ZN4Json6Reader5parseEPKc", 100, 5'000),
                  testing::MakeRow("libother.so.1", "_ZNK5Other5parseEv", 50, 70),
                  testing::MakeRow("libother.so.1", "parse", 900, 60),
                  testing::MakeRow("libother.so.1", "_Z5parsei", 900, 65)});
  Begin();
  const std::string text = "void f() { r.parse(1); p->parse(); int n = r.parse; r.unknown(); }\n";
  client_->Open(kUri, "cpp", text);
  // This includes the first hover, which may come before the names are indexed.
  for (const int character : {15, 28}) {
    EXPECT_THAT(HoverAt(0, character),
                AllOf(StartsWith("`Json::Reader::parse(char const*)`: typically **5.0 µs** a call\n"
                                 "\ncandidates by name: the object's type is unknown\n"),
                      HasSubstr("also `Other::parse() const`"), Not(HasSubstr("`parse")),
                      HasSubstr("`libjsoncpp.so.25`")));
  }
  EXPECT_EQ(HoverAt(0, 47), "") << "no call";
  EXPECT_EQ(HoverAt(0, 56), "");
  EXPECT_THAT(Hints(), ::testing::IsEmpty()) << "the costs are unknown";
  client_->Open("file:///b.c", "c", text);
  EXPECT_EQ(Hover(*client_, "file:///b.c", 0, 15), "") << "C has no member functions";
}

TEST_F(LspServerTest, AMacroOfOneFunctionIsResolvedToItAndMarked) {
  PublishAndSync({testing::MakeRow("libz.so.1", "deflateInit_", 100, 5'000),
                  testing::MakeRow("libz.so.1", "deflateInit2_", 100, 6'000),
                  testing::MakeRow("libz.so.1", "deflate_more", 100, 6'000),
                  testing::MakeRow("libtwo.so.1", "twice_1", 100, 6'000),
                  testing::MakeRow("libtwo.so.1", "twice_2", 100, 6'000)});
  Begin();
  client_->Open(kUri, "c",
                "int f(void) { return deflateInit(1); }\n"
                "int g(void) { return deflateInit2(1) + deflate(2) + twice(3); }\n"
                "void *p = deflateInit;\n"
                "#define deflateEnd(x) 1\n"
                "int h(void) { return deflateInit_(1); }\n");
  EXPECT_THAT(HoverAt(0, 24),
              StartsWith("`deflateInit_`: typically **5.0 µs** a call\n"
                         "\n`deflateInit`: macro of `deflateInit_`, by its name\n"));
  EXPECT_THAT(HoverAt(1, 24), StartsWith("`deflateInit2_`: "));
  EXPECT_EQ(HoverAt(1, 42), "") << "another function begins so";
  EXPECT_EQ(HoverAt(1, 54), "") << "two are possible";
  EXPECT_EQ(HoverAt(2, 12), "") << "no call";
  EXPECT_THAT(HoverAt(4, 24), Not(HasSubstr("macro")));
}

TEST_F(LspServerTest, CompletionOffersNamesWithCostsAfterAllOthers) {
  PublishAndSync(Rows());
  Begin();
  client_->Open(kUri, "c", "int x = ope");
  const json::array items = Complete(0, 11);
  ASSERT_EQ(items.size(), 2u);
  const json::object& item = items.at(0).as_object();
  EXPECT_EQ(item.at("label").as_string(), "open_it");
  EXPECT_EQ(item.at("labelDetails").at("detail").as_string(), " 1.5 µs");
  EXPECT_EQ(item.at("labelDetails").at("description").as_string(), "libfast.so.1");
  EXPECT_EQ(items.at(1).at("label").as_string(), "open_it_again");
  EXPECT_THAT(std::string(item.at("sortText").as_string()), StartsWith("~"));
  EXPECT_EQ(
      json::serialize(item.at("textEdit")),
      R"({"range":{"start":{"line":0,"character":8},"end":{"line":0,"character":11}},"newText":"open_it"})");
  const json::value resolved = client_->Result("completionItem/resolve", items.at(0));
  EXPECT_EQ(resolved.at("label").as_string(), "open_it");
  EXPECT_THAT(json::value_to<std::string>(resolved.at("documentation").at("value")),
              StartsWith("`open_it`: typically **1.5 µs** a call"));
  // Another server's item is returned unchanged.
  const json::value foreign = Json(R"({"label": "x", "data": {"other": 1}})");
  EXPECT_EQ(client_->Result("completionItem/resolve", foreign), foreign);
}

// The inserted text with its range, and the labels of the list.
std::vector<std::string> Edits(const json::array& items) {
  std::vector<std::string> edits;
  for (const json::value& item : items) {
    const json::value& edit = item.at("textEdit");
    edits.push_back(json::value_to<std::string>(item.at("label")) + " @" +
                    std::to_string(edit.at("range").at("start").at("character").as_int64()) + "-" +
                    std::to_string(edit.at("range").at("end").at("character").as_int64()) + " " +
                    json::value_to<std::string>(edit.at("newText")));
    EXPECT_EQ(edit.at("newText"), item.at("filterText"));
  }
  return edits;
}

TEST_F(LspServerTest, NamesOfCxxAreCompletedAsTheyAreWritten) {
  std::vector<stats::StatRow> rows = Rows();
  for (const char* symbol : {"_ZN4Json6Reader5parseEPKcS2_", "_ZN4Json6Reader5parseEi",
                             "_ZN4Json6ReaderC1Ev", "_ZN4Json6ReaderD1Ev", "_ZN5other1fEv"}) {
    rows.push_back(testing::MakeRow("libjson.so.1", symbol, 50, 3000));
  }
  PublishAndSync(rows);
  Begin();
  client_->Open(kUri, "cpp",
                "x = Json::Re\n"
                "x = Json::\n"
                "x = Json :: Reader::pa\n"
                "Jso\n"
                "sta\n"
                "cv::~\n"
                "Reader::pa\n"
                "cv::resize(1);\n"
                "f(Json::); // Json::\n");
  ASSERT_THAT(HoverAt(7, 5), HasSubstr("cv::resize")) << "by then the names are known";
  const auto reader =
      ElementsAre("Json::Reader @10-12 Reader", "Json::Reader::parse @10-12 Reader::parse");
  EXPECT_THAT(Edits(Complete(0, 12)), reader);
  EXPECT_THAT(Edits(Complete(1, 10)), ElementsAre("Json::Reader @10-10 Reader",
                                                  "Json::Reader::parse @10-10 Reader::parse"));
  EXPECT_EQ(Complete(8, 8).size(), 2u);
  EXPECT_THAT(Complete(8, 20), IsEmpty()) << "a comment";
  EXPECT_THAT(Edits(Complete(2, 22)), ElementsAre("Json::Reader::parse @20-22 parse"));
  EXPECT_THAT(Edits(Complete(3, 3)), ElementsAre("Json::Reader @0-3 Json::Reader",
                                                 "Json::Reader::parse @0-3 Json::Reader::parse"));
  EXPECT_THAT(Edits(Complete(4, 3)), ElementsAre("stand_one @0-3 stand_one"));
  EXPECT_THAT(Complete(5, 5), IsEmpty());
  EXPECT_THAT(Complete(6, 10), IsEmpty()) << "whole names only, unless a namespace is used";

  const json::array items = Complete(0, 12);
  EXPECT_EQ(items.at(1).at("labelDetails").at("detail").as_string(), " 3.0 µs");
  EXPECT_EQ(items.at(1).at("labelDetails").at("description").as_string(), "libjson.so.1");
  const json::value resolved = client_->Result("completionItem/resolve", items.at(1));
  EXPECT_THAT(json::value_to<std::string>(resolved.at("documentation").at("value")),
              AllOf(HasSubstr("Json::Reader::parse(int)"), HasSubstr("3.0 µs")));

  client_->Open("file:///w/used.cc", "cpp", "using namespace Json;\nReader::pa");
  const json::value used =
      client_->Result("textDocument/completion", At("file:///w/used.cc", 1, 10));
  EXPECT_THAT(Edits(used.at("items").as_array()), ElementsAre("Reader::parse @8-10 parse"));
  // C has no qualified names.
  client_->Open("file:///w/b.c", "c", "Json");
  const json::value c = client_->Result("textDocument/completion", At("file:///w/b.c", 0, 4));
  EXPECT_TRUE(c.at("items").as_array().empty());
}

TEST_F(LspServerTest, AListThatMayLackNamesIsIncomplete) {
  std::vector<stats::StatRow> rows = {testing::MakeRow("liba.so.1", "abc_9", 50, 700)};
  for (const char* symbol : {"abc_1", "abc_2", "abc_3", "abc_4"}) {  // counted, not timed
    rows.push_back(testing::MakeRow("liba.so.1", symbol, 50, 8192, stats::Metric::kDiskRead));
  }
  PublishAndSync(rows);
  Begin(R"({"completion": {"maxItems": 1}})");
  client_->Open(kUri, "c", "int x = abc_;");
  const json::value list = client_->Result("textDocument/completion", At(kUri, 0, 12));
  EXPECT_TRUE(list.at("items").as_array().empty());
  EXPECT_TRUE(list.at("isIncomplete").as_bool()) << "abc_9 is offered after abc_9";
}

TEST_F(LspServerTest, CompletionKeepsOutOfTheWay) {
  PublishAndSync(Rows());
  Begin(R"({"completion": {"maxItems": 1}})");
  client_->Open(kUri, "c", "int x = ope; // open\nint open_i; p->open; op; A;\n");
  EXPECT_EQ(Complete(0, 11).size(), 1u);
  EXPECT_THAT(Complete(0, 19), IsEmpty());  // comment
  EXPECT_THAT(Complete(1, 19), IsEmpty());  // member
  EXPECT_THAT(Complete(1, 23), IsEmpty());  // too short
  Configure(R"({"completion": {"minPrefix": 1}})");
  EXPECT_EQ(Complete(1, 23).size(), 2u);
  EXPECT_THAT(Complete(1, 26), IsEmpty());  // A<"><img> cannot be written in source code
  Configure(R"({"completion": {"besideOtherServers": true}})");
  EXPECT_THAT(Complete(0, 11), IsEmpty());
  client_->Open("file:///w/a.py", "python", "import ctypes\nlib.ope");
  EXPECT_EQ(client_->Result("textDocument/completion", At("file:///w/a.py", 1, 7))
                .at("items")
                .as_array()
                .size(),
            2u);
}

TEST_F(LspServerTest, ClientsWithoutLabelDetailsGetTheCostAsDetail) {
  PublishAndSync(Rows());
  Begin("{}", "{}");
  client_->Open(kUri, "c", "slow");
  const json::array items = Complete(0, 4);
  ASSERT_EQ(items.size(), 1u);
  EXPECT_FALSE(items.at(0).as_object().contains("labelDetails"));
  EXPECT_EQ(items.at(0).at("detail").as_string(), "2.5 ms  libslow.so.1");
}

TEST_F(LspServerTest, HintCategoriesAreSwitchedOneByOne) {
  PublishAndSync(Rows());
  Begin();
  client_->Open(kUri, "c", "int f() { open_it(); slow_call(); hungry(); chatty(); }");
  EXPECT_THAT(Hints(), ElementsAre("0:30 2.5 ms", "0:40 allocates 1.0 MiB", "0:50 I/O 8.0 KiB"));
  Configure(R"({"inlayHints": {"calls": {"enabled": false}, "io": {"minKib": 9}}})");
  client_->Await("workspace/inlayHint/refresh");
  EXPECT_THAT(Hints(), ElementsAre("0:40 allocates 1.0 MiB"));
  Configure(
      R"({"inlayHints": {"calls": {"minMicroseconds": 1}, "allocation": {"enabled": false}}})");
  EXPECT_THAT(Hints(),
              ElementsAre("0:17 1.5 µs", "0:30 2.5 ms", "0:40 10 µs", "0:50 10 µs, I/O 8.0 KiB"));
  Configure(R"({"inlayHints": {"enabled": false}, "hover": {"enabled": false}})");
  EXPECT_THAT(Hints(), IsEmpty());
  EXPECT_EQ(HoverAt(0, 12), "");
}

TEST_F(LspServerTest, OpenDetailsShowsThePageOfAKnownApi) {
  PublishAndSync(Rows());
  Begin(R"({"drillDown": {"url": "https://costs.example/api/{api}"}})");
  client_->Open(kUri, "c", "int x = twin();");
  const json::value actions = client_->Result("textDocument/codeAction", In(kUri, 0, 1));
  ASSERT_EQ(actions.as_array().size(), 2u);
  const json::object& action = actions.at(0).as_object();
  EXPECT_EQ(action.at("title").as_string(), "fieldcost: open details of twin (liba.so.1)");
  EXPECT_TRUE(
      client_
          ->Result("workspace/executeCommand", json::object{{"command", action.at("command")},
                                                            {"arguments", action.at("arguments")}})
          .is_null());
  const json::value shown = client_->Await("window/showDocument");
  EXPECT_EQ(json::serialize(shown.at("params")),
            R"({"uri":"https://costs.example/api/liba.so.1!twin","external":true})");
  for (const char* params :
       {R"({"command": "fieldcost.openDetails"})", R"({"command": "rm -rf"})",
        R"({"command": "fieldcost.openDetails", "arguments": [{"api": "liba.so.1!nothing"}]})",
        R"({"command": "fieldcost.openDetails", "arguments": [{"api": "other.so!twin"}]})"}) {
    const json::value answer =
        client_->Answer(client_->Request("workspace/executeCommand", Json(params)));
    EXPECT_TRUE(answer.as_object().contains("error")) << params;
  }
  Configure(R"({"drillDown": {"url": "https://costs.example/{page}"}})");
  client_->Result("workspace/executeCommand", Json(R"({"command": "fieldcost.openDetails",
                           "arguments": [{"api": "libevil.so.1!A<\"><img>"}]})"));
  EXPECT_EQ(client_->Await("window/showDocument").at("params").at("uri").as_string(),
            "https://costs.example/libevil.so.1/A~3C~22~3E~3Cimg~3E.html")
      << "the page of `fieldcost docs site`";
  Configure(R"({"drillDown": {"url": "javascript:{api}"}})");
  EXPECT_THAT(client_->Result("textDocument/codeAction", In(kUri, 0, 1)).as_array(), IsEmpty());
}

TEST_F(LspServerTest, WithoutShowDocumentTheAddressIsAMessage) {
  PublishAndSync(Rows());
  Begin(R"({"drillDown": {"url": "https://h/{api}"}})", "{}");
  client_->Result("workspace/executeCommand", Json(R"({"command": "fieldcost.openDetails",
                           "arguments": [{"api": "libevil.so.1!A<\"><img>"}]})"));
  EXPECT_EQ(client_->Await("window/showMessage").at("params").at("message").as_string(),
            "fieldcost: https://h/libevil.so.1!A%3C%22%3E%3Cimg%3E");
}

}  // namespace
}  // namespace fieldcost::lsp
