#include "common/names/cxx_name_parts.h"

#include <gtest/gtest.h>

#include <string>

#include "common/names/cxx_name.h"

namespace fieldcost::names {
namespace {

// "a | B | f" for a::B::f; operators are in parentheses, local names in braces.
std::string Parts(const std::string& demangled) {
  const CxxNameParts parts = SplitCxxName(demangled);
  std::string text;
  for (const std::string& scope : parts.scopes) text += scope + " | ";
  text += parts.is_operator ? "(" + parts.name + ")" : parts.name;
  return parts.is_local ? "{" + text + "}" : text;
}

struct Case {
  const char* demangled;
  const char* parts;
  const char* without_arguments;
};

constexpr Case kCases[] = {
    {"", "", ""},
    {"f", "f", "f"},
    {"f(int)", "f", "f"},
    {"a::B::f(int) const", "a | B | f", "a::B::f"},
    {"::f()", "f", "::f"},
    // Results, template arguments, ABI tags.
    {"int a::B<char>::f<int>(char) const", "a | B | f", "int a::B<char>::f<int>"},
    {"a::B<c::D (*)(int)>::f(int)", "a | B | f", "a::B<c::D (*)(int)>::f"},
    {"a::B<(1>0)>::f(int)", "a | B | f", "a::B<(1>0)>::f"},
    {"a::B<decltype (c->d)>::f(int)", "a | B | f", "a::B<decltype (c->d)>::f"},
    {"a::f[abi:cxx11](int)", "a | f", "a::f"},
    {"a::B[abi:cxx11]::f() const", "a | B | f", "a::B::f"},
    {"decltype (c) a::f<int>(int)", "", "decltype "},
    {"void (*f(int))(char)", "", "void "},
    {"vtable for a::B", "a | B", "vtable for a::B"},
    // Invalid names.
    {"(anonymous namespace)::f(int)", "(anonymous namespace) | f", "(anonymous namespace)::f"},
    {"a::(anonymous namespace)::B::f()", "a | (anonymous namespace) | B | f",
     "a::(anonymous namespace)::B::f"},
    {"(anonymous namespace)::A b::f<int>()", "b | f", "(anonymous namespace)::A b::f<int>"},
    {"a::{lambda(int)#1}::f(int)", "a | {lambda(int)#1} | f", "a::{lambda(int)#1}::f"},
    {"a::{unnamed type#1}::f()", "a | {unnamed type#1} | f", "a::{unnamed type#1}::f"},
    // Operators, and names that only begin like them.
    {"a::operator<(a::B const&)", "a | (operator<)", "a::operator<"},
    {"bool a::operator< <int>(int)", "a | (operator< <int>)", "bool a::operator< <int>"},
    {"a::operator<=>(int)", "a | (operator<=>)", "a::operator<=>"},
    {"a::operator->() const", "a | (operator->)", "a::operator->"},
    {"a::operator()(int)", "a | (operator())", "a::operator()"},
    {"void a::operator()<void (*)(int)>(int)", "a | (operator()<void (*)(int)>)",
     "void a::operator()<void (*)(int)>"},
    {"a::operator[](int)", "a | (operator[])", "a::operator[]"},
    {"operator new[](unsigned long)", "(operator new[])", "operator new[]"},
    {"operator\"\" _s[abi:x](int)", "(operator\"\" _s)", "operator\"\" _s"},
    {"a::operator std::map<int, b>() const", "a | (operator std::map<int, b>)",
     "a::operator std::map<int, b>"},
    {"operators::f(int)", "operators | f", "operators::f"},
    {"a::operator_f<int>(int)", "a | operator_f", "a::operator_f<int>"},
    {"my_operator(int)", "my_operator", "my_operator"},
    // Names local to a function.
    {"a::f(int)::value", "{a | f | value}", "a::f(int)::value"},
    {"a::f(int) const::B::g(char)", "{a | f | B | g}", "a::f(int) const::B::g"},
    {"a::f() volatile &&::B::g()", "{a | f | B | g}", "a::f() volatile &&::B::g"},
    {"a::f(int)::{lambda()#1}::operator()() const", "{a | f | {lambda()#1} | (operator())}",
     "a::f(int)::{lambda()#1}::operator()"},
    {"a::operator()(int)::value", "{a | operator() | value}", "a::operator()(int)::value"},
    {"f(int)::A g<f(int)::A>(char)", "g", "f(int)::A g<f(int)::A>"},
    // Not produced by any demangler.
    {"a::B<f(int", "a | B", "a::B<f(int"},
    {"a>::f)(int)", "a> | f)", "a>::f)"},
    {"::::", "", "::::"},
    {"operator", "(operator)", "operator"},
    {"a[abi:", "a", "a"},
};

TEST(CxxNamePartsTest, ADemangledNameIsCutAtItsScopes) {
  for (const Case& one : kCases) {
    EXPECT_EQ(Parts(one.demangled), one.parts) << one.demangled;
    EXPECT_EQ(NameWithoutArguments(one.demangled), one.without_arguments) << one.demangled;
  }
}

TEST(CxxNamePartsTest, SeparatesLocalNamesFromTheirFunction) {
  EXPECT_EQ(ShortName("_ZZ1fvEN1a1gEv"), "f()::a::g()");
  EXPECT_EQ(ShortName("_ZZ1fvE1x"), "f()::x");
}

TEST(CxxNamePartsTest, TagsOfScopesAreLeftOut) {
  EXPECT_EQ(ShortName("_ZNKSt8ios_base7failureB5cxx114whatEv"), "std::ios_base::failure::what");
}

}  // namespace
}  // namespace fieldcost::names
