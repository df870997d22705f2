#pragma once

#include <cstddef>
#include <string>
#include <string_view>

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
// Leading blanks, as of a tree, stay.
std::string ShortenName(std::string_view untrusted_name, std::size_t max_width, const Style& style);

}  // namespace fieldcost::draw
