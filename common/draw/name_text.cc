#include "common/draw/name_text.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "common/base/text.h"
#include "common/names/cxx_name_parts.h"

namespace fieldcost::draw {
namespace {

constexpr std::size_t kLeastName = 16;  // minimum width of a name after its indentation

// Longer names first.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kStandardNames = {
    {{"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >",
      "std::string"},
     {"std::basic_string_view<char, std::char_traits<char> >", "std::string_view"},
     {"std::__cxx11::", "std::"}}};

// The length of the module; unlike a function before a '!', it has no blanks or brackets.
std::size_t ModuleBytes(std::string_view name) {
  const std::size_t mark = name.find('!');
  const bool has_module =
      mark != std::string_view::npos && name.substr(0, mark).find_first_of(" <(") == name.npos;
  return has_module ? mark + 1 : 0;
}

// Whether a word is a position in a source file: "/srv/app.js:5:18".
bool IsSourceLine(std::string_view word) {
  const std::size_t colon = word.rfind(':');
  return colon != word.npos && colon + 1 < word.size() && word.find_first_of("/.") < colon &&
         word.find_first_not_of("0123456789", colon + 1) == word.npos;
}

// The position of the source file, line or build-id after a name, as in "f (file.c)", "JS:*f
// /a.js:5:18" and "libz.so+0x5d80 [1f95d549]"; the name's length if none. Arguments follow
// their function without a blank.
std::size_t OriginOf(std::string_view function) {
  const std::size_t begin = function.rfind(' ');
  const std::size_t end = function.size();
  if (begin == std::string_view::npos || end - begin < 3) return end;
  if (IsSourceLine(function.substr(begin + 1))) return begin;
  const char first = function[begin + 1];
  const char last = function.back();
  if (!(first == '(' && last == ')') && !(first == '[' && last == ']')) return end;
  const std::string_view origin = function.substr(begin + 2, end - begin - 3);
  return origin.find_first_of("()[]<>,") == std::string_view::npos ? begin : end;
}

std::string Joined(const NamePieces& pieces, std::size_t left_out, const Style& style) {
  std::string name;
  if (left_out != 0) {
    const std::string& last = pieces.scopes[left_out - 1];
    name = (style.utf8 ? "…" : "~") +
           std::string(last.ends_with("::") ? "::" : last.substr(last.size() - 1));
  }
  for (std::size_t i = left_out; i < pieces.scopes.size(); ++i) name += pieces.scopes[i];
  return name + pieces.name;
}

// Whether the name is a Go function, such as "github.com/a/b.(*T).Run" and "app/store.Open". Other
// names have no path before a '.', and no pointer in brackets after one.
bool IsGoName(std::string_view function) {
  if (function.find_first_of(" :<") != function.npos) return false;
  const std::size_t slash = function.rfind('/');
  const bool has_path = slash != function.npos && function.find('.', slash) != function.npos &&
                        function[0] != '/' && function[0] != '.';
  return has_path || function.find(".(*") != function.npos;
}

// Splits into "github.com/", "a/", "b.", "(*T)." and "Run". Dots in brackets, as in
// "Map[go.shape.int]", do not separate.
void DivideGoName(std::string_view function, NamePieces& pieces) {
  const std::size_t path_end = function.rfind('/') + 1;  // 0 without a path
  unsigned depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < function.size(); ++i) {
    const char c = function[i];
    if (c == '(' || c == '[') ++depth;
    if ((c == ')' || c == ']') && depth > 0) --depth;
    if (depth > 0 || c != (i < path_end ? '/' : '.')) continue;
    pieces.scopes.emplace_back(function.substr(begin, i + 1 - begin));
    begin = i + 1;
  }
  pieces.name = function.substr(begin);
  if (pieces.name.empty()) pieces.scopes.clear();
}

}  // namespace

std::string WithStandardNames(std::string_view untrusted_name) {
  std::string name(untrusted_name);
  for (const auto& [linker, source] : kStandardNames) {
    for (std::size_t at = name.find(linker); at != name.npos; at = name.find(linker, at)) {
      name.replace(at, linker.size(), source);
      at += source.size();
    }
  }
  return name;
}

NamePieces PiecesOf(std::string_view escaped_name) {
  NamePieces pieces;
  const std::string_view whole = escaped_name.substr(0, OriginOf(escaped_name));
  pieces.whole_bytes = pieces.named_bytes = whole.size();
  pieces.module_bytes = ModuleBytes(whole);
  const std::string_view function = whole.substr(pieces.module_bytes);
  if (IsGoName(function)) {
    DivideGoName(function, pieces);
    return pieces;
  }
  names::CxxNameParts parts = names::SplitCxxName(function);
  // A place without a name, such as "[kernel]+0x12", or several functions.
  const bool is_place = function.starts_with('[') || function.starts_with('+');
  if (parts.name.empty() || is_place || function.find(';') != std::string_view::npos) {
    pieces.module_bytes = 0;
    if (whole.size() < escaped_name.size()) pieces.name = whole;
    return pieces;
  }
  pieces.named_bytes = pieces.module_bytes + Trim(function.substr(0, parts.arguments)).size();
  for (const std::string& scope : parts.scopes) pieces.scopes.push_back(scope + "::");
  pieces.name = std::move(parts.name);
  return pieces;
}

namespace {

std::string WithoutArguments(std::string_view escaped_name) {
  return std::string(escaped_name.substr(0, PiecesOf(escaped_name).named_bytes));
}

// Shortens a stack, "outer;inner": keeps as many of the innermost functions as fit.
std::string ShortenStack(std::string_view stack, std::size_t max_width, const Style& style) {
  const std::vector<std::string_view> frames = Split(stack, ";");
  std::string inner;
  for (std::size_t i = frames.size(); i-- > 0;) {
    std::string text = WithoutArguments(frames[i]);
    if (!inner.empty()) text += ";" + inner;
    const std::size_t more = i == 0 ? 0 : 2;  // "…;"
    if (DisplayWidth(text) + more > max_width) break;
    if (i == 0) return text;
    inner = std::move(text);
  }
  if (!inner.empty()) return (style.utf8 ? "…;" : "~;") + inner;
  return frames.empty() ? "" : ShortenName(frames.back(), max_width, style);
}

}  // namespace

std::string ShortenName(std::string_view untrusted_name, std::size_t max_width,
                        const Style& style) {
  const std::string escaped = EscapeControl(WithStandardNames(untrusted_name));
  if (DisplayWidth(escaped) <= max_width) return escaped;
  const std::size_t begin = std::min(escaped.find_first_not_of(' '), escaped.size());
  std::string_view whole = std::string_view(escaped).substr(begin);
  const NamePieces pieces = PiecesOf(whole);
  whole = whole.substr(0, pieces.whole_bytes);
  const std::size_t own = DisplayWidth(pieces.name.empty() ? whole : pieces.name);
  const std::size_t least = std::min({own, kLeastName, max_width});
  const std::string blanks(std::min(begin, max_width - least), ' ');
  const std::size_t room = max_width - blanks.size();
  const auto fits = [&](std::string_view name) { return DisplayWidth(name) <= room; };
  if (fits(whole)) return blanks + std::string(whole);
  if (whole.find(';') != whole.npos) return blanks + ShortenStack(whole, room, style);
  if (pieces.name.empty()) return blanks + ShortenEscaped(whole, room, style);
  std::string name(whole.substr(0, pieces.named_bytes));
  if (fits(name)) return blanks + name;
  for (const std::size_t kept : {pieces.module_bytes, std::size_t{0}}) {
    for (std::size_t left_out = 0; left_out <= pieces.scopes.size(); ++left_out) {
      name = std::string(whole.substr(0, kept)) + Joined(pieces, left_out, style);
      if (fits(name)) return blanks + name;
    }
  }
  return blanks + ShortenEscaped(pieces.name, room, style);
}

std::string ShortenPath(std::string_view path, std::size_t max_width, const Style& style) {
  if (DisplayWidth(path) <= max_width) return std::string(path);
  if (max_width == 0) return "";
  std::string_view end = LastColumns(path, max_width - 1);
  const std::size_t slash = end.find('/');
  if (slash != std::string_view::npos) end.remove_prefix(slash);
  return std::string(style.utf8 ? "…" : "~") + std::string(end);
}

std::string ShortenLibrary(std::string_view name, std::size_t max_width, const Style& style) {
  if (DisplayWidth(name) <= max_width) return std::string(name);
  const std::string_view stem = name.substr(0, name.rfind(".so"));
  return DisplayWidth(stem) <= max_width ? std::string(stem)
                                         : ShortenEscaped(name, max_width, style);
}

std::string ShortenRemark(std::string_view remark, std::size_t max_width, const Style& style) {
  if (DisplayWidth(remark) <= max_width) return std::string(remark);
  if (max_width == 0) return "";
  const std::size_t comma = FirstColumns(remark, max_width + 1).rfind(',');
  if (comma != std::string_view::npos) return std::string(remark.substr(0, comma));
  const std::string_view start = FirstColumns(remark, max_width - 1);
  const std::size_t blank = FirstColumns(remark, max_width).rfind(' ');
  const std::string_view words = blank == std::string_view::npos ? start : start.substr(0, blank);
  return std::string(words) + (style.utf8 ? "…" : "~");
}

}  // namespace fieldcost::draw
