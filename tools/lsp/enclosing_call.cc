#include "tools/lsp/enclosing_call.h"

#include <vector>

#include "tools/lsp/tokens.h"

namespace fieldcost::lsp {
namespace {

// Whether a "{" after this token begins a list of values rather than a block.
bool BeginsList(const Token& before) {
  return before.kind == Token::Kind::kMark &&
         std::string_view("(,{=").find(before.mark) != std::string_view::npos;
}

}  // namespace

std::optional<std::size_t> EnclosingCall(std::string_view untrusted_text, const Language& language,
                                         std::size_t offset) {
  const std::vector<Token> tokens = Tokenise(untrusted_text.substr(0, offset), language);
  std::size_t closed = 0;  // brackets that end before the offset
  for (std::size_t i = tokens.size(); i-- > 1;) {
    if (tokens[i].kind != Token::Kind::kMark) continue;
    switch (tokens[i].mark) {
      case ')':
      case ']':
      case '}':
        ++closed;
        break;
      case ';':
        if (closed == 0) return std::nullopt;
        break;
      case '{':
        if (closed == 0 && !BeginsList(tokens[i - 1])) return std::nullopt;
        [[fallthrough]];
      case '[':
        if (closed > 0) --closed;
        break;
      case '(':
        if (closed > 0) {
          --closed;
        } else if (tokens[i - 1].kind == Token::Kind::kName) {
          return tokens[i - 1].begin;
        }
        break;
      default:
        break;
    }
  }
  return std::nullopt;
}

}  // namespace fieldcost::lsp
