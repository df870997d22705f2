// Writes messages to the editor: the other half of protocol.h.
#include "common/base/percent_encode.h"
#include "common/json/json_text.h"
#include "tools/lsp/json_access.h"
#include "tools/lsp/protocol.h"

namespace fieldcost::lsp {
namespace {

namespace json = boost::json;

constexpr int kTextDocumentSyncIncremental = 2;
constexpr int kFunctionItem = 3;     // CompletionItemKind.Function
constexpr int kReplacesPlainly = 1;  // InsertTextFormat.PlainText
constexpr int kInformation = 3;      // DiagnosticSeverity and MessageType

json::value IdValue(const std::optional<RequestId>& id) {
  if (!id) return nullptr;
  if (const auto* number = std::get_if<std::int64_t>(&*id)) return *number;
  return json::value(json::string(std::get<std::string>(*id)));
}

json::string JsonString(std::string_view text) { return json::string(text.data(), text.size()); }

std::string Answer(const RequestId& id, json::value result) {
  json::object message{{"jsonrpc", "2.0"}, {"id", IdValue(id)}};
  message["result"] = std::move(result);
  return JsonText(message);
}

std::string Notification(std::string_view method, json::value params) {
  json::object message{{"jsonrpc", "2.0"}, {"method", JsonString(method)}};
  message["params"] = std::move(params);
  return JsonText(message);
}

std::string Request(std::int64_t id, std::string_view method, json::value params) {
  json::object message{{"jsonrpc", "2.0"}, {"id", id}, {"method", JsonString(method)}};
  if (!params.is_null()) message["params"] = std::move(params);
  return JsonText(message);
}

json::object PositionJson(const Position& position) {
  return {{"line", position.line}, {"character", position.character}};
}

json::object RangeJson(const Range& range) {
  return {{"start", PositionJson(range.start)}, {"end", PositionJson(range.end)}};
}

json::object MarkupJson(const MarkupText& markup) {
  return {{"kind", markup.markdown ? "markdown" : "plaintext"}, {"value", JsonString(markup.text)}};
}

json::object StatusJson(const StatusFacts& status) {
  json::object result{{"catalog", status.catalog},
                      {"text", JsonString(status.text)},
                      {"cxxNamesReady", status.cxx_names_ready},
                      {"flagged", status.flagged}};
  if (!status.catalog) {
    result["problem"] = JsonString(status.problem);
    return result;
  }
  result["snapshotVersion"] = status.snapshot_version;
  result["published"] = JsonString(status.published);
  result["lastSync"] = JsonString(status.last_sync);
  result["fragmentsTotal"] = status.fragments_total;
  result["fragmentsCurrent"] = status.fragments_current;
  result["synthetic"] = status.synthetic;
  result["expired"] = status.expired;
  result["incomplete"] = status.incomplete;
  return result;
}

}  // namespace

std::string ErrorMessage(const std::optional<RequestId>& id, RpcError error,
                         std::string_view message) {
  json::object answer{{"jsonrpc", "2.0"}, {"id", IdValue(id)}};
  answer["error"] =
      json::object{{"code", static_cast<int>(error)}, {"message", JsonString(message)}};
  return JsonText(answer);
}

std::string NullAnswer(const RequestId& id) { return Answer(id, nullptr); }

std::string InitializeAnswer(const RequestId& id, const ClientFacts& client,
                             std::string_view version) {
  json::object capabilities{
      {"textDocumentSync",
       json::object{{"openClose", true}, {"change", kTextDocumentSyncIncremental}}},
      {"hoverProvider", true},
      {"completionProvider", json::object{{"resolveProvider", true}}},
      {"signatureHelpProvider", json::object{{"triggerCharacters", json::array{"(", ","}}}},
      {"inlayHintProvider", true},
      {"codeActionProvider", true},
      {"executeCommandProvider",
       json::object{{"commands", json::array{JsonString(kOpenDetailsCommand)}}}}};
  if (client.says_encoding) {
    capabilities["positionEncoding"] =
        client.encoding == PositionEncoding::kUtf8 ? "utf-8" : "utf-16";
  }
  return Answer(id, json::object{{"capabilities", std::move(capabilities)},
                                 {"serverInfo", json::object{{"name", "fieldcost-lsp"},
                                                             {"version", JsonString(version)}}}});
}

std::string HoverMessage(const RequestId& id, const HoverAnswer& hover) {
  return Answer(id, json::object{{"contents", MarkupJson(hover.contents)},
                                 {"range", RangeJson(hover.range)}});
}

std::string SignatureMessage(const RequestId& id, const SignatureAnswer& signature) {
  json::object entry{{"label", JsonString(signature.label)},
                     {"documentation", MarkupJson(signature.documentation)}};
  return Answer(
      id, json::object{{"signatures", json::array{std::move(entry)}}, {"activeSignature", 0}});
}

std::string CompletionMessage(const RequestId& id, const std::vector<CompletionItem>& items,
                              bool incomplete, bool label_details) {
  json::array list;
  for (const CompletionItem& item : items) {
    json::object entry{{"label", JsonString(item.label)},
                       {"kind", kFunctionItem},
                       {"sortText", JsonString(item.sort_text)},
                       {"filterText", JsonString(item.text)},
                       {"insertTextFormat", kReplacesPlainly},
                       {"textEdit", json::object{{"range", RangeJson(item.range)},
                                                 {"newText", JsonString(item.text)}}},
                       {"data", json::object{{"fieldcost", JsonString(item.symbol)}}}};
    if (label_details) {
      entry["labelDetails"] = json::object{{"detail", JsonString(item.detail)},
                                           {"description", JsonString(item.description)}};
    } else {
      entry["detail"] = JsonString(item.detail.substr(item.detail.starts_with(' ') ? 1 : 0) + "  " +
                                   item.description);
    }
    list.push_back(std::move(entry));
  }
  return Answer(id, json::object{{"isIncomplete", incomplete}, {"items", std::move(list)}});
}

std::string ResolveMessage(const RequestId& id, std::string_view item_json, std::string_view detail,
                           const MarkupText& documentation) {
  std::optional<json::value> item = ParseJson(item_json);
  if (!item || !item->is_object()) return NullAnswer(id);
  if (!documentation.text.empty()) {
    item->get_object()["detail"] = JsonString(detail);
    item->get_object()["documentation"] = MarkupJson(documentation);
  }
  return Answer(id, *std::move(item));
}

std::string HintMessage(const RequestId& id, const std::vector<InlayHint>& hints) {
  json::array list;
  for (const InlayHint& hint : hints) {
    list.push_back(json::object{{"position", PositionJson(hint.position)},
                                {"label", JsonString(hint.label)},
                                {"tooltip", MarkupJson(hint.tooltip)},
                                {"paddingLeft", true}});
  }
  return Answer(id, std::move(list));
}

std::string ActionMessage(const RequestId& id, const std::vector<OpenAction>& actions) {
  json::array list;
  for (const OpenAction& action : actions) {
    list.push_back(
        json::object{{"title", JsonString(action.title)},
                     {"command", JsonString(kOpenDetailsCommand)},
                     {"arguments", json::array{json::object{{"api", JsonString(action.api)}}}}});
  }
  return Answer(id, std::move(list));
}

std::string OpenDetailsLink(std::string_view api) {
  const json::array arguments{json::object{{"api", JsonString(api)}}};
  return "command:" + std::string(kOpenDetailsCommand) + "?" +
         PercentEncode(JsonText(arguments), kUnreserved);
}

std::string StatusMessage(const RequestId& id, const StatusFacts& status) {
  return Answer(id, StatusJson(status));
}

std::string StatusNotification(const StatusFacts& status) {
  return Notification("fieldcost/didChangeStatus", StatusJson(status));
}

std::string DiagnosticsNotification(std::string_view uri,
                                    const std::vector<Diagnostic>& diagnostics) {
  json::array list;
  for (const Diagnostic& diagnostic : diagnostics) {
    json::object entry{{"range", RangeJson(diagnostic.range)},
                       {"severity", kInformation},
                       {"source", "fieldcost"},
                       {"code", "worse-than-the-field"},
                       {"message", JsonString(diagnostic.message)}};
    if (!diagnostic.url.empty()) {
      entry["codeDescription"] = json::object{{"href", JsonString(diagnostic.url)}};
    }
    list.push_back(std::move(entry));
  }
  return Notification("textDocument/publishDiagnostics",
                      json::object{{"uri", JsonString(uri)}, {"diagnostics", std::move(list)}});
}

std::string ShowDocumentRequest(std::int64_t id, std::string_view url) {
  return Request(id, "window/showDocument",
                 json::object{{"uri", JsonString(url)}, {"external", true}});
}

std::string ShowMessageNotification(std::string_view text) {
  return Notification("window/showMessage",
                      json::object{{"type", kInformation}, {"message", JsonString(text)}});
}

std::string HintRefreshRequest(std::int64_t id) {
  return Request(id, "workspace/inlayHint/refresh", nullptr);
}

std::string ConfigurationRequest(std::int64_t id) {
  return Request(id, "workspace/configuration",
                 json::object{{"items", json::array{json::object{{"section", "fieldcost"}}}}});
}

}  // namespace fieldcost::lsp
