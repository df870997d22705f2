#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "common/base/clock.h"
#include "tools/lsp/check_result.h"
#include "tools/lsp/cost_book.h"
#include "tools/lsp/cxx_index.h"
#include "tools/lsp/document.h"
#include "tools/lsp/lexer.h"
#include "tools/lsp/local_pages.h"
#include "tools/lsp/message_queue.h"
#include "tools/lsp/protocol.h"

namespace fieldcost::lsp {

struct ServerOptions {
  std::filesystem::path catalog_file;
  std::filesystem::path check_file;  // STATE/check.json
  const Clock* clock = nullptr;
  std::string version;
  // Sends one message's JSON. Called on the thread that calls the server.
  std::function<void(std::string_view json)> send;
  // Called when the catalogue has changed: its C++ names must be indexed and passed to OnIndex().
  // May be empty.
  std::function<void()> index_names;
  // Pages about APIs are written below this directory (report::LocalPageFile); empty = none.
  std::filesystem::path cache_directory;
  // Called when a response links to such a page, which must be written soon (WriteWishedPage).
  // May be empty; then only the command to open a page writes it.
  std::function<void(PageWish)> write_page;
};

// The state and the responses of the server: handles one message at a time, without threads, clocks
// or pipes of its own. Not thread-safe.
class Server {
 public:
  explicit Server(ServerOptions options);

  void Handle(Message message, const CancelToken& cancelled);
  // Passes the C++ names, once (re)indexed; responds to the requests that waited for them.
  void OnIndex(std::shared_ptr<const CxxIndex> index);
  // Called when no message is waiting: updates unrequested data such as diagnostics.
  void OnIdle();

  // Set after "exit": 0 if it followed "shutdown", otherwise 1 (LSP 3.17).
  std::optional<int> exit_status() const { return exit_status_; }

 private:
  enum class Phase { kStarting, kRunning, kShutDown };
  struct OpenDocument {
    Document document;
    std::optional<LexedText> lexed;  // of its current text
    bool dirty = true;               // its diagnostics may be outdated
    bool has_diagnostics = false;
    // Where the cursor is: reported by the client, otherwise the line edited last.
    std::optional<std::uint32_t> current_line;
  };
  struct Deferred {
    RequestId id;
    std::variant<HoverCall, SignatureCall> call;
  };
  using Costs = std::vector<ApiCosts>;

  void Dispatch(Message message, const CancelToken& cancelled);
  void RefuseEarlyOrLate(const Message& message);
  // An unreadable message may have been an edit.
  void ForgetDocuments();
  void ShutDown(const RequestId& id);

  // Notifications
  void On(const OpenCall& call);
  void On(const ChangeCall& call);
  void On(const CloseCall& call);
  void On(const ConfigurationCall& call);
  void On(const CursorCall& call);
  void On(const AnswerCall& call);
  void On(const CancelCall& call);
  void OnInitialized();
  // Requests
  void Answer(const RequestId& id, const InitializeCall& call);
  void Answer(const RequestId& id, const HoverCall& call);
  void Answer(const RequestId& id, const SignatureCall& call);
  void Answer(const RequestId& id, const CompletionCall& call, const CancelToken& cancelled);
  void Answer(const RequestId& id, const ResolveCall& call);
  void Answer(const RequestId& id, const HintCall& call, const CancelToken& cancelled);
  void Answer(const RequestId& id, const ActionCall& call);
  void Answer(const RequestId& id, const ExecuteCall& call);

  void Send(std::string_view json) { options_.send(json); }
  void Refresh();
  void Apply(const Settings& settings);
  StatusFacts GetStatus() const;
  // nullptr if the document is not open or its text is unknown.
  OpenDocument* FindDocument(const std::string& uri);
  static const LexedText& LexedOf(OpenDocument& open);
  // The symbols that a name may refer to; empty if it is the file's own. `index` may be null.
  static std::vector<std::string> SymbolsOf(const OpenDocument& open, const Name& name,
                                            const CxxIndex* index);
  Costs CostsOf(const OpenDocument& open, const Name& name);
  Costs CostsOfSymbols(const std::vector<std::string>& symbols);
  // Candidates for a called name that is not itself a function, with a note that states this: a
  // member of an unknown class, or a macro for one function.
  struct Guess {
    Costs costs;
    std::string note;
  };
  Guess GuessOf(const OpenDocument& open, const Name& name, bool markdown, const CxxIndex* index);
  // The name's costs, otherwise a guess; nullopt if the C++ names must be indexed first.
  std::optional<Guess> CostsOrGuess(const OpenDocument& open, const Name& name, bool markdown);
  // The function that a macro with this name calls, judging by names; "" if there is not exactly
  // one candidate.
  std::string FunctionOfMacro(const std::string& macro);
  // The text to be completed.
  struct Typed {
    std::string name;       // "Json::Re", "Json::", "infl"
    std::size_t begin = 0;  // of the name's last component, in the document
    std::size_t end = 0;
    bool scoped = false;
  };
  // nullopt if the text cannot be the name of a function.
  static std::optional<Typed> TypedAt(OpenDocument& open, std::size_t offset);
  // Appends an item to `items` for each name with this prefix. Returns true if there may be more.
  bool AddNames(const Typed& typed, const CancelToken& cancelled,
                std::vector<CompletionItem>& items);
  bool AddCxxNames(const Typed& typed, const LexedText& lexed, const CancelToken& cancelled,
                   std::vector<CompletionItem>& items);
  std::optional<CompletionItem> ItemOf(const std::string& name, const Costs& costs) const;
  // The label of a call on this line: its costs above the thresholds, on the current line its
  // typical cost in any case; "" if none.
  std::string HintOf(const OpenDocument& open, const Costs& costs, std::uint32_t line) const;
  // Whether the line has hints that it would not have if the cursor were elsewhere.
  bool HasHintsOfCursor(OpenDocument& open, std::optional<std::uint32_t> line);
  // Whether the name may be found once the C++ names have been indexed.
  bool MayComeLater(const OpenDocument& open, const Name& name) const;
  // The address of the page about an API: by the setting, otherwise on this machine; "" = none.
  std::string PageOf(const stats::ApiKey& api) const;
  // The same for a link in a text. A local page is linked by our command if the client can run it
  // from a link, otherwise by its address if the page will be written.
  std::string LinkTo(const ApiCosts& costs, bool markdown, bool write) const;
  bool HasLocalPages() const;
  std::string CostTextOf(const Costs& costs, bool markdown, std::string note = "",
                         bool write_page = false) const;
  // The names that start in the range, or the one at an empty range.
  static std::vector<Name> NamesIn(OpenDocument& open, const Range& range);
  void Publish(const std::string& uri, OpenDocument& open);
  void MarkAllDirty();

  ServerOptions options_;
  Phase phase_ = Phase::kStarting;
  std::optional<int> exit_status_;
  ClientFacts client_;
  Settings settings_;
  CostBook book_;
  CheckBook check_;
  std::set<std::string, std::less<>> flagged_names_;  // last components of the flagged names
  std::shared_ptr<const CxxIndex> index_;             // null until it is ready
  std::unordered_map<std::string, OpenDocument> documents_;
  std::size_t documents_bytes_ = 0;
  std::vector<Deferred> deferred_;
  std::int64_t last_request_ = 0;  // id of our last request
  std::optional<std::int64_t> asked_configuration_;
};

}  // namespace fieldcost::lsp
