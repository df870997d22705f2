#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tests/tools/lsp/lsp_fixture.h"

namespace fieldcost::lsp {

namespace json = boost::json;

inline constexpr char kUri[] = "file:///w/a.c";
inline constexpr char kCapabilities[] = R"({
  "workspace": {"inlayHint": {"refreshSupport": true}},
  "window": {"showDocument": {"support": true}},
  "experimental": {"fieldcostStatus": true},
  "textDocument": {
    "hover": {"contentFormat": ["markdown", "plaintext"]},
    "completion": {"completionItem": {"labelDetailsSupport": true,
      "documentationFormat": ["markdown"], "resolveSupport": {"properties": ["documentation"]}}}}})";

class LspServerTest : public LspTest {
 protected:
  void Begin(const char* options = "{}", const char* capabilities = kCapabilities) {
    client_.emplace(home());
    client_->Start(Json(capabilities), Json(options));
  }
  std::string HoverAt(int line, int character) { return Hover(*client_, kUri, line, character); }
  json::array Complete(int line, int character) {
    return client_->Result("textDocument/completion", At(kUri, line, character))
        .at("items")
        .as_array();
  }
  // Each hint as "line:character label".
  std::vector<std::string> Hints(const char* uri = kUri) {
    std::vector<std::string> hints;
    const json::value result = client_->Result("textDocument/inlayHint", In(uri, 0, 1000));
    for (const json::value& hint : result.as_array()) {
      hints.push_back(std::to_string(hint.at("position").at("line").as_int64()) + ":" +
                      std::to_string(hint.at("position").at("character").as_int64()) + " " +
                      json::value_to<std::string>(hint.at("label")));
    }
    return hints;
  }
  void Change(const char* changes) {
    client_->Notify("textDocument/didChange",
                    json::object{{"textDocument", json::object{{"uri", kUri}, {"version", 2}}},
                                 {"contentChanges", Json(changes)}});
  }
  void Configure(const char* settings) {
    client_->Notify("workspace/didChangeConfiguration",
                    json::object{{"settings", json::object{{"fieldcost", Json(settings)}}}});
  }
  std::optional<LspClient> client_;
};

}  // namespace fieldcost::lsp
