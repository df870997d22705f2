// The protocol itself with the real program: life cycle, errors, hostile input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/process.h"
#include "tests/tools/lsp/lsp_fixture.h"

namespace fieldcost::lsp {
namespace {

using ::testing::HasSubstr;
namespace json = boost::json;

class ProtocolTest : public LspTest {
 protected:
  static std::int64_t Code(const json::value& answer) {
    return answer.at("error").at("code").get_int64();
  }
  void ExpectAlive() {
    EXPECT_FALSE(client_.Result("fieldcost/status", nullptr).at("catalog").get_bool());
  }
  LspClient client_{home()};
};

TEST_F(ProtocolTest, ShutdownAndExitEndWithZero) {
  client_.Start();
  EXPECT_TRUE(client_.Result("shutdown", nullptr).is_null());
  client_.Notify("exit", nullptr);
  EXPECT_EQ(client_.ExitStatus(), 0);
}

TEST_F(ProtocolTest, ExitWithoutShutdownEndsWithOne) {
  client_.Start();
  client_.Notify("exit", nullptr);
  EXPECT_EQ(client_.ExitStatus(), 1);
}

TEST_F(ProtocolTest, ExitBeforeInitializeEndsWithOne) {
  client_.Notify("exit", nullptr);
  EXPECT_EQ(client_.ExitStatus(), 1);
}

TEST_F(ProtocolTest, AnEditorThatGoesAwayEndsIt) {
  client_.Start();
  client_.CloseInput();
  EXPECT_EQ(client_.ExitStatus(), 1);
}

TEST_F(ProtocolTest, BeforeInitializeRequestsAreRefusedAndNotificationsDropped) {
  client_.Open("file:///a.c", "c", "open_it();");
  EXPECT_EQ(Code(client_.Answer(client_.Request("textDocument/hover", At("file:///a.c", 0, 1)))),
            -32002);
  EXPECT_EQ(Code(client_.Answer(client_.Request("textDocument/hover", json::object()))), -32002);
  EXPECT_EQ(Code(client_.Answer(client_.Request("no/such", nullptr))), -32002);
  client_.Start();
  ExpectAlive();
}

TEST_F(ProtocolTest, AfterShutdownAndTwiceInitializeIsAnInvalidRequest) {
  client_.Start();
  const json::object again{{"capabilities", json::object()}};
  EXPECT_EQ(Code(client_.Answer(client_.Request("initialize", again))), -32600);
  client_.Result("shutdown", nullptr);
  EXPECT_EQ(Code(client_.Answer(client_.Request("fieldcost/status", nullptr))), -32600);
  EXPECT_EQ(Code(client_.Answer(client_.Request("initialize", again))), -32600);
  client_.Notify("exit", nullptr);
  EXPECT_EQ(client_.ExitStatus(), 0);
}

TEST_F(ProtocolTest, UnknownRequestsAreAnsweredUnknownNotificationsAreNot) {
  client_.Start();
  client_.Notify("no/such", json::object());
  client_.Notify("$/setTrace", json::object{{"value", "off"}});
  EXPECT_EQ(Code(client_.Answer(client_.Request("no/such", json::object()))), -32601);
  EXPECT_EQ(Code(client_.Answer(client_.Request("$/no/such", json::object()))), -32601);
}

TEST_F(ProtocolTest, ParametersOfAnotherTypeAreInvalid) {
  client_.Start();
  for (const char* params :
       {"null", "[]", "{}", R"({"textDocument": 3, "position": {"line": 0, "character": 0}})",
        R"({"textDocument": {"uri": "x"}, "position": {"line": -1, "character": 0}})",
        R"({"textDocument": {"uri": "x"}, "position": {"line": 0.5, "character": 0}})",
        R"({"textDocument": {"uri": ""}, "position": {"line": 0, "character": 0}})"}) {
    EXPECT_EQ(Code(client_.Answer(client_.Request("textDocument/hover", Json(params)))), -32602)
        << params;
  }
}

TEST_F(ProtocolTest, AnswersInvalidRequestsWithoutAnId) {
  client_.Start();
  const std::vector<std::pair<std::string, int>> cases = {
      {"{", -32700},
      {"", -32700},
      {"\xff\xfe", -32700},
      {R"({"jsonrpc": "2.0", "id": 1, "method": "\ud800"})", -32601},
      {std::string(100'000, '['), -32700},
      {"[]", -32600},
      {"null", -32600},
      {R"({"id": 1})", -32600},
      {R"({"jsonrpc": "1.0", "id": 1, "method": "x"})", -32600},
      {R"({"jsonrpc": "2.0", "id": 1})", -32600},
      {R"({"jsonrpc": "2.0", "id": 1.5, "method": "x"})", -32600},
      {R"({"jsonrpc": "2.0", "id": {}, "method": "fieldcost/status"})", -32600},
      {R"({"jsonrpc": "2.0", "id": 1, "method": 7})", -32600},
      {R"({"jsonrpc": "2.0", "id": 1, "method": "exit"})", -32600}};
  for (const auto& [text, code] : cases) {
    client_.SendJson(text);
    EXPECT_EQ(Code(client_.Receive()), code) << text.substr(0, 80);
  }
  // A request without an id, a response to no request, an id that is a string.
  client_.SendJson(R"({"jsonrpc": "2.0", "method": "textDocument/hover", "params": {}})");
  client_.SendJson(R"({"jsonrpc": "2.0", "id": 77, "result": [{}]})");
  client_.SendJson(R"({"jsonrpc": "2.0", "id": "text", "method": "fieldcost/status"})");
  EXPECT_EQ(client_.Receive().at("id").get_string(), "text");
  ExpectAlive();
}

TEST_F(ProtocolTest, AHugeMessageIsSkippedAndTheNextOneAnswered) {
  client_.Start();
  client_.SendJson(std::string(17 << 20, ' '));
  EXPECT_EQ(Code(client_.Receive()), -32700);
  ExpectAlive();
}

TEST_F(ProtocolTest, AStreamThatIsOutOfStepIsEnded) {
  client_.Start();
  client_.SendBytes("Content-Length: 5\r\n\r\n{}");
  client_.SendBytes("Content-Length: 2\r\n\r\n{}");
  EXPECT_EQ(Code(client_.Receive()), -32700);
  client_.SendBytes("\r\n\r\n");
  EXPECT_EQ(Code(client_.Receive()), -32700);
  EXPECT_EQ(client_.ExitStatus(), 1);
}

TEST_F(ProtocolTest, MessagesArriveByteByByte) {
  const std::string request =
      R"({"jsonrpc":"2.0","id":5,"method":"initialize","params":{"capabilities":{}}})";
  const std::string bytes =
      "Content-Length: " + std::to_string(request.size()) + "\r\n\r\n" + request;
  for (const char c : bytes) client_.SendBytes(std::string(1, c));
  EXPECT_EQ(client_.Answer(5).at("result").at("serverInfo").at("name").get_string(),
            "fieldcost-lsp");
}

TEST_F(ProtocolTest, CancelledRequestsAreAnsweredAsSuch) {
  client_.Start();
  // The reader receives the whole burst before the first response; only the first may be too quick.
  std::string burst;
  const auto add = [&](const json::value& message) {
    const std::string text = json::serialize(message);
    burst += "Content-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text;
  };
  client_.Open("file:///big.c", "c", std::string(1 << 20, '('));
  add(json::object{{"jsonrpc", "2.0"},
                   {"id", 1001},
                   {"method", "textDocument/hover"},
                   {"params", At("file:///big.c", 0, 9)}});
  for (int id = 1002; id < 1012; ++id) {
    add(json::object{{"jsonrpc", "2.0"}, {"id", id}, {"method", "fieldcost/status"}});
  }
  for (int id = 1002; id < 1012; ++id) {
    add(json::object{
        {"jsonrpc", "2.0"}, {"method", "$/cancelRequest"}, {"params", json::object{{"id", id}}}});
  }
  client_.SendBytes(burst);
  for (int id = 1001; id < 1012; ++id) {
    const json::value answer = client_.Receive();
    EXPECT_EQ(answer.at("id").get_int64(), id);  // each exactly once and in order
    if (answer.get_object().contains("error")) {
      EXPECT_EQ(Code(answer), -32800);
    }
  }
  ExpectAlive();
}

TEST_F(ProtocolTest, Utf8IsChosenIfOfferedElseUtf16) {
  const json::value offered = Json(R"({"general": {"positionEncodings": ["utf-16", "utf-8"]}})");
  EXPECT_EQ(client_.Start(offered).at("capabilities").at("positionEncoding").get_string(), "utf-8");
  LspClient other(home());
  EXPECT_EQ(other.Start(Json(R"({"general": {"positionEncodings": ["utf-16"]}})"))
                .at("capabilities")
                .at("positionEncoding")
                .get_string(),
            "utf-16");
  LspClient old(home());
  EXPECT_FALSE(old.Start().at("capabilities").get_object().contains("positionEncoding"));
}

TEST_F(ProtocolTest, WithoutACatalogueEverythingIsEmptyAndStatusStatesWhy) {
  client_.Start();
  client_.Open("file:///a.c", "c", "void f(void) { open_it(); }");
  EXPECT_EQ(Hover(client_, "file:///a.c", 0, 17), "");
  EXPECT_TRUE(
      client_.Result("textDocument/inlayHint", In("file:///a.c", 0, 9)).get_array().empty());
  const json::value status = client_.Result("fieldcost/status", nullptr);
  EXPECT_THAT(std::string(status.at("problem").get_string()), HasSubstr("fieldcost sync"));
  EXPECT_EQ(status.at("text").get_string(), "fieldcost: no catalogue");
}

TEST(LspProgramTest, OptionsAreExplainedAndWrongOnesRefused) {
  const auto run = [](const char* option) {
    return testing::RunProcess({.arguments = {FIELDCOST_LSP, option}});
  };
  EXPECT_THAT(run("--help").output, HasSubstr("Usage: fieldcost-lsp"));
  EXPECT_EQ(run("--help").exit_status, 0);
  EXPECT_THAT(run("--version").output, HasSubstr("fieldcost-lsp "));
  EXPECT_EQ(run("--port").exit_status, 64);
  EXPECT_THAT(run("--port").errors, HasSubstr("unknown option '--port'"));
}

}  // namespace
}  // namespace fieldcost::lsp
