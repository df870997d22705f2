#pragma once

#include <string>
#include <string_view>

namespace fieldcost::symbols {

// The function that a linker's symbol is of, as people know it: "a::f(int)" of
// "_ZN1a1fEi.constprop.0". Parts and copies that compilers make, and symbol versions, are the
// function itself. Nothing is escaped. Pure.
std::string FunctionName(std::string_view untrusted_symbol);

// What a module is called in every version of it: "libz.so" of "libz.so.1"; of what has no soname
// the name of its file. Pure.
std::string ModuleName(std::string_view untrusted_soname, std::string_view untrusted_path);

}  // namespace fieldcost::symbols
