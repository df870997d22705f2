#include "common/symbols/symbol_name.h"

#include <gtest/gtest.h>

#include <string>

namespace fieldcost::symbols {
namespace {

TEST(FunctionNameTest, PartsAndCopiesAreTheFunction) {
  EXPECT_EQ(FunctionName("_ZN1a1fEi"), "a::f(int)");
  EXPECT_EQ(FunctionName("_ZN1a1fEi.constprop.0"), "a::f(int)");
  EXPECT_EQ(FunctionName("_ZN1a1fEi.isra.0.cold"), "a::f(int)");
  EXPECT_EQ(FunctionName("_ZN1a1fEi.llvm.1234"), "a::f(int)");
  EXPECT_EQ(FunctionName("f.part.3"), "f");
  EXPECT_EQ(FunctionName("f.lto_priv.0"), "f");
  EXPECT_EQ(FunctionName("main"), "main");
  EXPECT_EQ(FunctionName("memcpy@@GLIBC_2.14"), "memcpy");
  EXPECT_EQ(FunctionName("runtime.main"), "runtime.main");  // Go's dots are no marks
  EXPECT_EQ(FunctionName(".cold"), ".cold");
  EXPECT_EQ(FunctionName("@plt"), "@plt");
  EXPECT_EQ(FunctionName(""), "");
  EXPECT_EQ(FunctionName("_Zbroken"), "_Zbroken");
}

TEST(ModuleNameTest, VersionsAreNotPartOfIt) {
  EXPECT_EQ(ModuleName("libz.so.1", "/usr/lib/libz.so.1.2.13"), "libz.so");
  EXPECT_EQ(ModuleName("libz.so", "/usr/lib/libz.so"), "libz.so");
  EXPECT_EQ(ModuleName("libdb-5.3.so", "/x"), "libdb-5.3.so");
  EXPECT_EQ(ModuleName("ld-linux-x86-64.so.2", "/x"), "ld-linux-x86-64.so");
  EXPECT_EQ(ModuleName("plugin", "/x"), "plugin");
  EXPECT_EQ(ModuleName("", "/usr/bin/clang-14"), "clang-14");
  EXPECT_EQ(ModuleName("", "name"), "name");
  EXPECT_EQ(ModuleName("", ""), "");
  EXPECT_EQ(ModuleName(".so", "/x"), ".so");
}

}  // namespace
}  // namespace fieldcost::symbols
