#include "tools/lsp/tokens.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include "common/base/ascii.h"
#include "tools/lsp/lsp_limits.h"

namespace fieldcost::lsp {
namespace {

constexpr std::size_t kMaxRawDelimiter = 16;  // [lex.string]

// Words that are neither names of functions nor types that could declare something. Types (int,
// char) count as names, because a declared name follows them.
const std::unordered_set<std::string_view>& Keywords() {
  static const auto* const kKeywords = new std::unordered_set<std::string_view>{
      "alignas",        "alignof",       "asm",
      "break",          "case",          "catch",
      "class",          "concept",       "const_cast",
      "continue",       "co_await",      "co_return",
      "co_yield",       "decltype",      "default",
      "defined",        "delete",        "do",
      "dynamic_cast",   "else",          "enum",
      "explicit",       "extern",        "for",
      "friend",         "goto",          "if",
      "inline",         "namespace",     "new",
      "noexcept",       "operator",      "private",
      "protected",      "public",        "reinterpret_cast",
      "requires",       "return",        "sizeof",
      "static",         "static_assert", "static_cast",
      "struct",         "switch",        "template",
      "this",           "throw",         "try",
      "typedef",        "typeid",        "typename",
      "union",          "using",         "virtual",
      "while",          "_Alignof",      "_Generic",
      "_Static_assert", "__attribute__", "__asm__"};
  return *kKeywords;
}

constexpr std::size_t kLongestKeyword = 16;  // reinterpret_cast

bool IsNameStart(char c) { return IsLetter(c) || c == '_' || (c & 0x80) != 0; }
bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }
bool IsNamePart(char c) { return IsNameStart(c) || IsDigit(c); }

class Tokeniser {
 public:
  Tokeniser(std::string_view text, const Language& language) : text_(text), language_(language) {
    c_like_ = language.family == Family::kC || language.family == Family::kCxx;
  }

  std::vector<Token> Run() {
    tokens_.reserve(std::min(text_.size() / 4, kMaxTokens));
    while (at_ < text_.size() && tokens_.size() < kMaxTokens) Step();
    return std::move(tokens_);
  }

 private:
  bool Here(std::string_view what) const {
    return !what.empty() && text_[at_] == what.front() &&
           text_.compare(at_, what.size(), what) == 0;
  }

  void Step() {
    const char c = text_[at_];
    if (IsNameStart(c)) {  // tested first, because most characters belong to names
      line_empty_ = false;
      Word();
    } else if (c == '\n') {
      ++at_;
      line_ = at_;
      line_empty_ = true;
    } else if (IsBlank(c)) {
      ++at_;
    } else if (Here(language_.line_comment)) {
      SkipLine();
    } else if (Here(language_.block_begin)) {
      SkipTo(language_.block_end, at_ + language_.block_begin.size());
    } else {
      const bool first = line_empty_;
      line_empty_ = false;
      if (c == '#' && first && c_like_) {
        Directive();
      } else if (language_.quotes.find(c) != std::string_view::npos) {
        Quoted(c);
      } else if (IsDigit(c)) {
        Number();
      } else {
        Mark();
      }
    }
  }

  void Add(std::size_t begin, Token::Kind kind, char mark = 0) {
    tokens_.push_back({.begin = static_cast<std::uint32_t>(begin),
                       .end = static_cast<std::uint32_t>(at_),
                       .kind = kind,
                       .mark = mark,
                       .far = begin - line_ > kMaxLineBytes});
  }

  // Skips to the end of the line; in C, a backslash before it continues the line.
  void SkipLine() {
    for (;;) {
      const std::size_t end = text_.find('\n', at_);
      if (end == std::string_view::npos) {
        at_ = text_.size();
        return;
      }
      const std::size_t last = end > at_ && text_[end - 1] == '\r' ? end - 1 : end;
      const bool goes_on = c_like_ && last > at_ && text_[last - 1] == '\\';
      at_ = goes_on ? end + 1 : end;
      if (!goes_on) return;
      line_ = at_;
    }
  }

  void SkipTo(std::string_view end_mark, std::size_t from) {
    const std::size_t end = text_.find(end_mark, from);
    const std::size_t begin = at_;
    at_ = end == std::string_view::npos ? text_.size() : end + end_mark.size();
    FindLine(begin);
  }

  // After skipping several lines.
  void FindLine(std::size_t begin) {
    const std::size_t end = text_.substr(begin, at_ - begin).rfind('\n');
    if (end != std::string_view::npos) line_ = begin + end + 1;
  }

  void Directive() {
    ++at_;
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    const std::size_t begin = at_;
    while (at_ < text_.size() && IsNamePart(text_[at_])) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word == "define" || word == "undef") {
      Add(begin, Token::Kind::kKeyword);
    } else if (word != "if" && word != "elif") {
      SkipLine();  // #include, #pragma, #error ...
    }
  }

  void Quoted(char quote) {
    const std::size_t begin = at_;
    const bool python = language_.family == Family::kPython;
    if (python && text_.compare(at_, 3, std::string(3, quote)) == 0) {
      SkipTo(std::string(3, quote), at_ + 3);
    } else {
      ++at_;
      const bool lines = language_.quoted_lines || quote == '`';
      while (at_ < text_.size() && text_[at_] != quote) {
        if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
          ++at_;
        } else if (text_[at_] == '\n' && !lines) {
          break;
        }
        ++at_;
      }
      // Rust's 'lifetime or an apostrophe: not a literal if it does not end on its line.
      if (at_ < text_.size() && text_[at_] == quote) {
        ++at_;
      } else if (quote == '\'' && !c_like_) {
        at_ = begin + 1;
      }
      FindLine(begin);
    }
    Add(begin, Token::Kind::kOther);
  }

  void Word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && IsNamePart(text_[at_])) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (c_like_ && at_ < text_.size() && text_[at_] == '"' &&
        (word == "R" || word == "u8R" || word == "uR" || word == "UR" || word == "LR")) {
      RawText(begin);
      return;
    }
    const bool keyword = c_like_ && word.size() <= kLongestKeyword && Keywords().contains(word);
    Add(begin, keyword ? Token::Kind::kKeyword : Token::Kind::kName);
  }

  void RawText(std::size_t begin) {
    const std::size_t open = text_.find('(', at_);
    if (open == std::string_view::npos || open - at_ > kMaxRawDelimiter + 1) {
      Quoted('"');
      return;
    }
    const std::string end = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
    SkipTo(end, open);
    Add(begin, Token::Kind::kOther);
  }

  void Number() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (IsNamePart(text_[at_]) || text_[at_] == '.' ||
                                  (text_[at_] == '\'' && language_.family == Family::kCxx))) {
      ++at_;
    }
    Add(begin, Token::Kind::kOther);
  }

  void Mark() {
    const std::size_t begin = at_;
    const char c = text_[at_];
    const bool scope = Here("::");
    const bool arrow = Here("->");
    at_ += scope || arrow ? 2 : 1;
    const Token::Kind pair = scope ? Token::Kind::kScope : Token::Kind::kArrow;
    Add(begin, scope || arrow ? pair : Token::Kind::kMark, c);
  }

  std::string_view text_;
  const Language& language_;
  bool c_like_ = false;
  std::size_t at_ = 0;
  std::size_t line_ = 0;
  bool line_empty_ = true;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> Tokenise(std::string_view untrusted_text, const Language& language) {
  return Tokeniser(untrusted_text, language).Run();
}

}  // namespace fieldcost::lsp
