// Parses the editor's messages: the half of protocol.h with untrusted input.
#include <algorithm>
#include <charconv>
#include <limits>

#include "common/json/json_text.h"
#include "tools/lsp/json_access.h"
#include "tools/lsp/lsp_limits.h"
#include "tools/lsp/protocol.h"

namespace fieldcost::lsp {

namespace json = boost::json;

namespace {

// Reads an escape such as "\uD800" at `at`; 0 if none.
std::uint32_t SurrogateAt(std::string_view text, std::size_t at) {
  constexpr std::size_t kLength = 6;
  std::uint32_t value = 0;
  if (text.substr(at, 2) != "\\u" || text.size() - at < kLength) return 0;
  const char* const end = text.data() + at + kLength;
  const auto [rest, error] = std::from_chars(end - 4, end, value, 16);
  return error == std::errc() && rest == end && value >= 0xd800 && value <= 0xdfff ? value : 0;
}

// Replaces unpaired surrogates, which an editor's text may contain, by U+FFFD, which has the same
// length in UTF-16.
std::string WithoutLoneSurrogates(std::string_view untrusted_json) {
  std::string json;
  json.reserve(untrusted_json.size());
  while (!untrusted_json.empty()) {
    std::size_t length = std::min(untrusted_json.find('\\'), untrusted_json.size());
    if (length == 0) {
      const std::uint32_t first = SurrogateAt(untrusted_json, 0);
      const std::uint32_t second = first == 0 ? 0 : SurrogateAt(untrusted_json, 6);
      if (first != 0 && (first >= 0xdc00 || second < 0xdc00)) {
        json += "\\ufffd";
        untrusted_json.remove_prefix(6);
        continue;
      }
      length = std::min<std::size_t>(first != 0 ? 12 : 2, untrusted_json.size());
    }
    json += untrusted_json.substr(0, length);
    untrusted_json.remove_prefix(length);
  }
  return json;
}

std::optional<json::value> ParseStrictly(std::string_view untrusted_json) {
  try {
    json::parse_options options;
    options.max_depth = kMaxJsonDepth;
    json::error_code error;
    json::value value = json::parse(json::string_view(untrusted_json.data(), untrusted_json.size()),
                                    error, {}, options);
    if (error) return std::nullopt;
    return value;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace

std::optional<json::value> ParseJson(std::string_view untrusted_json) {
  if (std::optional<json::value> value = ParseStrictly(untrusted_json)) return value;
  const std::string whole = WithoutLoneSurrogates(untrusted_json);
  return whole == untrusted_json ? std::nullopt : ParseStrictly(whole);
}

namespace {

using Parsed = std::optional<Call>;  // nullopt: lacks required parameters

std::optional<std::uint32_t> Coordinate(const json::value* value) {
  const std::optional<std::uint64_t> number = Number(value);
  if (!number) return std::nullopt;
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(*number, std::numeric_limits<std::int32_t>::max()));
}

std::optional<Position> ParsePosition(const json::value* value) {
  const auto line = Coordinate(Member(value, "line"));
  const auto character = Coordinate(Member(value, "character"));
  if (!line || !character) return std::nullopt;
  return Position{*line, *character};
}

std::optional<Range> ParseRange(const json::value* value) {
  const auto start = ParsePosition(Member(value, "start"));
  const auto end = ParsePosition(Member(value, "end"));
  if (!start || !end) return std::nullopt;
  return Range{*start, *end};
}

std::optional<std::string> ParseUri(const json::value* params) {
  const auto uri = Text(Member(params, "textDocument", "uri"));
  if (!uri || uri->empty() || uri->size() > kMaxUriBytes) return std::nullopt;
  return std::string(*uri);
}

bool Contains(const json::value* list, std::string_view wanted) {
  if (list == nullptr || !list->is_array()) return false;
  return std::any_of(list->get_array().begin(), list->get_array().end(),
                     [&](const json::value& item) { return Text(&item) == wanted; });
}

ClientFacts ParseClient(const json::value* capabilities) {
  ClientFacts client;
  const json::value* text = Member(capabilities, "textDocument");
  const json::value* item = Member(text, "completion", "completionItem");
  const json::value* workspace = Member(capabilities, "workspace");
  client.hover_markdown = Contains(Member(text, "hover", "contentFormat"), "markdown");
  client.item_markdown = Contains(Member(item, "documentationFormat"), "markdown");
  client.signature_markdown = Contains(
      Member(text, "signatureHelp", "signatureInformation", "documentationFormat"), "markdown");
  client.label_details = IsTrue(Member(item, "labelDetailsSupport"));
  client.resolve_documentation =
      Contains(Member(item, "resolveSupport", "properties"), "documentation");
  client.show_document = IsTrue(Member(capabilities, "window", "showDocument", "support"));
  client.hint_refresh = IsTrue(Member(workspace, "inlayHint", "refreshSupport"));
  client.configuration = IsTrue(Member(workspace, "configuration"));
  client.status_changes = IsTrue(Member(capabilities, "experimental", "fieldcostStatus"));
  client.command_links = IsTrue(Member(capabilities, "experimental", "fieldcostCommandLinks"));
  const json::value* encodings = Member(capabilities, "general", "positionEncodings");
  client.says_encoding = encodings != nullptr && encodings->is_array();
  if (Contains(encodings, "utf-8")) client.encoding = PositionEncoding::kUtf8;
  return client;
}

std::optional<Settings> SettingsOf(const json::value* value) {
  if (value == nullptr || !value->is_object()) return std::nullopt;
  return ParseSettings(JsonText(*value));
}

Parsed ParseInitialize(const json::value* params) {
  if (params == nullptr || !params->is_object()) return std::nullopt;
  return InitializeCall{ParseClient(Member(params, "capabilities")),
                        SettingsOf(Member(params, "initializationOptions"))};
}

Parsed ParseCancel(const json::value* params);

Parsed ParseOpen(const json::value* params) {
  const auto uri = ParseUri(params);
  const auto text = Text(Member(params, "textDocument", "text"));
  const auto language = Text(Member(params, "textDocument", "languageId"));
  if (!uri || !text) return std::nullopt;
  return OpenCall{*uri, std::string(language.value_or("")), std::string(*text)};
}

Parsed ParseChange(const json::value* params) {
  const auto uri = ParseUri(params);
  if (!uri) return std::nullopt;
  const ChangeCall lost{.uri = *uri, .lost = true};
  const json::value* list = Member(params, "contentChanges");
  if (list == nullptr || !list->is_array() || list->get_array().size() > kMaxChanges) return lost;
  ChangeCall call{.uri = *uri};
  for (const json::value& item : list->get_array()) {
    const auto text = Text(Member(&item, "text"));
    if (!text) return lost;
    DocumentChange change{.text = std::string(*text)};
    if (const json::value* range = Member(&item, "range")) {
      change.range = ParseRange(range);
      if (!change.range) return lost;
    }
    call.changes.push_back(std::move(change));
  }
  return call;
}

Parsed ParseClose(const json::value* params) {
  const auto uri = ParseUri(params);
  if (!uri) return std::nullopt;
  return CloseCall{*uri};
}

template <typename PositionCall>
Parsed ParseAtPosition(const json::value* params) {
  const auto uri = ParseUri(params);
  const auto position = ParsePosition(Member(params, "position"));
  if (!uri || !position) return std::nullopt;
  return PositionCall{*uri, *position};
}

template <typename RangeCall>
Parsed ParseAtRange(const json::value* params) {
  const auto uri = ParseUri(params);
  const auto range = ParseRange(Member(params, "range"));
  if (!uri || !range) return std::nullopt;
  return RangeCall{*uri, *range};
}

Parsed ParseConfiguration(const json::value* params) {
  return ConfigurationCall{SettingsOf(Member(params, "settings"))};
}

Parsed ParseResolve(const json::value* params) {
  if (params == nullptr || !params->is_object()) return std::nullopt;
  const auto symbol = Text(Member(params, "data", "fieldcost"));
  return ResolveCall{JsonText(*params), std::string(symbol.value_or(""))};
}

Parsed ParseExecute(const json::value* params) {
  const auto command = Text(Member(params, "command"));
  if (!command) return std::nullopt;
  ExecuteCall call{.command = std::string(*command)};
  const json::value* arguments = Member(params, "arguments");
  if (arguments != nullptr && arguments->is_array() && !arguments->get_array().empty()) {
    call.api = Text(Member(&arguments->get_array().front(), "api")).value_or("");
  }
  return call;
}

template <typename EmptyCall>
Parsed ParseEmpty(const json::value*) {
  return EmptyCall{};
}

std::optional<RequestId> ParseId(const json::value* id) {
  if (id == nullptr) return std::nullopt;
  if (const auto text = Text(id)) return RequestId(std::string(*text));
  if (id->is_int64()) return RequestId(id->get_int64());
  return std::nullopt;
}

Parsed ParseCancel(const json::value* params) {
  const auto id = ParseId(Member(params, "id"));
  if (!id) return std::nullopt;
  return CancelCall{*id};
}

struct Method {
  std::string_view name;
  bool is_request;
  Parsed (*parse)(const json::value* params);
};

constexpr Method kMethods[] = {
    {"initialize", true, ParseInitialize},
    {"initialized", false, ParseEmpty<InitializedCall>},
    {"shutdown", true, ParseEmpty<ShutdownCall>},
    {"exit", false, ParseEmpty<ExitCall>},
    {"$/cancelRequest", false, ParseCancel},
    {"textDocument/didOpen", false, ParseOpen},
    {"textDocument/didChange", false, ParseChange},
    {"textDocument/didClose", false, ParseClose},
    {"workspace/didChangeConfiguration", false, ParseConfiguration},
    {"textDocument/hover", true, ParseAtPosition<HoverCall>},
    {"textDocument/signatureHelp", true, ParseAtPosition<SignatureCall>},
    {"fieldcost/didMoveCursor", false, ParseAtPosition<CursorCall>},
    {"textDocument/completion", true, ParseAtPosition<CompletionCall>},
    {"completionItem/resolve", true, ParseResolve},
    {"textDocument/inlayHint", true, ParseAtRange<HintCall>},
    {"textDocument/codeAction", true, ParseAtRange<ActionCall>},
    {"workspace/executeCommand", true, ParseExecute},
    {"fieldcost/status", true, ParseEmpty<StatusCall>},
};

Message Bad(std::optional<RequestId> id, RpcError error, std::string message,
            std::string_view method = {}) {
  return {std::move(id), BadCall{error, std::move(message), std::string(method)}};
}

Message ParseAnswer(const json::value& value) {
  const json::value* id = Member(&value, "id");
  AnswerCall answer;
  if (id != nullptr && id->is_int64()) answer.id = id->get_int64();
  const json::value* result = Member(&value, "result");
  if (result != nullptr && result->is_array() && result->get_array().size() == 1) {
    answer.settings = SettingsOf(&result->get_array().front());
  }
  return {std::nullopt, std::move(answer)};
}

Message Parse(std::string_view untrusted_json) {
  const std::optional<json::value> value = ParseJson(untrusted_json);
  if (!value) return Bad({}, RpcError::kParseError, "not JSON, or nested too deep");
  if (!value->is_object()) return Bad({}, RpcError::kInvalidRequest, "not an object");
  const json::value* id_value = Member(&*value, "id");
  std::optional<RequestId> id = ParseId(id_value);
  if (Text(Member(&*value, "jsonrpc")) != "2.0") {
    return Bad(id, RpcError::kInvalidRequest, "jsonrpc is not \"2.0\"");
  }
  const auto name = Text(Member(&*value, "method"));
  if (!name) {
    const bool answer = Member(&*value, "result") != nullptr || Member(&*value, "error") != nullptr;
    if (answer) return ParseAnswer(*value);
    return Bad(id, RpcError::kInvalidRequest, "no method");
  }
  if (id_value != nullptr && !id) {
    return Bad({}, RpcError::kInvalidRequest, "the id is neither an integer nor a text");
  }
  const Method* method = std::find_if(std::begin(kMethods), std::end(kMethods),
                                      [&](const Method& known) { return known.name == *name; });
  if (method == std::end(kMethods)) return {id, UnknownCall{std::string(*name)}};
  if (method->is_request != id.has_value()) {
    // A request without an id cannot get a response; a notification with an id must get one.
    if (!id) return {std::nullopt, UnknownCall{std::string(*name)}};
    return Bad(id, RpcError::kInvalidRequest, "a notification has no id");
  }
  Parsed call = method->parse(Member(&*value, "params"));
  if (call) return {id, *std::move(call)};
  if (id) {
    return Bad(id, RpcError::kInvalidParams, "parameters are missing or of another type", *name);
  }
  return {std::nullopt, UnknownCall{std::string(*name)}};
}

}  // namespace

Message ParseMessage(std::string_view untrusted_json) {
  try {
    return Parse(untrusted_json);
  } catch (const std::exception& error) {
    return Bad({}, RpcError::kInternalError, error.what());
  }
}

}  // namespace fieldcost::lsp
