#include "tools/lsp/enclosing_call.h"

#include <gtest/gtest.h>

#include <string>

#include "tools/lsp/tokens.h"

namespace fieldcost::lsp {
namespace {

// The called name at the "|" in the text; "" if none.
std::string CalledAt(std::string text, std::string_view language = "cpp") {
  const std::size_t offset = text.find('|');
  text.erase(offset, 1);
  const auto begin = EnclosingCall(text, LanguageOf(language), offset);
  if (!begin) return "";
  return text.substr(*begin, text.find_first_of("( ", *begin) - *begin);
}

TEST(EnclosingCallTest, IsTheInnermostCallWhoseArgumentsContainTheOffset) {
  EXPECT_EQ(CalledAt("void f() { outer(|"), "outer");
  EXPECT_EQ(CalledAt("void f() { outer (1, |2); }"), "outer");
  EXPECT_EQ(CalledAt("void f() { outer(inner(|1)); }"), "inner");
  EXPECT_EQ(CalledAt("void f() { outer(inner(1), |"), "outer");
  EXPECT_EQ(CalledAt("x = a::b::name(1, |"), "name");
  EXPECT_EQ(CalledAt("object->member(|"), "member");
  EXPECT_EQ(CalledAt("lib.call(1,\n  |", "python"), "call");
}

TEST(EnclosingCallTest, BracketsAndListsBelongToTheArguments) {
  EXPECT_EQ(CalledAt("f((1 + |2)"), "f");
  EXPECT_EQ(CalledAt("f(a[|"), "f");
  EXPECT_EQ(CalledAt("f({1, {|"), "f");
  EXPECT_EQ(CalledAt("f(1, {1, 2}, |"), "f");
  EXPECT_EQ(CalledAt("f([] { g(); h(1); }, |"), "f");
  EXPECT_EQ(CalledAt("f(\")\", ')', /* ) */ |"), "f");
}

TEST(EnclosingCallTest, OutsideArgumentsThereIsNone) {
  EXPECT_EQ(CalledAt("|"), "");
  EXPECT_EQ(CalledAt("f|(1)"), "");
  EXPECT_EQ(CalledAt("f(1)|;"), "");
  EXPECT_EQ(CalledAt("f(1; |"), "");
  EXPECT_EQ(CalledAt("f([] { |"), "") << "the body of a lambda expression";
  EXPECT_EQ(CalledAt("if (|"), "");
  EXPECT_EQ(CalledAt("(|"), "");
}

}  // namespace
}  // namespace fieldcost::lsp
