#include "common/draw/name_text.h"

#include <gtest/gtest.h>

namespace fieldcost::draw {
namespace {

constexpr char kPack[] =
    "libvault.so!vault::Compressor::pack<char>(std::vector<char, std::allocator<char> > const&)";

std::string Fit(std::string_view name, std::size_t width) {
  return ShortenName(name, width, {.utf8 = true});
}

TEST(ShortenNameTest, DropsArgumentsThenTemplatesThenScopesThenTheModule) {
  EXPECT_EQ(Fit(kPack, 200), kPack);
  EXPECT_EQ(Fit(kPack, 60), "libvault.so!vault::Compressor::pack<char>");
  EXPECT_EQ(Fit(kPack, 40), "libvault.so!vault::Compressor::pack");
  EXPECT_EQ(Fit(kPack, 34), "libvault.so!…::Compressor::pack");
  EXPECT_EQ(Fit(kPack, 25), "libvault.so!…::pack");
  EXPECT_EQ(Fit(kPack, 19), "libvault.so!…::pack");
  EXPECT_EQ(Fit(kPack, 18), "…::pack");
  EXPECT_EQ(Fit(kPack, 4), "pack");
  EXPECT_EQ(ShortenName(kPack, 8, {}), "~::pack");
}

TEST(ShortenNameTest, TheFunctionsOwnNameSurvivesAtEveryWidth) {
  for (std::size_t width = 4; width < 100; ++width) {
    const std::string text = Fit(kPack, width);
    EXPECT_NE(text.find("pack"), std::string::npos) << width << " " << text;
    EXPECT_LE(DisplayWidth(text), width);
  }
}

TEST(ShortenNameTest, TheSourceFileAndTheBuildIdGoBeforeTheName) {
  EXPECT_EQ(Fit("libz.so+0x5d80 [1f95d549]", 25), "libz.so+0x5d80 [1f95d549]");
  EXPECT_EQ(Fit("libz.so+0x5d80 [1f95d549]", 24), "libz.so+0x5d80");
  EXPECT_EQ(Fit("[kernel]", 7).size(), std::string("[ker…l]").size());
  EXPECT_EQ(Fit("libc.so!__memset_erms (memset-vec.S)", 30), "libc.so!__memset_erms");
  EXPECT_EQ(Fit("libc.so!__memset_erms (memset-vec.S)", 16), "__memset_erms");
  EXPECT_EQ(Fit("a!f(void (*)(int))", 6), "a!f");
}

TEST(ShortenNameTest, TheLineOfASourceFileGoesBeforeTheName) {
  EXPECT_EQ(Fit("JS:*slowLoop /work/app.js:5:18", 30), "JS:*slowLoop /work/app.js:5:18");
  EXPECT_EQ(Fit("JS:*slowLoop /work/app.js:5:18", 29), "JS:*slowLoop");
  EXPECT_EQ(Fit("JS:~start node:internal/main:1:1", 20), "JS:~start");
}

TEST(ShortenNameTest, FunctionsOfGoKeepTheirOwnName) {
  constexpr std::string_view kStep = "app!go.etcd.io/raft/v3.(*node).step";
  EXPECT_EQ(Fit(kStep, 35), kStep);
  EXPECT_EQ(Fit(kStep, 32), "app!…/raft/v3.(*node).step");
  EXPECT_EQ(Fit(kStep, 20), "app!….(*node).step");
  EXPECT_EQ(Fit(kStep, 15), "app!….step");
  EXPECT_EQ(Fit(kStep, 7), "….step");
  EXPECT_EQ(Fit(kStep, 4), "step");
  EXPECT_EQ(Fit("lib/b.Sum[go.shape.int]", 22), "…/b.Sum[go.shape.int]");
  EXPECT_EQ(Fit("/usr/lib/app.so+0x1234", 12), "/usr/lib…234");
}

TEST(ShortenNameTest, TheIndentOfADeepTreeLeavesRoomForTheName) {
  const std::string deep(60, ' ');
  EXPECT_EQ(Fit(deep + "libz.so!deflateReset", 40), std::string(28, ' ') + "deflateReset");
  EXPECT_EQ(Fit(deep + kPack, 20), std::string(16, ' ') + "pack");
  for (std::size_t width = 0; width < 80; ++width) {
    const std::string text = Fit(deep + "libz.so!deflate", width);
    EXPECT_LE(DisplayWidth(text), width);
    EXPECT_TRUE(width < 7 || text.find("deflate") != std::string::npos) << width;
  }
}

TEST(ShortenNameTest, TheInnermostFunctionsOfAStackStay) {
  constexpr char kStack[] = "...;app!Queue::Take();libc.so!pthread_mutex_lock;[lock]";
  EXPECT_EQ(Fit(kStack, 80), kStack);
  EXPECT_EQ(Fit(kStack, 54), "...;app!Queue::Take;libc.so!pthread_mutex_lock;[lock]");
  EXPECT_EQ(Fit(kStack, 52), "…;app!Queue::Take;libc.so!pthread_mutex_lock;[lock]");
  EXPECT_EQ(Fit(kStack, 40), "…;libc.so!pthread_mutex_lock;[lock]");
  EXPECT_EQ(Fit(kStack, 12), "…;[lock]");
  EXPECT_EQ(Fit("a;libvault.so!vault::Compressor::pack<char>(int)", 24), "libvault.so!…::pack");
  for (std::size_t width = 0; width < 60; ++width) {
    EXPECT_LE(DisplayWidth(Fit(kStack, width)), width);
  }
}

TEST(ShortenPathTest, KeepsTheFile) {
  const auto fit = [](std::string_view path, std::size_t width) {
    return ShortenPath(path, width, {.utf8 = true});
  };
  EXPECT_EQ(fit("/home/ann/shop/main.cc:61", 25), "/home/ann/shop/main.cc:61");
  EXPECT_EQ(fit("/home/ann/shop/main.cc:61", 20), "…/shop/main.cc:61");
  EXPECT_EQ(fit("/home/ann/shop/main.cc:61", 13), "…/main.cc:61");
  EXPECT_EQ(fit("/home/ann/shop/main.cc:61", 6), "…cc:61");
  EXPECT_EQ(fit("/a", 0), "");
}

TEST(ShortenLibraryTest, DropsTheVersionBeforeLetters) {
  EXPECT_EQ(ShortenLibrary("libsqlite3.so.0", 15, {.utf8 = true}), "libsqlite3.so.0");
  EXPECT_EQ(ShortenLibrary("libsqlite3.so.0", 14, {.utf8 = true}), "libsqlite3");
  EXPECT_EQ(ShortenLibrary("libsqlite3.so.0", 10, {.utf8 = true}), "libsqlite3");
  EXPECT_EQ(ShortenLibrary("libsqlite3.so.0", 9, {.utf8 = true}), "libsql….0");
  EXPECT_EQ(ShortenLibrary("(private)", 5, {.utf8 = true}), "(pr…)");
}

TEST(ShortenRemarkTest, KeepsWhatStandsBeforeTheComma) {
  const auto fit = [](std::string_view remark, std::size_t width) {
    return ShortenRemark(remark, width, {.utf8 = true});
  };
  EXPECT_EQ(fit("heavy-tailed, 1 % of calls cost more", 12), "heavy-tailed");
  EXPECT_EQ(fit("grows with argument 3", 12), "grows with…");
  EXPECT_EQ(fit("too few calls", 12), "too few…");
  EXPECT_EQ(fit("varied", 0), "");
}

TEST(ShortenNameTest, OtherNamesAreCutInTheMiddle) {
  EXPECT_EQ(Fit("sqlite3BtreeInsert", 10).size(), std::string("sqlite…ert").size());
  EXPECT_EQ(Fit("", 5), "");
  EXPECT_LE(DisplayWidth(Fit("[kernel]+0x1234567890", 8)), 8U);
  EXPECT_EQ(Fit("    app!f(int)", 9), "    app!f");
  for (const char* const hostile :
       {"((((", "a::<>::(", "!!!", "<(!x", "a\x1b[31mb(", "::", "operator<"}) {
    for (std::size_t width = 0; width < 12; ++width) {
      const std::string text = Fit(hostile, width);
      EXPECT_LE(DisplayWidth(text), width) << hostile;
      EXPECT_EQ(text.find('\x1b'), std::string::npos);
    }
  }
}

TEST(ShortenNameTest, PlacesWithoutANameKeepBothEnds) {
  EXPECT_EQ(Fit("[kernel]+0x1234567890", 12), "[kernel]…890");
  EXPECT_EQ(Fit("libz.so.1!+0x1234567890", 12), "libz.so.…890");
}

TEST(ShortenNameTest, NeverSplitsMultibyteCharacters) {
  EXPECT_EQ(Fit("größenänderungsprüfung", 7), "größ…ng");
  EXPECT_EQ(Fit("größenänderungsprüfung", 1), "…");
  EXPECT_EQ(Fit("größenänderungsprüfung", 0), "");
}

TEST(PiecesOfTest, SplitsANameIntoPiecesThatAreDroppedInTurn) {
  const NamePieces pieces = PiecesOf(kPack);
  EXPECT_EQ(pieces.module_bytes, std::string("libvault.so!").size());
  EXPECT_EQ(pieces.named_bytes, std::string("libvault.so!vault::Compressor::pack<char>").size());
  EXPECT_EQ(pieces.scopes, (std::vector<std::string>{"vault::", "Compressor::"}));
  EXPECT_EQ(pieces.name, "pack");
  EXPECT_EQ(PiecesOf("libc.so!_int_free (malloc.c)").name, "_int_free");
  EXPECT_EQ(PiecesOf("libc.so!+0x12 [1f95d549]").name, "libc.so!+0x12");
  EXPECT_EQ(PiecesOf("[kernel]+0x12").name, "");
  EXPECT_EQ(PiecesOf("").name, "");
}

TEST(WithStandardNamesTest, StringsAreCalledAsInSourceCode) {
  EXPECT_EQ(WithStandardNames("f(std::__cxx11::basic_string<char, std::char_traits<char>, "
                              "std::allocator<char> > const&, std::basic_string_view<char, "
                              "std::char_traits<char> >)"),
            "f(std::string const&, std::string_view)");
  EXPECT_EQ(WithStandardNames("std::__cxx11::list<int>::size"), "std::list<int>::size");
  EXPECT_EQ(WithStandardNames("std::__cxx11::std::__cxx11::"), "std::std::");
}

}  // namespace
}  // namespace fieldcost::draw
