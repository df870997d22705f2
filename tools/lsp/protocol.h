#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tools/lsp/document.h"
#include "tools/lsp/settings.h"
#include "tools/lsp/text_position.h"

namespace fieldcost::lsp {

// The part of LSP 3.17 that this server supports, as values. Only parse_message.cc and
// write_message.cc (and settings.cc, check_result.cc) handle JSON.

using RequestId = std::variant<std::int64_t, std::string>;

// JSON-RPC 2.0 and LSP 3.17, "Response Message".
enum class RpcError {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  kInternalError = -32603,
  kServerNotInitialized = -32002,
  kRequestFailed = -32803,
  kRequestCancelled = -32800,
};

// The client's capabilities; false unless announced.
struct ClientFacts {
  bool hover_markdown = false;
  bool item_markdown = false;          // documentation of completion items
  bool signature_markdown = false;     // documentation of signatures
  bool label_details = false;          // completionItem.labelDetailsSupport
  bool resolve_documentation = false;  // resolves "documentation" and "detail" later
  bool show_document = false;          // window/showDocument
  bool hint_refresh = false;           // workspace/inlayHint/refresh
  bool configuration = false;          // workspace/configuration
  bool status_changes = false;         // experimental.fieldcostStatus: fieldcost/didChangeStatus
  // experimental.fieldcostCommandLinks: follows links to our command in Markdown
  bool command_links = false;
  PositionEncoding encoding = PositionEncoding::kUtf16;
  bool says_encoding = false;  // general.positionEncodings was given
};

struct InitializeCall {
  ClientFacts client;
  std::optional<Settings> settings;
};
struct InitializedCall {};
struct ShutdownCall {};
struct ExitCall {};
struct CancelCall {
  RequestId id;
};
struct OpenCall {
  std::string uri;
  std::string language;
  std::string text;
};
struct ChangeCall {
  std::string uri;
  std::vector<DocumentChange> changes;
  bool lost = false;  // malformed, or more than kMaxChanges: the text is now unknown
};
struct CloseCall {
  std::string uri;
};
struct ConfigurationCall {
  std::optional<Settings> settings;  // nullopt: the server must request them
};
struct HoverCall {
  std::string uri;
  Position position;
};
struct SignatureCall {
  std::string uri;
  Position position;
};
struct CursorCall {  // fieldcost/didMoveCursor
  std::string uri;
  Position position;
};
struct CompletionCall {
  std::string uri;
  Position position;
};
struct ResolveCall {
  std::string item_json;  // the whole item, to be returned
  std::string symbol;     // from our data; empty if the item is not ours
};
struct HintCall {
  std::string uri;
  Range range;
};
struct ActionCall {
  std::string uri;
  Range range;
};
struct ExecuteCall {
  std::string command;
  std::string api;  // "soname!symbol" of its first argument
};
struct StatusCall {};  // fieldcost/status
// A response to one of the server's requests.
struct AnswerCall {
  std::int64_t id = 0;
  std::optional<Settings> settings;  // if it responds to workspace/configuration
};
struct UnknownCall {
  std::string method;
};
// A malformed message. It gets an error response if it has (or may have had) an id.
struct BadCall {
  RpcError error = RpcError::kInvalidRequest;
  std::string message;
  std::string method;  // empty if unknown
};

using Call = std::variant<InitializeCall, InitializedCall, ShutdownCall, ExitCall, CancelCall,
                          OpenCall, ChangeCall, CloseCall, ConfigurationCall, CursorCall, HoverCall,
                          SignatureCall, CompletionCall, ResolveCall, HintCall, ActionCall,
                          ExecuteCall, StatusCall, AnswerCall, UnknownCall, BadCall>;

struct Message {
  std::optional<RequestId> id;  // of a request
  Call call;
};

// Never fails: malformed input becomes a BadCall. No exceptions of the JSON library escape.
Message ParseMessage(std::string_view untrusted_json);

// Parses the members of the section "fieldcost" from JSON text, which may be {"fieldcost": {...}}
// or the section itself. A member that is missing, has another type or is out of range keeps its
// default.
std::optional<Settings> ParseSettings(std::string_view untrusted_json);

struct MarkupText {
  bool markdown = false;
  std::string text;
};
struct HoverAnswer {
  MarkupText contents;
  Range range;
};
struct SignatureAnswer {
  std::string label;
  MarkupText documentation;
};
struct CompletionItem {
  std::string label;        // the full name
  std::string text;         // the inserted text
  std::string symbol;       // or a full C++ name: the key for resolve
  std::string detail;       // labelDetails.detail: " 1.2 µs"
  std::string description;  // labelDetails.description: the library
  std::string sort_text;
  Range range;  // to be replaced
};
struct InlayHint {
  Position position;
  std::string label;
  MarkupText tooltip;
};
struct Diagnostic {
  Range range;
  std::string message;
  std::string url;  // may be empty
};
struct OpenAction {
  std::string title;
  std::string api;
};
struct StatusFacts {
  bool catalog = false;
  std::string problem;  // why there is no catalogue
  std::uint64_t snapshot_version = 0;
  std::string published;  // RFC 3339, UTC
  std::string last_sync;
  std::uint32_t fragments_total = 0;
  std::uint32_t fragments_current = 0;
  bool synthetic = false;
  bool expired = false;
  bool incomplete = false;  // some fragments were never fetched, so functions are missing
  bool cxx_names_ready = false;
  std::uint64_t flagged = 0;  // APIs of the last check; 0 without the opt-in
  std::string text;           // one line for a status bar
};

// Each function returns one message's JSON, without the header.
std::string ErrorMessage(const std::optional<RequestId>& id, RpcError error,
                         std::string_view message);
std::string NullAnswer(const RequestId& id);
std::string InitializeAnswer(const RequestId& id, const ClientFacts& client,
                             std::string_view version);
std::string HoverMessage(const RequestId& id, const HoverAnswer& hover);
std::string SignatureMessage(const RequestId& id, const SignatureAnswer& signature);
std::string CompletionMessage(const RequestId& id, const std::vector<CompletionItem>& items,
                              bool incomplete, bool label_details);
// The original item with details added.
std::string ResolveMessage(const RequestId& id, std::string_view item_json, std::string_view detail,
                           const MarkupText& documentation);
std::string HintMessage(const RequestId& id, const std::vector<InlayHint>& hints);
std::string ActionMessage(const RequestId& id, const std::vector<OpenAction>& actions);
std::string StatusMessage(const RequestId& id, const StatusFacts& status);
std::string StatusNotification(const StatusFacts& status);
std::string DiagnosticsNotification(std::string_view uri,
                                    const std::vector<Diagnostic>& diagnostics);
std::string ShowDocumentRequest(std::int64_t id, std::string_view url);
std::string ShowMessageNotification(std::string_view text);
std::string HintRefreshRequest(std::int64_t id);
std::string ConfigurationRequest(std::int64_t id);

// The link that runs the command: "command:fieldcost.openDetails?[{"api":...}]", percent-encoded.
std::string OpenDetailsLink(std::string_view api);

inline constexpr std::string_view kOpenDetailsCommand = "fieldcost.openDetails";

}  // namespace fieldcost::lsp
