// The responses of Server to requests about a position in a document.

#include <algorithm>
#include <utility>

#include "common/base/ascii.h"
#include "common/base/percent_encode.h"
#include "common/base/text.h"
#include "tools/lsp/cost_text.h"
#include "tools/lsp/lsp_limits.h"
#include "tools/lsp/lsp_server.h"
#include "tools/lsp/source_name.h"
#include "tools/lsp/tokens.h"
#include "tools/report/cards/local_page.h"
#include "tools/report/link_template.h"

namespace fieldcost::lsp {
namespace {

// Sorts after other servers' items, since it is the last printable ASCII character.
constexpr std::string_view kSortLast = "~fieldcost ";
constexpr std::string_view kScopeMark = "::";

bool IsIdentifier(std::string_view symbol) {
  return !symbol.empty() && !IsDigit(symbol.front()) && AreAll(symbol, IsWordCharacter);
}

// A constructor's name, as written in a call, is that of its class.
std::string AsWritten(std::string name) {
  const std::vector<std::string> parts = SplitScopes(name);
  const std::size_t count = parts.size();
  const bool constructor = count >= 2 && parts[count - 1] == parts[count - 2];
  if (constructor) name.resize(name.size() - parts.back().size() - kScopeMark.size());
  return name;
}

// The start of an "a::b::" at the end of `text`; npos if none, or in a comment or literal.
std::size_t ScopesAtEnd(std::string_view text, const Language& language) {
  if (!text.ends_with(kScopeMark)) return std::string_view::npos;
  const std::vector<Token> tokens = Tokenise(text, language);
  std::size_t begin = std::string_view::npos;
  Token::Kind wanted = Token::Kind::kScope;
  for (auto token = tokens.rbegin(); token != tokens.rend() && token->kind == wanted; ++token) {
    if (token == tokens.rbegin() && token->end != text.size()) break;
    if (wanted == Token::Kind::kName) begin = token->begin;
    wanted = wanted == Token::Kind::kName ? Token::Kind::kScope : Token::Kind::kName;
  }
  return begin;
}

bool IsC(Family family) { return family == Family::kC || family == Family::kCxx; }

}  // namespace

Server::OpenDocument* Server::FindDocument(const std::string& uri) {
  const auto found = documents_.find(uri);
  const bool usable = found != documents_.end() && found->second.document.usable();
  return usable ? &found->second : nullptr;
}

const LexedText& Server::LexedOf(OpenDocument& open) {
  if (!open.lexed) {
    open.lexed = Lex(open.document.text(), LanguageOf(open.document.language()));
  }
  return *open.lexed;
}

std::vector<std::string> Server::SymbolsOf(const OpenDocument& open, const Name& name,
                                           const CxxIndex* index) {
  std::vector<std::string> symbols;
  if (name.local || name.member) return symbols;
  const std::string_view text = open.document.text();
  const std::string_view last = text.substr(name.begin, name.end - name.begin);
  const std::string_view whole = text.substr(name.qualified, name.end - name.qualified);
  if (name.qualified == name.begin) symbols.emplace_back(last);
  if (LanguageOf(open.document.language()).family == Family::kCxx && index != nullptr) {
    for (std::string& symbol : index->Find(whole, open.lexed->used_namespaces)) {
      symbols.push_back(std::move(symbol));
    }
  }
  return symbols;
}

Server::Costs Server::CostsOf(const OpenDocument& open, const Name& name) {
  return CostsOfSymbols(SymbolsOf(open, name, index_.get()));
}

Server::Costs Server::CostsOfSymbols(const std::vector<std::string>& symbols) {
  Costs costs;
  for (const std::string& symbol : symbols) {
    const CostBook::Found found = book_.Find(symbol);
    costs.insert(costs.end(), found->begin(), found->end());
  }
  const auto contributions = [](const ApiCosts& api) {
    return api.time ? api.time->contributions : 0;
  };
  std::stable_sort(costs.begin(), costs.end(), [&](const ApiCosts& a, const ApiCosts& b) {
    return contributions(a) > contributions(b);
  });
  return costs;
}

// Like deflateInit_ for deflateInit: an underscore, then only digits and underscores.
std::string Server::FunctionOfMacro(const std::string& macro) {
  const CostBook::Names names = book_.FindPrefix(macro + "_", kMaxMacroNames);
  std::string function;
  for (const std::string& symbol : names.symbols) {
    if (symbol.find_first_not_of("_0123456789", macro.size()) != std::string::npos) continue;
    if (!function.empty()) return "";
    function = symbol;
  }
  return names.more ? "" : function;
}

Server::Guess Server::GuessOf(const OpenDocument& open, const Name& name, bool markdown,
                              const CxxIndex* index) {
  Guess guess;
  const Family family = LanguageOf(open.document.language()).family;
  if (!IsC(family) || name.local || !name.call) return guess;
  const std::string last = open.document.text().substr(name.begin, name.end - name.begin);
  if (name.member) {
    if (family != Family::kCxx || index == nullptr) return guess;
    guess.costs = CostsOfSymbols(index->FindMembers(last));
    if (guess.costs.size() > kMaxMembers) guess.costs.resize(kMaxMembers);
    guess.note = "candidates by name: the object's type is unknown";
  } else if (name.qualified == name.begin) {
    const std::string function = FunctionOfMacro(last);
    if (!function.empty()) guess.costs = CostsOfSymbols({function});
    guess.note =
        fmt::format("{}: macro of {}, by its name", Code(last, markdown), Code(function, markdown));
  }
  return guess;
}

bool Server::MayComeLater(const OpenDocument& open, const Name& name) const {
  return index_ == nullptr && options_.index_names && !name.local && (!name.member || name.call) &&
         deferred_.size() < kMaxDeferred &&
         LanguageOf(open.document.language()).family == Family::kCxx;
}

std::optional<Server::Guess> Server::CostsOrGuess(const OpenDocument& open, const Name& name,
                                                  bool markdown) {
  Guess found{.costs = CostsOf(open, name), .note = ""};
  if (!found.costs.empty()) return found;
  if (!MayComeLater(open, name)) return GuessOf(open, name, markdown, index_.get());
  const std::shared_ptr<const CxxIndex> few =
      book_.IndexContaining(open.document.text().substr(name.begin, name.end - name.begin));
  if (few == nullptr) return std::nullopt;
  found.costs = CostsOfSymbols(SymbolsOf(open, name, few.get()));
  return found.costs.empty() ? GuessOf(open, name, markdown, few.get()) : found;
}

bool Server::HasLocalPages() const {
  return settings_.drill_down_url.empty() && !options_.cache_directory.empty();
}

std::string Server::PageOf(const stats::ApiKey& api) const {
  if (!HasLocalPages()) return report::FillUntrustedLink(settings_.drill_down_url, api);
  return FileUrl(report::LocalPageFile(options_.cache_directory, api).string());
}

std::string Server::LinkTo(const ApiCosts& costs, bool markdown, bool write) const {
  if (!HasLocalPages()) return PageOf(costs.api);
  if (client_.command_links && markdown) return OpenDetailsLink(stats::DisplayName(costs.api));
  if (!write || !options_.write_page) return "";
  options_.write_page({.api = costs.api, .installed = costs.installed});
  return PageOf(costs.api);
}

std::string Server::CostTextOf(const Costs& costs, bool markdown, std::string note,
                               bool write_page) const {
  return CostText(costs, *book_.freshness(),
                  {.markdown = markdown,
                   .now = options_.clock->Now(),
                   .link = LinkTo(costs.front(), markdown, write_page),
                   .note = std::move(note)});
}

std::vector<Name> Server::NamesIn(OpenDocument& open, const Range& range) {
  const LexedText& lexed = LexedOf(open);
  const std::size_t begin = open.document.OffsetOf(range.start);
  const std::size_t end = open.document.OffsetOf(range.end);
  if (begin >= end) {
    const Name* name = NameAt(lexed, begin);
    return name == nullptr ? std::vector<Name>() : std::vector<Name>{*name};
  }
  const auto before = [](const Name& name, std::size_t at) { return name.begin < at; };
  const auto first = std::lower_bound(lexed.names.begin(), lexed.names.end(), begin, before);
  const auto last = std::lower_bound(first, lexed.names.end(), end, before);
  return {first, last};
}

void Server::Answer(const RequestId& id, const HoverCall& call) {
  OpenDocument* open = FindDocument(call.uri);
  if (open == nullptr || !settings_.hover || !book_.freshness()) return Send(NullAnswer(id));
  const Name* name = NameAt(LexedOf(*open), open->document.OffsetOf(call.position));
  if (name == nullptr) return Send(NullAnswer(id));
  const bool markdown = client_.hover_markdown;
  const std::optional<Guess> found = CostsOrGuess(*open, *name, markdown);
  if (!found) {
    deferred_.push_back({id, call});
    return;
  }
  if (found->costs.empty()) return Send(NullAnswer(id));
  Send(HoverMessage(id,
                    {.contents = {markdown, CostTextOf(found->costs, markdown, found->note, true)},
                     .range = open->document.RangeOf(name->begin, name->end)}));
}

std::optional<Server::Typed> Server::TypedAt(OpenDocument& open, std::size_t offset) {
  const Language& language = LanguageOf(open.document.language());
  const bool cxx = language.family == Family::kCxx;
  const std::string_view text = open.document.text();
  Typed typed{.name = "", .begin = offset, .end = offset, .scoped = false};
  std::size_t qualified = offset;
  if (const Name* name = NameAt(LexedOf(open), offset)) {
    if (name->member) return std::nullopt;
    typed.begin = name->begin;
    qualified = name->qualified;
  } else {
    qualified = cxx ? ScopesAtEnd(text.substr(0, offset), language) : std::string_view::npos;
    if (qualified == std::string_view::npos) return std::nullopt;
  }
  typed.scoped = qualified != typed.begin;
  if (typed.scoped && !cxx) return std::nullopt;
  // Removes blanks from the name as typed.
  for (const std::string& scope : SplitScopes(text.substr(qualified, typed.begin - qualified))) {
    typed.name += scope + std::string(kScopeMark);
  }
  typed.name += text.substr(typed.begin, offset - typed.begin);
  return typed;
}

std::optional<CompletionItem> Server::ItemOf(const std::string& name, const Costs& costs) const {
  if (costs.empty()) return std::nullopt;
  const std::string cost = ShortCost(costs.front(), *book_.freshness());
  if (cost.empty()) return std::nullopt;
  std::set<std::string_view> libraries;
  for (const ApiCosts& api : costs) libraries.insert(api.api.soname);
  std::string library = EscapeControl(costs.front().api.soname);
  if (libraries.size() > 1) library += fmt::format(" and {} more", libraries.size() - 1);
  return CompletionItem{.label = name,
                        .text = name,
                        .symbol = name,
                        .detail = " " + cost,
                        .description = std::move(library),
                        .sort_text = std::string(kSortLast) + name,
                        .range = {}};
}

bool Server::AddNames(const Typed& typed, const CancelToken& cancelled,
                      std::vector<CompletionItem>& items) {
  const auto limit = static_cast<std::size_t>(settings_.completion_max_items);
  // Several libraries may have the symbol.
  const CostBook::Names names = book_.FindPrefix(typed.name, limit * kMaxLibraries);
  for (const std::string& symbol : names.symbols) {
    if (cancelled->load() || items.size() == limit) break;
    if (!IsIdentifier(symbol)) continue;
    if (symbol.starts_with("_Z") && !typed.name.starts_with("_Z")) continue;
    if (std::optional<CompletionItem> item = ItemOf(symbol, *book_.Find(symbol))) {
      items.push_back(*std::move(item));
    }
  }
  return names.more || items.size() == limit;
}

bool Server::AddCxxNames(const Typed& typed, const LexedText& lexed, const CancelToken& cancelled,
                         std::vector<CompletionItem>& items) {
  if (index_ == nullptr) return options_.index_names != nullptr;
  const auto limit = static_cast<std::size_t>(settings_.completion_max_items);
  std::vector<std::string> scopes = {""};
  for (const std::string& used : lexed.used_namespaces) {
    if (scopes.size() <= kMaxUsedNamespaces) scopes.push_back(used + std::string(kScopeMark));
  }
  bool more = false;
  for (const std::string& scope : scopes) {
    const std::vector<std::string> names = index_->FindPrefix(scope + typed.name, limit);
    more = more || names.size() == limit;
    for (const std::string& name : names) {
      if (cancelled->load() || items.size() == limit) return true;
      const std::string written = AsWritten(name.substr(scope.size()));
      const bool fits = written.starts_with(typed.name) && written.size() > typed.name.size();
      const bool there = std::ranges::any_of(
          items, [&](const CompletionItem& item) { return item.label == written; });
      if (!fits || there) continue;
      std::optional<CompletionItem> item = ItemOf(written, CostsOfSymbols(index_->Find(name, {})));
      if (!item) continue;
      item->text = written.substr(typed.name.size() - (typed.end - typed.begin));
      item->symbol = name;
      items.push_back(*std::move(item));
    }
  }
  return more;
}

void Server::Answer(const RequestId& id, const CompletionCall& call, const CancelToken& cancelled) {
  OpenDocument* open = FindDocument(call.uri);
  std::vector<CompletionItem> items;
  const auto answer = [&](bool incomplete) {
    Send(CompletionMessage(id, items, incomplete, client_.label_details));
  };
  if (open == nullptr || !settings_.completion || !book_.freshness()) return answer(false);
  const Family family = LanguageOf(open->document.language()).family;
  if (settings_.completion_beside_others && IsC(family)) return answer(false);
  const std::optional<Typed> typed = TypedAt(*open, open->document.OffsetOf(call.position));
  if (!typed || typed->name.size() > kMaxNameBytes) return answer(false);
  // The prefix is too short to offer names, so the client must ask again.
  if (typed->name.size() < settings_.completion_min_prefix) return answer(true);
  bool more = !typed->scoped && AddNames(*typed, cancelled, items);
  if (family == Family::kCxx) {
    more = AddCxxNames(*typed, LexedOf(*open), cancelled, items) || more;
  }
  if (cancelled->load()) return Send(ErrorMessage(id, RpcError::kRequestCancelled, "cancelled"));
  for (CompletionItem& item : items) item.range = open->document.RangeOf(typed->begin, typed->end);
  answer(more);
}

void Server::Answer(const RequestId& id, const ResolveCall& call) {
  Costs costs = *book_.Find(call.symbol);
  if (costs.empty() && index_ != nullptr) costs = CostsOfSymbols(index_->Find(call.symbol, {}));
  if (costs.empty()) return Send(ResolveMessage(id, call.item_json, "", {}));
  const ApiCosts& first = costs.front();
  Send(ResolveMessage(
      id, call.item_json,
      fmt::format("{}  {}", ShortCost(first, *book_.freshness()), EscapeControl(first.api.soname)),
      {client_.item_markdown, CostTextOf(costs, client_.item_markdown)}));
}

void Server::Answer(const RequestId& id, const ActionCall& call) {
  OpenDocument* open = FindDocument(call.uri);
  std::vector<OpenAction> actions;
  const bool linked = !PageOf({}).empty();
  if (open == nullptr || !linked || !book_.freshness()) return Send(ActionMessage(id, actions));
  std::set<std::string> seen;
  for (const Name& name : NamesIn(*open, call.range)) {
    for (const ApiCosts& costs : CostsOf(*open, name)) {
      std::string api = stats::DisplayName(costs.api);
      if (actions.size() == kMaxActions || !seen.insert(api).second) continue;
      actions.push_back({.title = fmt::format("fieldcost: open details of {} ({})",
                                              SourceName(costs), EscapeControl(costs.api.soname)),
                         .api = std::move(api)});
    }
    if (actions.size() == kMaxActions) break;
  }
  Send(ActionMessage(id, actions));
}

void Server::Answer(const RequestId& id, const ExecuteCall& call) {
  if (call.command != kOpenDetailsCommand) {
    return Send(ErrorMessage(id, RpcError::kInvalidParams, "no such command: " + call.command));
  }
  const std::size_t mark = call.api.find('!');
  const CostBook::Found found =
      book_.Find(mark == std::string::npos ? "" : call.api.substr(mark + 1));
  const auto known = std::find_if(found->begin(), found->end(), [&](const ApiCosts& costs) {
    return stats::DisplayName(costs.api) == call.api;
  });
  if (known == found->end()) {
    return Send(ErrorMessage(id, RpcError::kRequestFailed, "not in the catalogue: " + call.api));
  }
  if (HasLocalPages()) {
    const Status written =
        WriteLocalPage(book_, known->api, options_.cache_directory, options_.clock->Now());
    if (!written) {
      return Send(ErrorMessage(id, RpcError::kRequestFailed, written.error().message));
    }
  }
  const std::string url = PageOf(known->api);
  if (url.empty()) {
    return Send(ErrorMessage(id, RpcError::kRequestFailed,
                             "the setting fieldcost.drillDown.url names no page"));
  }
  Send(client_.show_document ? ShowDocumentRequest(++last_request_, url)
                             : ShowMessageNotification("fieldcost: " + url));
  Send(NullAnswer(id));
}

void Server::Publish(const std::string& uri, OpenDocument& open) {
  open.dirty = false;
  std::vector<Diagnostic> diagnostics;
  if (settings_.diagnostics && open.document.usable() && !flagged_names_.empty()) {
    const std::string& text = open.document.text();
    for (const Name& name : LexedOf(open).names) {
      if (diagnostics.size() == kMaxDiagnostics) break;
      const std::string_view last =
          std::string_view(text).substr(name.begin, name.end - name.begin);
      if (!name.call || !flagged_names_.contains(last)) continue;
      for (const std::string& symbol : SymbolsOf(open, name, index_.get())) {
        const auto flagged = check_.result().flagged.find(symbol);
        if (flagged == check_.result().flagged.end()) continue;
        const FlaggedApi& api = flagged->second;
        diagnostics.push_back(
            {.range = open.document.RangeOf(name.begin, name.end),
             .message = FlaggedText(api, check_.result()),
             .url = report::FillUntrustedLink(settings_.drill_down_url, {.soname = api.soname,
                                                                         .package_version = {},
                                                                         .build_id = {},
                                                                         .symbol = api.symbol,
                                                                         .symbol_version = {}})});
        break;
      }
    }
  }
  if (diagnostics.empty() && !open.has_diagnostics) return;
  open.has_diagnostics = !diagnostics.empty();
  Send(DiagnosticsNotification(uri, diagnostics));
}

}  // namespace fieldcost::lsp
