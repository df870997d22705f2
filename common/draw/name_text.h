#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/draw/terminal.h"

namespace fieldcost::draw {

// Names of functions for people: "module!function", or the function alone. Any bytes may come in.
// Pure; thread-safe.

// The names of the standard library as source code has them: std::string for
// std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >.
std::string WithStandardNames(std::string_view untrusted_name);

// Escaped, and at most as wide. What identifies the function stays as long as possible: first its
// arguments go, then its template arguments, then its outer scopes one by one, then the module, and
// only then letters of its own name:
//   libvault.so!vault::Compressor::pack<char>(std::vector<char> const&)
//   libvault.so!vault::Compressor::pack
//   libvault.so!…::pack
//   pack
// Of a stack, "outer;inner", the outer functions go after all arguments. The source file or
// build-id behind a name, as in "f (file.c)" and "libz.so+0x5d80 [1f95d549]", goes first of all.
// Leading blanks, as of a tree, stay, unless the function's own name, up to 16 columns, would have
// no room.
std::string ShortenName(std::string_view untrusted_name, std::size_t max_width, const Style& style);

// What ShortenName() drops, one after the other; for pages whose scripts shorten names to the room
// on the screen by the same rule (tools/report/page_parts/short_names.js).
struct NamePieces {
  std::size_t module_bytes = 0;  // at the beginning, with the '!'
  std::size_t named_bytes = 0;   // at the beginning, without the arguments at the end
  std::vector<std::string> scopes;
  std::string name;  // the function's own; empty: only letters in the middle can be dropped
};
// REQUIRES: escaped, without blanks at the beginning.
NamePieces PiecesOf(std::string_view escaped_name);

// A path that is escaped, at most as wide: its end stays, where possible from a '/' on
// ("…/main.cc:61").
std::string ShortenPath(std::string_view path, std::size_t max_width, const Style& style);

// A remark that is escaped, at most as wide: what stands behind a comma goes, then its last words
// ("heavy-tailed", "grows with…").
std::string ShortenRemark(std::string_view remark, std::size_t max_width, const Style& style);

}  // namespace fieldcost::draw
