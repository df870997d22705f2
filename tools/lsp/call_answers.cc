// The responses of Server about calls: signature help and inlay hints.

#include <algorithm>
#include <utility>

#include "tools/lsp/cost_text.h"
#include "tools/lsp/enclosing_call.h"
#include "tools/lsp/lsp_limits.h"
#include "tools/lsp/lsp_server.h"

namespace fieldcost::lsp {

void Server::Answer(const RequestId& id, const SignatureCall& call) {
  OpenDocument* open = FindDocument(call.uri);
  if (open == nullptr || !settings_.signatures || !book_.freshness()) return Send(NullAnswer(id));
  const Document& document = open->document;
  const std::optional<std::size_t> called = EnclosingCall(
      document.text(), LanguageOf(document.language()), document.OffsetOf(call.position));
  const Name* name = called ? NameAt(LexedOf(*open), *called) : nullptr;
  if (name == nullptr) return Send(NullAnswer(id));
  const bool markdown = client_.signature_markdown;
  std::optional<Guess> found = CostsOrGuess(*open, *name, markdown);
  if (!found) {
    deferred_.push_back({id, call});
    return;
  }
  if (found->costs.empty()) return Send(NullAnswer(id));
  // C symbols have no parameters, which this server does not know.
  std::string label = SourceName(found->costs.front());
  if (label.find('(') == std::string::npos) label += "(…)";
  Send(SignatureMessage(
      id, {.label = std::move(label),
           .documentation = {markdown, CostTextOf(found->costs, markdown, found->note)}}));
}

std::string Server::HintOf(const OpenDocument& open, const Costs& costs, std::uint32_t line) const {
  std::string label = HintText(costs.front(), *book_.freshness(), settings_);
  if (!label.empty() || !settings_.hint_current_line || open.current_line != line) return label;
  return ShortCost(costs.front(), *book_.freshness());
}

bool Server::HasHintsOfCursor(OpenDocument& open, std::optional<std::uint32_t> line) {
  if (!line || !settings_.hints || !settings_.hint_current_line || !book_.freshness()) return false;
  return std::ranges::any_of(NamesIn(open, {{*line, 0}, {*line + 1, 0}}), [&](const Name& name) {
    const Costs costs = name.call ? CostsOf(open, name) : Costs();
    return !costs.empty() && HintText(costs.front(), *book_.freshness(), settings_).empty();
  });
}

void Server::Answer(const RequestId& id, const HintCall& call, const CancelToken& cancelled) {
  OpenDocument* open = FindDocument(call.uri);
  std::vector<InlayHint> hints;
  if (open == nullptr || !settings_.hints || !book_.freshness()) {
    return Send(HintMessage(id, hints));
  }
  for (const Name& name : NamesIn(*open, call.range)) {
    if (cancelled->load()) {
      return Send(ErrorMessage(id, RpcError::kRequestCancelled, "cancelled"));
    }
    if (!name.call) continue;
    const Costs costs = CostsOf(*open, name);
    if (costs.empty()) continue;
    const Position position = open->document.PositionOf(name.end);
    std::string label = HintOf(*open, costs, position.line);
    if (label.empty()) continue;
    hints.push_back(
        {.position = position,
         .label = std::move(label),
         .tooltip = {client_.hover_markdown, CostTextOf(costs, client_.hover_markdown)}});
    if (hints.size() == kMaxHints) break;
  }
  Send(HintMessage(id, hints));
}

}  // namespace fieldcost::lsp
