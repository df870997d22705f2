#include "common/draw/name_text.h"

#include <algorithm>
#include <array>
#include <utility>

#include "common/base/text.h"
#include "common/stats/cxx_name_parts.h"

namespace fieldcost::draw {
namespace {

// Longer ones first.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kStandardNames = {
    {{"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >",
      "std::string"},
     {"std::basic_string_view<char, std::char_traits<char> >", "std::string_view"},
     {"std::__cxx11::", "std::"}}};

// A module has no blanks or brackets, which a function may have before a '!'.
std::size_t ModuleBytes(std::string_view name) {
  const std::size_t mark = name.find('!');
  const bool has_module =
      mark != std::string_view::npos && name.substr(0, mark).find_first_of(" <(") == name.npos;
  return has_module ? mark + 1 : 0;
}

std::string Joined(const NamePieces& pieces, std::size_t left_out, const Style& style) {
  std::string name = left_out == 0 ? "" : style.utf8 ? "…::" : "~::";
  for (std::size_t i = left_out; i < pieces.scopes.size(); ++i) name += pieces.scopes[i] + "::";
  return name + pieces.name;
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
  pieces.module_bytes = ModuleBytes(escaped_name);
  const std::string_view function = escaped_name.substr(pieces.module_bytes);
  stats::CxxNameParts parts = stats::SplitCxxName(function);
  pieces.named_bytes = escaped_name.size();
  // A place without a name, as "[kernel]+0x12", or several functions.
  const bool is_place = function.starts_with('[') || function.starts_with('+');
  if (parts.name.empty() || is_place || function.find(';') != std::string_view::npos) {
    return pieces;
  }
  pieces.named_bytes = pieces.module_bytes + Trim(function.substr(0, parts.arguments)).size();
  pieces.scopes = std::move(parts.scopes);
  pieces.name = std::move(parts.name);
  return pieces;
}

std::string ShortenName(std::string_view untrusted_name, std::size_t max_width,
                        const Style& style) {
  const std::string escaped = EscapeControl(WithStandardNames(untrusted_name));
  const std::size_t begin = std::min(escaped.find_first_not_of(' '), escaped.size());
  const std::string blanks = escaped.substr(0, begin);
  const std::string_view whole = std::string_view(escaped).substr(begin);
  const std::size_t room = max_width - std::min(max_width, begin);
  const auto fits = [&](std::string_view name) { return DisplayWidth(name) <= room; };
  if (fits(whole)) return escaped;
  const NamePieces pieces = PiecesOf(whole);
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

}  // namespace fieldcost::draw
