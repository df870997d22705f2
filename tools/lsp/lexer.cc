#include "tools/lsp/lexer.h"

#include <algorithm>
#include <unordered_map>

#include "tools/lsp/lsp_limits.h"
#include "tools/lsp/tokens.h"

namespace fieldcost::lsp {
namespace {

using Kind = Token::Kind;

bool IsMark(const Token& token, std::string_view marks) {
  return token.kind == Kind::kMark &&
         std::any_of(marks.begin(), marks.end(), [&](char mark) { return mark == token.mark; });
}

// The range in which a name is declared by the file itself.
struct Local {
  std::uint32_t begin;
  std::uint32_t end;
};

struct Scope {
  bool body = false;       // of a function: its content is code
  bool anonymous = false;  // unnamed namespace
  std::string space;       // the enclosing namespaces, "a::b"
  std::vector<std::pair<std::string_view, std::uint32_t>> locals;  // name and its position
};

// Sorts the ranges and merges overlapping ones.
void Join(std::vector<Local>& locals) {
  std::sort(locals.begin(), locals.end(),
            [](const Local& a, const Local& b) { return a.begin < b.begin; });
  std::size_t kept = 0;
  for (const Local& local : locals) {
    if (kept != 0 && local.begin <= locals[kept - 1].end) {
      locals[kept - 1].end = std::max(locals[kept - 1].end, local.end);
    } else {
      locals[kept++] = local;
    }
  }
  locals.resize(kept);
}

// Reads C or C++: collects names and the file's own declarations.
class CReader {
 public:
  CReader(std::string_view text, const std::vector<Token>& tokens) : text_(text), tokens_(tokens) {
    scopes_.emplace_back();
  }

  LexedText Run() {
    for (at_ = 0; at_ < tokens_.size(); ++at_) {
      const Token& token = tokens_[at_];
      if (token.kind == Kind::kMark) {
        OnMark(token);
      } else if (token.kind == Kind::kKeyword) {
        OnKeyword(token);
      } else if (token.kind == Kind::kName) {
        OnName(token);
      }
    }
    const auto end = static_cast<std::uint32_t>(text_.size());
    EndPending(end);
    while (!scopes_.empty()) EndScope(end);
    for (auto& [name, locals] : locals_) Join(locals);
    for (Name& name : lexed_.names) name.local = IsLocal(name);
    return std::move(lexed_);
  }

 private:
  const Token* At(std::size_t index) const {
    return index < tokens_.size() ? &tokens_[index] : nullptr;
  }
  const Token* Before(std::size_t steps = 1) const {
    return at_ >= steps ? &tokens_[at_ - steps] : nullptr;
  }
  std::string_view Text(const Token& token) const { return TextOf(text_, token); }

  void OnMark(const Token& token) {
    switch (token.mark) {
      case '(':
        ++parentheses_;
        break;
      case ')':
        if (parentheses_ > 0) --parentheses_;
        if (parentheses_ == 0) has_parameters_ = true;
        break;
      case '{':
        BeginScope();
        break;
      case '}':
        EndPending(token.begin);
        if (beyond_ > 0) {
          --beyond_;
        } else if (scopes_.size() > 1) {
          EndScope(token.begin);
        }
        BeginStatement();
        break;
      case ';':
        if (parentheses_ == 0) {
          EndPending(token.begin);
          BeginStatement();
        }
        break;
      default:
        break;
    }
  }

  void BeginStatement() {
    parentheses_ = 0;
    has_parameters_ = declaring_ = opens_space_ = is_type_ = is_static_ = false;
    space_.clear();
  }

  void BeginScope() {
    if (scopes_.size() >= kMaxNesting) {
      ++beyond_;
      return;
    }
    Scope scope;
    scope.space = scopes_.back().space;
    if (opens_space_) {
      scope.anonymous = space_.empty();
      if (!space_.empty()) scope.space += (scope.space.empty() ? "" : "::") + space_;
      if (scope.space.size() > kMaxNameBytes) scope.space.clear();
      if (!scope.space.empty()) lexed_.used_namespaces.insert(scope.space);
    } else {
      scope.body = scopes_.back().body || has_parameters_ || !is_type_;
    }
    scope.locals = std::move(pending_);
    pending_.clear();
    scopes_.push_back(std::move(scope));
    BeginStatement();
  }

  void EndScope(std::uint32_t end) {
    for (const auto& [name, begin] : scopes_.back().locals) AddLocal(name, begin, end);
    scopes_.pop_back();
  }

  void EndPending(std::uint32_t end) {
    for (const auto& [name, begin] : pending_) AddLocal(name, begin, end);
    pending_.clear();
  }

  void AddLocal(std::string_view name, std::uint32_t begin, std::uint32_t end) {
    if (++local_count_ <= kMaxLocals) locals_[name].push_back({begin, end});
  }

  bool IsLocal(const Name& name) const {
    if (name.qualified != name.begin) return false;
    const auto found = locals_.find(text_.substr(name.begin, name.end - name.begin));
    if (found == locals_.end()) return false;
    const auto next =
        std::upper_bound(found->second.begin(), found->second.end(), name.begin,
                         [](std::uint32_t at, const Local& local) { return at < local.begin; });
    return next != found->second.begin() && name.begin < (next - 1)->end;
  }

  void OnKeyword(const Token& token) {
    const std::string_view word = Text(token);
    const auto all = static_cast<std::uint32_t>(text_.size());
    if (word == "define") {
      const Token* name = At(at_ + 1);
      if (name != nullptr && name->kind == Kind::kName) AddLocal(Text(*name), name->begin, all);
      return;
    }
    if (word == "using") return OnUsing();
    if (word == "namespace" && parentheses_ == 0) {
      opens_space_ = true;
      space_ = QualifiedFrom(at_ + 1);
    } else if (word == "extern") {
      const Token* next = At(at_ + 1);
      // extern "C" {
      if (next != nullptr && next->kind == Kind::kOther) is_type_ = true;
    } else if (word == "class" || word == "struct" || word == "union" || word == "enum") {
      is_type_ = true;
    } else if (word == "static") {
      is_static_ = parentheses_ == 0;
    }
  }

  // The "a::b" at a token; empty if none.
  std::string QualifiedFrom(std::size_t index) const {
    std::string space;
    for (std::size_t i = index; i < tokens_.size(); ++i) {
      const Token& token = tokens_[i];
      if (token.kind == Kind::kScope && !space.empty()) {
        space += "::";
      } else if (token.kind == Kind::kName && (space.empty() || space.ends_with("::"))) {
        space += Text(token);
      } else {
        break;
      }
      if (space.size() > kMaxNameBytes) return "";
    }
    return space;
  }

  // using namespace a::b; using a::b::name;
  void OnUsing() {
    const Token* next = At(at_ + 1);
    if (next == nullptr) return;
    const bool whole = next->kind == Kind::kKeyword && Text(*next) == "namespace";
    std::string space = QualifiedFrom(at_ + (whole ? 2 : 1));
    if (whole) ++at_;  // opens no namespace
    if (!whole) {
      const std::size_t last = space.rfind("::");
      if (last == std::string::npos) return;
      space.resize(last);
    }
    if (!space.empty() && lexed_.used_namespaces.size() < kMaxNesting) {
      lexed_.used_namespaces.insert(std::move(space));
    }
  }

  void OnName(const Token& token) {
    const Token* next = At(at_ + 1);
    const Token* before = Before();
    const bool calls = next != nullptr && IsMark(*next, "(");
    const bool typed = before != nullptr && (before->kind == Kind::kName || IsMark(*before, "*&>"));
    Name name{.begin = token.begin, .end = token.end, .qualified = Qualified(), .call = calls};
    const bool scoped = before != nullptr && before->kind == Kind::kScope;
    name.member = before != nullptr && (before->kind == Kind::kArrow || IsMark(*before, "."));
    // A member of a template instance, which only a compiler can resolve.
    if (scoped && at_ >= 2 && IsMark(*Before(2), ">")) name.member = true;
    if (calls && typed && parentheses_ == 0) OnFunctionName(name, *before);
    if (!calls && !name.member && !scoped && next != nullptr && IsMark(*next, "=;,)[{:")) {
      Declare(token);
    }
    const bool more =
        next != nullptr && next->kind == Kind::kScope;  // a scope rather than the name itself
    if (!more && !token.far) lexed_.names.push_back(name);
  }

  // "type name(": a declaration or definition unless it is "a * name(" in code.
  void OnFunctionName(Name& name, const Token& before) {
    const bool in_code = scopes_.back().body;
    if (in_code && before.kind != Kind::kName) return;
    name.call = false;
    if ((is_static_ || scopes_.back().anonymous) && name.qualified == name.begin) {
      AddLocal(text_.substr(name.begin, name.end - name.begin), 0,
               static_cast<std::uint32_t>(text_.size()));
    }
  }

  std::uint32_t Qualified() const {
    std::size_t first = at_;
    while (first >= 2 && tokens_[first - 1].kind == Kind::kScope &&
           tokens_[first - 2].kind == Kind::kName &&
           tokens_[at_].end - tokens_[first - 2].begin <= kMaxNameBytes) {
      first -= 2;
    }
    return tokens_[first].begin;
  }

  bool BeginsDeclaration(const Token& token) const {
    const std::string_view word = Text(token);
    return word == "static" || word == "extern" || word == "inline" || word == "struct" ||
           word == "union" || word == "enum" || word == "class" || word == "typename";
  }

  // A variable or parameter if a type precedes it.
  void Declare(const Token& token) {
    std::size_t i = at_;
    bool pointer = false;
    while (i > 0 && IsMark(tokens_[i - 1], "*&")) {
      --i;
      pointer = true;
    }
    if (i == 0) return;
    const Token& type = tokens_[i - 1];
    bool declares = type.kind == Kind::kName || IsMark(type, ">");
    // "a * b;" declares b only at the start of a statement or in parentheses.
    if (declares && pointer && parentheses_ == 0) {
      std::size_t first = i - 1;
      while (first > 0 &&
             (tokens_[first - 1].kind == Kind::kName || tokens_[first - 1].kind == Kind::kScope)) {
        --first;
      }
      declares =
          first == 0 || IsMark(tokens_[first - 1], ";{}>") || BeginsDeclaration(tokens_[first - 1]);
    }
    // "int a, *b"
    declares = declares || (declaring_ && parentheses_ == 0 && IsMark(type, ","));
    // return, case, goto ... are keywords, "struct name;" declares no variable.
    if (!declares) return;
    if (parentheses_ == 0) {
      declaring_ = true;
      scopes_.back().locals.emplace_back(Text(token), token.begin);
    } else {
      pending_.emplace_back(Text(token), token.begin);
    }
  }

  std::string_view text_;
  const std::vector<Token>& tokens_;
  std::size_t at_ = 0;
  LexedText lexed_;
  std::vector<Scope> scopes_;                                        // the file itself first
  std::size_t beyond_ = 0;                                           // braces above kMaxNesting
  std::vector<std::pair<std::string_view, std::uint32_t>> pending_;  // declared in parentheses
  std::unordered_map<std::string_view, std::vector<Local>> locals_;
  std::size_t local_count_ = 0;
  // The state of the current statement:
  std::size_t parentheses_ = 0;
  bool has_parameters_ = false;
  bool declaring_ = false;
  bool opens_space_ = false;
  bool is_type_ = false;
  bool is_static_ = false;
  std::string space_;
};

LexedText ReadOther(std::string_view text, const std::vector<Token>& tokens, Family family) {
  LexedText lexed;
  // Python's own open() is not libc's: only attributes of a loaded library count.
  const bool python = family == Family::kPython;
  if (python && text.find("ctypes") == std::string_view::npos &&
      text.find("cffi") == std::string_view::npos) {
    return lexed;
  }
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (token.kind != Kind::kName || token.far) continue;
    const bool member = i > 0 && (IsMark(tokens[i - 1], ".") || tokens[i - 1].kind == Kind::kArrow);
    if (python && !member) continue;
    lexed.names.push_back({.begin = token.begin,
                           .end = token.end,
                           .qualified = token.begin,
                           .call = i + 1 < tokens.size() && IsMark(tokens[i + 1], "(")});
  }
  return lexed;
}

}  // namespace

LexedText Lex(std::string_view untrusted_text, const Language& language) {
  const std::vector<Token> tokens = Tokenise(untrusted_text, language);
  if (language.family == Family::kC || language.family == Family::kCxx) {
    return CReader(untrusted_text, tokens).Run();
  }
  return ReadOther(untrusted_text, tokens, language.family);
}

const Name* NameAt(const LexedText& lexed, std::size_t offset) {
  const auto next =
      std::upper_bound(lexed.names.begin(), lexed.names.end(), offset,
                       [](std::size_t at, const Name& name) { return at < name.begin; });
  if (next == lexed.names.begin()) return nullptr;
  const Name& name = *(next - 1);
  return offset <= name.end ? &name : nullptr;
}

}  // namespace fieldcost::lsp
