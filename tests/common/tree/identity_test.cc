#include "common/tree/identity.h"

#include <gtest/gtest.h>

#include <map>

#include "common/tree/tree_limits.h"

namespace fieldcost::tree {
namespace {

TEST(IdentityTest, ModulesLoseDirectoryAndVersion) {
  const std::map<std::string, std::string> table = {
      {"libz.so.1", "libz.so"},
      {"/usr/lib/x86_64-linux-gnu/libz.so.1.2.13", "libz.so"},
      {"/tmp/libz.so.1 (deleted)", "libz.so"},
      {"libc.so.6", "libc.so"},
      {"ld-linux-x86-64.so.2", "ld-linux-x86-64.so"},
      {"libglib-2.0.so.0", "libglib-2.0.so"},
      {"libpython3.11.so.1.0", "libpython3.11.so"},
      {"libfoo.so", "libfoo.so"},
      {"libfoo.so.1-custom", "libfoo.so.1-custom"},
      {"libfoo.solid", "libfoo.solid"},
      {"/opt/app-1.2/bin/app", "app"},
      {"/usr/bin/python3.11", "python3.11"},
      {"[vdso]", "[vdso]"},
      {".so", ".so"},
      {"/", ""},
      {"", ""}};
  for (const auto& [from, to] : table) EXPECT_EQ(ModuleName(from), to) << from;
}

TEST(IdentityTest, FunctionsAreDemangledAndLoseWhatCompilersAppend) {
  const std::map<std::string, std::string> table = {
      {"main", "main"},
      {"_Z1fi", "f(int)"},
      {"_Z1fd", "f(double)"},  // overloads differ
      {"_Z1fi.isra.0", "f(int)"},
      {"_Z1fi.constprop.12", "f(int)"},
      {"_Z1fi.part.0.isra.0.cold", "f(int)"},
      {"_Z1fi.cold", "f(int)"},
      {"_Z1fi.cold.3", "f(int)"},
      {"deflate.lto_priv.7", "deflate"},
      {"deflate.llvm.10242973452", "deflate"},
      {"deflate.localalias", "deflate"},
      {"deflate.localalias.3", "deflate"},
      {"deflate.__uniq.31337.llvm.9", "deflate"},
      {"deflate.specialized.1", "deflate"},
      {"memcpy@@GLIBC_2.14", "memcpy"},
      {"memcpy@GLIBC_2.2.5", "memcpy"},
      {"memcpy@plt", "memcpy@plt"},
      {"f._omp_fn.0", "f._omp_fn.0"},  // separate code
      {"f.resume", "f.resume"},
      {"f.1", "f.1"},
      {"f.avx2", "f.avx2"},
      {"isra.0", "isra.0"},  // nothing would remain
      {".cold", ".cold"},
      {"cold", "cold"},
      {".1", ".1"},
      {"_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"},
      {"_ZN4core3fmt5writeE", "core::fmt::write"},
      {"_ZN12_GLOBAL__N_11gEv", "(anonymous namespace)::g()"},
      {"_Znot_mangled", "_Znot_mangled"}};
  for (const auto& [from, to] : table) EXPECT_EQ(FunctionName(from), to) << from;
}

TEST(IdentityTest, TwoBuildsOfAFunctionAreOneFrame) {
  const Frame old_build = MakeFrame({.module = "libfoo.so.1",
                                     .symbol = "_ZN3foo3barEi.isra.0",
                                     .source_file = "/build/1/bar.cc",
                                     .build_id = "\x01",
                                     .offset = 4096});
  const Frame new_build = MakeFrame({.module = "/lib/libfoo.so.2",
                                     .symbol = "_ZN3foo3barEi",
                                     .build_id = "\x02",
                                     .offset = 8192});
  EXPECT_EQ(old_build, new_build);
  EXPECT_EQ(old_build, (Frame{.module = "libfoo.so", .function = "foo::bar(int)"}));
}

TEST(IdentityTest, LocalFunctionsOfTwoFilesAreTwo) {
  const RawSymbol init = {
      .module = "app", .symbol = "init", .is_local = true, .source_file = "/build/1/a.c"};
  RawSymbol other = init;
  other.source_file = "b.c";
  EXPECT_NE(MakeFrame(init), MakeFrame(other));
  other.source_file = "/build/2/a.c";
  EXPECT_EQ(MakeFrame(init), MakeFrame(other));
  other.source_file = "";
  EXPECT_EQ(MakeFrame(other), (Frame{.module = "app", .function = "init"}));
}

TEST(IdentityTest, CodeWithoutANameMatchesOnlyItself) {
  const RawSymbol code = {.module = "app", .build_id = "\x01", .offset = 4096};
  EXPECT_EQ(MakeFrame(code), MakeFrame(code));
  EXPECT_EQ(
      MakeFrame(code),
      (Frame{.kind = FrameKind::kUnnamed, .module = "app", .build_id = "\x01", .offset = 4096}));
  RawSymbol other = code;
  other.build_id = "\x02";
  EXPECT_NE(MakeFrame(code), MakeFrame(other));
  other = code;
  other.offset = 4112;
  EXPECT_NE(MakeFrame(code), MakeFrame(other));
}

TEST(IdentityTest, AlwaysProducesAValidFrame) {
  const std::string longest(kMaxNameBytes + 7, 'x');
  for (const RawSymbol& symbol :
       {RawSymbol{},
        RawSymbol{.module = longest, .symbol = longest, .is_local = true, .source_file = longest},
        RawSymbol{.module = longest, .build_id = longest, .offset = 1}, RawSymbol{.symbol = "@@"},
        RawSymbol{.symbol = "."}, RawSymbol{.symbol = ".."},
        RawSymbol{.symbol = std::string("\0\xff.1", 4), .build_id = "\x01"}}) {
    EXPECT_TRUE(Validate(MakeFrame(symbol)).has_value()) << symbol.symbol;
  }
}

}  // namespace
}  // namespace fieldcost::tree
