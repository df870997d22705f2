#include "tools/lsp/lexer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fieldcost::lsp {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Not inlined: g++ 12 mistakes such texts in an expression for short ones.
[[gnu::noinline]] std::string Many(std::size_t count, char c) { return std::string(count, c); }

// The names that are looked up: "name", or "name()" for a call.
std::vector<std::string> Shown(std::string_view text, std::string_view language) {
  std::vector<std::string> shown;
  for (const Name& name : Lex(text, LanguageOf(language)).names) {
    if (name.local || name.member) continue;
    shown.push_back(std::string(text.substr(name.qualified, name.end - name.qualified)) +
                    (name.call ? "()" : ""));
  }
  return shown;
}

std::vector<std::string> Calls(std::string_view text, std::string_view language = "c") {
  std::vector<std::string> calls;
  for (const std::string& name : Shown(text, language)) {
    if (name.ends_with("()")) calls.push_back(name.substr(0, name.size() - 2));
  }
  return calls;
}

TEST(LexerTest, CommentsTextsAndIncludesHoldNoNames) {
  EXPECT_THAT(Shown("// open_it()\n/* open_it() */ \"open_it()\" 'o'\n"
                    "#include <open_it.h>\n#pragma open_it\n",
                    "c"),
              IsEmpty());
  EXPECT_THAT(Shown("// a \\\nopen_it()\n\"a\\\"b\" \"\\\\\" open_b()", "c"),
              ElementsAre("open_b()"));
  EXPECT_THAT(Shown("R\"x(open_it() )\" )x\" open_b()", "cpp"), ElementsAre("open_b()"));
  EXPECT_THAT(Shown("1'000'000 + open_it() + 0x1p3", "cpp"), ElementsAre("open_it()"));
}

TEST(LexerTest, ATextThatDoesNotEndEndsWithItsLine) {
  EXPECT_THAT(Calls("\"open_a()\nopen_b();"), ElementsAre("open_b"));
  EXPECT_THAT(Calls("/* open_a()\nopen_b();"), IsEmpty());
}

TEST(LexerTest, CallsAreNotDeclarations) {
  EXPECT_THAT(Calls("int open_it(int a);\nint *open_b(void);\n"
                    "int main(void) { return open_it(1) + *open_b() + 2 * open_c (3); }"),
              ElementsAre("open_it", "open_b", "open_c"));
}

TEST(LexerTest, StaticFunctionsBelongToTheirFile) {
  EXPECT_THAT(Calls("int f(void) { return open_it(1); }\n"
                    "static inline int open_it(int a) { return a; }\n"),
              IsEmpty());
  EXPECT_THAT(Calls("static int x = open_it(1);"), ElementsAre("open_it"));
  EXPECT_THAT(
      Calls("namespace { int open_it() { return 1; } }\nint x = open_it() + open_b();", "cpp"),
      ElementsAre("open_b"));
  EXPECT_THAT(Calls("#define open_it(x) (x)\nint f(void) { return open_it(1); }"), IsEmpty());
}

TEST(LexerTest, AVariableIsItsOwnUntilItsScopeEnds) {
  EXPECT_THAT(
      Shown("void f(void) { char *index = 0; use(index); }\nvoid g(void) { use(index); }", "c"),
      ElementsAre("void", "f", "void", "char", "use()", "void", "g", "void", "use()", "index"));
  EXPECT_THAT(Calls("void f(int x, struct s read) { { read(1); } }\n"
                    "void g(void) { read(1); }"),
              ElementsAre("read"));
  EXPECT_THAT(Calls("void f(void) { for (int time = 0; time < 3; ++time) { time(0); } time(0); }"),
              ElementsAre("time"));
  EXPECT_THAT(Calls("void f(void) { int a, *time; time(0); } int b = time(0);"),
              ElementsAre("time"));
}

TEST(LexerTest, ProductsAreNotDeclarations) {
  EXPECT_THAT(Shown("x = a * index; y = index;", "c"),
              ElementsAre("x", "a", "index", "y", "index"));
  EXPECT_THAT(Shown("void f(void) { return a * index; }", "c"),
              ElementsAre("void", "f", "void", "a", "index"));
}

TEST(LexerTest, MembersAreNotFunctionsOfThatName) {
  EXPECT_THAT(Calls("void f(struct s *p) { p->read(1); p.read(2); read(3); }"),
              ElementsAre("read"));
}

TEST(LexerTest, ScopesBelongToTheName) {
  EXPECT_THAT(Calls("void f() { a::b::c(1); ::d(2); std::vector<int>::e(3); }", "cpp"),
              ElementsAre("a::b::c", "d"));
  const LexedText lexed =
      Lex("using namespace x::y;\nusing p::q::name;\nnamespace m { namespace n { int f(); } }",
          LanguageOf("cpp"));
  EXPECT_THAT(lexed.used_namespaces, ElementsAre("m", "m::n", "p::q", "x::y"));
}

TEST(LexerTest, PythonCountsOnlyAttributesAndOnlyWithCtypes) {
  EXPECT_THAT(Shown("import os\nopen('x')\nos.open('y')\n", "python"), IsEmpty());
  EXPECT_THAT(Shown("import ctypes\nlib = ctypes.CDLL('x')  # lib.nothing()\nopen('open')\n"
                    "'''\nlib.nothing()\n'''\nlib.open_it(3)\n",
                    "python"),
              ElementsAre("CDLL()", "open_it()"));
}

TEST(LexerTest, OtherLanguagesHavePlainNames) {
  EXPECT_THAT(Shown("fn f<'a>(x: &'a str) { unsafe { open_it(1) } } // open_b()", "rust"),
              ::testing::Contains("open_it()"));
  EXPECT_THAT(Shown("C.open_it(`C.open_b()\n`) /* open_c() */", "go"),
              ElementsAre("C", "open_it()"));
  EXPECT_THAT(Shown("-- open_b()\nffi.C.open_it()", "lua"), ElementsAre("ffi", "C", "open_it()"));
}

TEST(LexerTest, FindsANameAtItsBeginningInsideAndAtItsEnd) {
  const LexedText lexed = Lex("ab cd", LanguageOf("c"));
  EXPECT_EQ(NameAt(lexed, 0)->begin, 0u);
  EXPECT_EQ(NameAt(lexed, 2)->begin, 0u);
  EXPECT_EQ(NameAt(lexed, 3)->begin, 3u);
  EXPECT_EQ(NameAt(lexed, 5)->begin, 3u);
  EXPECT_EQ(NameAt(Lex("  ", LanguageOf("c")), 1), nullptr);
}

TEST(LexerTest, UnbalancedAndDeepTextIsRead) {
  EXPECT_THAT(Calls("}}}))) open_it(1);"), ElementsAre("open_it"));
  EXPECT_THAT(Calls(Many(100'000, '{') + "\n open_it(1);\n" + Many(100'000, '}') + "\n open_b(1);"),
              ElementsAre("open_it", "open_b"));
  EXPECT_THAT(Calls(Many(100'000, '(') + "\n open_it(1)"), ElementsAre("open_it"));
}

TEST(LexerTest, OmitsNamesFarFromTheBeginningOfTheirLine) {
  EXPECT_THAT(Calls(Many(100'000, ' ') + "open_it(1);\nopen_b(1);"), ElementsAre("open_b"));
}

}  // namespace
}  // namespace fieldcost::lsp
