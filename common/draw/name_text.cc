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

struct Parts {
  std::string blanks;
  std::string module;  // with its '!'
  std::string function;
};

// A module has no blanks or brackets, which a function may have before a '!'.
Parts PartsOf(std::string_view name) {
  Parts parts;
  const std::size_t begin = std::min(name.find_first_not_of(' '), name.size());
  parts.blanks = std::string(name.substr(0, begin));
  name.remove_prefix(begin);
  const std::size_t mark = name.find('!');
  const bool has_module =
      mark != std::string_view::npos && name.substr(0, mark).find_first_of(" <(") == name.npos;
  const std::size_t end = has_module ? mark + 1 : 0;
  parts.module = std::string(name.substr(0, end));
  parts.function = std::string(name.substr(end));
  return parts;
}

std::string Joined(const stats::CxxNameParts& parts, std::size_t left_out, const Style& style) {
  std::string name = left_out == 0 ? "" : style.utf8 ? "…::" : "~::";
  for (std::size_t i = left_out; i < parts.scopes.size(); ++i) name += parts.scopes[i] + "::";
  return name + parts.name;
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

std::string ShortenName(std::string_view untrusted_name, std::size_t max_width,
                        const Style& style) {
  const Parts whole = PartsOf(EscapeControl(WithStandardNames(untrusted_name)));
  const std::size_t room = max_width - std::min(max_width, whole.blanks.size());
  const auto fits = [&](const std::string& name) { return DisplayWidth(name) <= room; };
  std::string name = whole.module + whole.function;
  if (fits(name)) return whole.blanks + name;
  const stats::CxxNameParts parts = stats::SplitCxxName(whole.function);
  if (parts.name.empty() || whole.function.find(';') != std::string::npos) {
    return whole.blanks + ShortenEscaped(name, room, style);
  }
  const std::string_view named = Trim(std::string_view(whole.function).substr(0, parts.arguments));
  name = whole.module + std::string(named);
  if (fits(name)) return whole.blanks + name;
  for (const std::string& module : {whole.module, std::string()}) {
    for (std::size_t left_out = 0; left_out <= parts.scopes.size(); ++left_out) {
      name = module + Joined(parts, left_out, style);
      if (fits(name)) return whole.blanks + name;
    }
  }
  return whole.blanks + ShortenEscaped(parts.name, room, style);
}

}  // namespace fieldcost::draw
