#include "tools/cli/costs/header_names.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "common/base/file.h"
#include "tools/lsp/language.h"
#include "tools/lsp/tokens.h"

namespace fieldcost::cli {
namespace {

using lsp::Token;

bool IsMark(const Token& token, std::string_view marks) {
  return token.kind == Token::Kind::kMark && marks.find(token.mark) != std::string_view::npos;
}

// The end of the line at `begin`, which a backslash continues.
std::size_t EndOfDirective(std::string_view text, std::size_t begin) {
  for (std::size_t end = text.find('\n', begin); end != std::string_view::npos;
       end = text.find('\n', end + 1)) {
    const std::size_t last = end > begin && text[end - 1] == '\r' ? end - 1 : end;
    if (last == begin || text[last - 1] != '\\') return end;
  }
  return text.size();
}

// The tokens outside macro definitions and braces.
std::vector<Token> OuterTokens(std::string_view text) {
  std::vector<Token> outer;
  std::vector<bool> hides;  // for each open brace, whether its content is left out
  std::size_t hidden = 0;   // how many do
  std::size_t directive_end = 0;
  bool after_literal = false;
  for (const Token& token : lsp::Tokenise(text, lsp::LanguageOf("cpp"))) {
    if (token.begin < directive_end) continue;
    const std::string_view word = TextOf(text, token);
    if (token.kind == Token::Kind::kKeyword && (word == "define" || word == "undef")) {
      directive_end = EndOfDirective(text, token.end);
      continue;
    }
    if (IsMark(token, "{")) {
      hides.push_back(!after_literal);  // extern "C" {
      hidden += hides.back() ? 1U : 0U;
    } else if (IsMark(token, "}") && !hides.empty()) {
      hidden -= hides.back() ? 1U : 0U;
      hides.pop_back();
    }
    after_literal = token.kind == Token::Kind::kOther;
    if (hidden == 0) outer.push_back(token);
  }
  return outer;
}

// Whether the tokens around a name are those of a declaration.
bool Declares(const Token& before, std::span<const Token> after) {
  const auto is = [&](std::size_t index, std::string_view mark) {
    return index < after.size() && IsMark(after[index], mark);
  };
  const bool typed = before.kind == Token::Kind::kName || IsMark(before, "*&>)");
  if (typed && is(0, "(")) return true;                              // int f(
  if (IsMark(before, "(") && is(0, ")") && is(1, "(")) return true;  // int (f)(
  if (IsMark(before, ",") && is(0, ",") && is(1, "(")) return true;  // M(1, int, f, (
  return typed && !after.empty() && after[0].kind == Token::Kind::kName && is(1, "(") && is(2, "(");
}

// The headers at a path, by the names of groups.
Result<std::map<std::string, std::filesystem::path>> FindHeaders(
    const std::filesystem::path& root) {
  constexpr std::array<std::string_view, 4> kSuffixes = {".h", ".hh", ".hpp", ".hxx"};
  std::map<std::string, std::filesystem::path> headers;
  std::error_code error;
  const auto status = std::filesystem::status(root, error);
  if (!std::filesystem::exists(status)) {
    return Fail(ErrorCode::kNotFound, "read headers: {} does not exist", root.string());
  }
  if (!std::filesystem::is_directory(status)) {
    headers.emplace(root.filename().string(), root);
    return headers;
  }
  std::size_t entries = 0;
  std::filesystem::recursive_directory_iterator at(root, error);
  for (; !error && at != std::filesystem::recursive_directory_iterator(); at.increment(error)) {
    const bool is_header =
        std::ranges::find(kSuffixes, at->path().extension().string()) != kSuffixes.end();
    std::error_code ignored;
    if (is_header && at->is_regular_file(ignored)) {
      headers.emplace(at->path().lexically_relative(root).string(), at->path());
    }
    if (++entries > kMaxHeaderEntries || headers.size() > kMaxHeaders) {
      return Fail(ErrorCode::kTooLarge,
                  "read headers: {} contains more than {} headers or {} files; name the library's "
                  "own directory",
                  root.string(), kMaxHeaders, kMaxHeaderEntries);
    }
  }
  if (error) {
    return Fail(
        error == std::errc::permission_denied ? ErrorCode::kPermissionDenied : ErrorCode::kIo,
        "read headers: search {}: {}", root.string(), error.message());
  }
  if (headers.empty()) {
    return Fail(ErrorCode::kNotFound, "read headers: {} contains no file NAME.h", root.string());
  }
  return headers;
}

}  // namespace

std::set<std::string> DeclaredFunctions(std::string_view untrusted_text) {
  std::set<std::string> names;
  const std::vector<Token> tokens = OuterTokens(untrusted_text);
  for (std::size_t i = 1; i < tokens.size(); ++i) {
    if (tokens[i].kind == Token::Kind::kName &&
        Declares(tokens[i - 1], std::span(tokens).subspan(i + 1))) {
      names.emplace(TextOf(untrusted_text, tokens[i]));
    }
  }
  return names;
}

Result<analysis::HeaderOf> ReadHeaders(const std::filesystem::path& root) {
  analysis::HeaderOf header_of;
  FIELDCOST_ASSIGN(const auto headers, FindHeaders(root));
  for (const auto& [name, file] : headers) {
    FIELDCOST_ASSIGN(const std::string untrusted_text, ReadFile(file, kMaxHeaderFileBytes));
    for (const std::string& function : DeclaredFunctions(untrusted_text)) {
      header_of.try_emplace(function, name);
    }
  }
  return header_of;
}

}  // namespace fieldcost::cli
