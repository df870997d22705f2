#include "tools/lsp/lsp_server.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "common/base/log.h"
#include "common/draw/numbers.h"
#include "tools/lsp/cost_text.h"
#include "tools/lsp/lsp_limits.h"
#include "tools/lsp/source_name.h"

namespace fieldcost::lsp {
namespace {

// The line at the end of an edit's new text; nullopt if it was whole lines or the whole document.
std::optional<std::uint32_t> LineAfter(const DocumentChange& change) {
  if (!change.range || change.text.ends_with('\n')) return std::nullopt;
  const auto lines = std::count(change.text.begin(), change.text.end(), '\n');
  return change.range->start.line + static_cast<std::uint32_t>(lines);
}

}  // namespace

Server::Server(ServerOptions options)
    : options_(std::move(options)), book_(options_.catalog_file), check_(options_.check_file) {}

void Server::Handle(Message message, const CancelToken& cancelled) {
  if (exit_status_) return;
  if (std::holds_alternative<ExitCall>(message.call)) {
    exit_status_ = phase_ == Phase::kShutDown ? 0 : 1;
    return;
  }
  const auto* bad = std::get_if<BadCall>(&message.call);
  if (bad != nullptr && bad->error == RpcError::kParseError) ForgetDocuments();
  // A request that would be refused in any case is refused for that reason.
  const bool in_time = phase_ == Phase::kRunning || (bad != nullptr && bad->method == "initialize");
  if (bad != nullptr && (in_time || bad->error != RpcError::kInvalidParams)) {
    return Send(ErrorMessage(message.id, bad->error, bad->message));
  }
  if (message.id && cancelled->load()) {
    return Send(ErrorMessage(message.id, RpcError::kRequestCancelled, "cancelled"));
  }
  const bool starts = std::holds_alternative<InitializeCall>(message.call);
  if (starts != (phase_ == Phase::kStarting)) return RefuseEarlyOrLate(message);
  if (phase_ == Phase::kShutDown) return RefuseEarlyOrLate(message);
  Dispatch(std::move(message), cancelled);
}

void Server::RefuseEarlyOrLate(const Message& message) {
  if (!message.id) return;  // notifications are dropped
  if (phase_ == Phase::kStarting) {
    return Send(ErrorMessage(message.id, RpcError::kServerNotInitialized, "not initialized yet"));
  }
  const char* const why =
      phase_ == Phase::kShutDown ? "the server is shut down" : "initialized already";
  Send(ErrorMessage(message.id, RpcError::kInvalidRequest, why));
}

void Server::Dispatch(Message message, const CancelToken& cancelled) {
  if (message.id) Refresh();
  std::visit(
      [&](const auto& call) {
        using T = std::decay_t<decltype(call)>;
        if constexpr (std::is_same_v<T, InitializedCall>) {
          OnInitialized();
        } else if constexpr (std::is_same_v<T, ShutdownCall>) {
          ShutDown(*message.id);
        } else if constexpr (std::is_same_v<T, StatusCall>) {
          Send(StatusMessage(*message.id, GetStatus()));
        } else if constexpr (std::is_same_v<T, UnknownCall>) {
          if (message.id) {
            Send(ErrorMessage(message.id, RpcError::kMethodNotFound,
                              "no method of that name: " + call.method));
          }
        } else if constexpr (std::is_same_v<T, CompletionCall> || std::is_same_v<T, HintCall>) {
          Answer(*message.id, call, cancelled);
        } else if constexpr (std::is_same_v<T, InitializeCall> || std::is_same_v<T, HoverCall> ||
                             std::is_same_v<T, SignatureCall> || std::is_same_v<T, ResolveCall> ||
                             std::is_same_v<T, ActionCall> || std::is_same_v<T, ExecuteCall>) {
          Answer(*message.id, call);
        } else if constexpr (!std::is_same_v<T, BadCall> && !std::is_same_v<T, ExitCall>) {
          On(call);
        }
      },
      message.call);
}

void Server::Answer(const RequestId& id, const InitializeCall& call) {
  client_ = call.client;
  if (call.settings) settings_ = *call.settings;
  phase_ = Phase::kRunning;
  Send(InitializeAnswer(id, client_, options_.version));
}

void Server::OnInitialized() {
  if (client_.configuration) On(ConfigurationCall{});
}

void Server::ShutDown(const RequestId& id) {
  phase_ = Phase::kShutDown;
  for (const Deferred& waiting : std::exchange(deferred_, {})) Send(NullAnswer(waiting.id));
  Send(NullAnswer(id));
}

void Server::ForgetDocuments() {
  for (auto& [uri, open] : documents_) {
    open.document.Forget();
    open.lexed.reset();
    open.dirty = true;
  }
  documents_bytes_ = 0;
}

void Server::On(const OpenCall& call) {
  On(CloseCall{call.uri});
  if (documents_.size() >= kMaxDocuments ||
      documents_bytes_ + call.text.size() > kMaxAllDocumentsBytes) {
    LogWarning("too many open documents: {} is not annotated", call.uri);
    return;
  }
  OpenDocument open{.document = Document(call.language, call.text, client_.encoding)};
  documents_bytes_ += open.document.text().size();
  documents_.emplace(call.uri, std::move(open));
}

void Server::On(const ChangeCall& call) {
  const auto found = documents_.find(call.uri);
  if (found == documents_.end()) return;
  OpenDocument& open = found->second;
  documents_bytes_ -= open.document.text().size();
  if (call.lost) {
    open.document.Forget();
  } else if (const Status applied = open.document.Apply(call.changes); !applied) {
    LogWarning("{} is not annotated: {}", call.uri, applied.error().message);
  }
  documents_bytes_ += open.document.text().size();
  if (!call.changes.empty()) open.current_line = LineAfter(call.changes.back());
  open.lexed.reset();
  open.dirty = true;
}

void Server::On(const CloseCall& call) {
  const auto found = documents_.find(call.uri);
  if (found == documents_.end()) return;
  documents_bytes_ -= found->second.document.text().size();
  if (found->second.has_diagnostics) Send(DiagnosticsNotification(call.uri, {}));
  documents_.erase(found);
}

void Server::On(const ConfigurationCall& call) {
  if (call.settings) return Apply(*call.settings);
  if (!client_.configuration) return;
  asked_configuration_ = ++last_request_;
  Send(ConfigurationRequest(*asked_configuration_));
}

void Server::On(const AnswerCall& call) {
  if (asked_configuration_ != call.id) return;
  asked_configuration_.reset();
  if (call.settings) Apply(*call.settings);
}

void Server::On(const CursorCall& call) {
  OpenDocument* open = FindDocument(call.uri);
  if (open == nullptr || open->current_line == call.position.line) return;
  const bool changes = client_.hint_refresh && (HasHintsOfCursor(*open, open->current_line) ||
                                                HasHintsOfCursor(*open, call.position.line));
  open->current_line = call.position.line;
  if (changes) Send(HintRefreshRequest(++last_request_));
}

void Server::On(const CancelCall& call) {
  // Requests waiting in the queue are marked there.
  std::erase_if(deferred_, [&](const Deferred& deferred) {
    if (deferred.id != call.id) return false;
    Send(ErrorMessage(deferred.id, RpcError::kRequestCancelled, "cancelled"));
    return true;
  });
}

void Server::Apply(const Settings& settings) {
  if (settings == settings_) return;
  settings_ = settings;
  MarkAllDirty();
  if (client_.hint_refresh) Send(HintRefreshRequest(++last_request_));
}

void Server::Refresh() {
  if (!book_.Refresh()) return;
  if (options_.index_names) options_.index_names();
  MarkAllDirty();
  if (phase_ != Phase::kRunning) return;
  if (client_.hint_refresh) Send(HintRefreshRequest(++last_request_));
  if (client_.status_changes) Send(StatusNotification(GetStatus()));
}

void Server::OnIndex(std::shared_ptr<const CxxIndex> index) {
  const bool first = index_ == nullptr;
  index_ = std::move(index);
  if (phase_ != Phase::kRunning) return;
  std::vector<Deferred> deferred = std::exchange(deferred_, {});
  for (const Deferred& waiting : deferred) {
    std::visit([&](const auto& call) { Answer(waiting.id, call); }, waiting.call);
  }
  MarkAllDirty();
  if (client_.hint_refresh && index_->size() != 0) {
    Send(HintRefreshRequest(++last_request_));
  }
  if (first && client_.status_changes) Send(StatusNotification(GetStatus()));
}

void Server::OnIdle() {
  if (phase_ != Phase::kRunning) return;
  Refresh();
  if (settings_.diagnostics && check_.Refresh()) {
    flagged_names_.clear();
    for (const auto& [symbol, flagged] : check_.result().flagged) {
      const std::optional<CxxName> name = ParseCxxName(symbol);
      flagged_names_.insert(name ? name->name : symbol);
    }
    MarkAllDirty();
  }
  for (auto& [uri, open] : documents_) {
    if (open.dirty) Publish(uri, open);
  }
}

void Server::MarkAllDirty() {
  for (auto& [uri, open] : documents_) open.dirty = true;
}

StatusFacts Server::GetStatus() const {
  StatusFacts status{.catalog = book_.freshness().has_value(),
                     .problem = book_.problem(),
                     .cxx_names_ready = index_ != nullptr,
                     .text = StatusText(book_.freshness(), options_.clock->Now())};
  if (settings_.diagnostics) status.flagged = check_.result().flagged.size();
  if (const auto& freshness = book_.freshness()) {
    status.snapshot_version = freshness->snapshot_version;
    status.published = draw::FormatTime(freshness->snapshot_published);
    status.last_sync = draw::FormatTime(freshness->last_sync);
    status.fragments_total = freshness->fragments_total;
    status.fragments_current = freshness->fragments_current;
    status.synthetic = freshness->synthetic;
    status.expired = freshness->Expired(options_.clock->Now());
    status.incomplete = freshness->IsIncomplete();
  }
  return status;
}

}  // namespace fieldcost::lsp
