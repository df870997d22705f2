#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "common/names/cxx_name.h"
#include "tests/support/process.h"
#include "tools/analysis/namespace_of.h"
#include "tools/analysis/version_order.h"

namespace fieldcost::analysis {
namespace {

TEST(NamespaceOfTest, CxxNamesGoByTheirScopes) {
  EXPECT_EQ(NamespaceOf("_ZN7rocksdb2DB3GetEv"), "rocksdb::DB");
  EXPECT_EQ(NamespaceOf("_ZN7rocksdb19DeleteFilesInRangesEPNS_2DBE"), "rocksdb");
  EXPECT_EQ(NamespaceOf("_ZN1a1BIiE1fIcEEvT_"), "a::B");  // void a::B<int>::f<char>(char)
  EXPECT_EQ(NamespaceOf("_ZlsRSoRKN1a1bE"), "(global)");  // operator<<(std::ostream&, a::b const&)
  EXPECT_EQ(NamespaceOf("_ZN3fooltERKS_"), "foo");        // foo::operator<
  EXPECT_EQ(NamespaceOf("_ZN1acvSsEv"), "a");             // a::operator std::string()
  EXPECT_EQ(NamespaceOf("_ZN12_GLOBAL__N_11fEv"), "(anonymous namespace)");
  EXPECT_EQ(NamespaceOf("_ZZN1a1fEvENKUlvE_clEv"), "a::f");  // from a lambda
  EXPECT_EQ(NamespaceOf("_ZTV3foo"), "(global)");
}

TEST(NamespaceOfTest, OthersGoByTheirPrefix) {
  EXPECT_EQ(NamespaceOf("sqlite3_step"), "sqlite3_");
  EXPECT_EQ(NamespaceOf("png_read_row"), "png_");
  EXPECT_EQ(NamespaceOf("__memcpy_chk"), "__memcpy_");
  for (const char* name : {"crc32", "deflateInit_", "", "_", "___"}) {
    EXPECT_EQ(NamespaceOf(name), "(no prefix)") << name;
  }
}

TEST(NamespaceOfTest, HostileNamesStayBounded) {
  EXPECT_EQ(NamespaceOf("A<\"><img>_x"), "A<\"><img>_");
  EXPECT_EQ(NamespaceOf("_ZN3bad"), "(C++)");
  EXPECT_EQ(NamespaceOf(std::string("_Z1f\0i", 6)), "(C++)");
  EXPECT_EQ(NamespaceOf("_Z" + std::string(100'000, 'P')), "(C++)");
  EXPECT_EQ(names::DemangledName("_Z" + std::string(500, 'P')), "_Z" + std::string(500, 'P'));
  // Each template argument is a pair of the previous one, so the printed name doubles every time.
  std::string bomb = "_Z1fI1AIiiE";
  std::size_t longest = 0;
  for (const char digit : std::string_view("0123456789ABCDEFGHIJ")) {
    bomb += fmt::format("S_IS{0}_S{0}_E", digit);
    longest = std::max(longest, names::DemangledName(bomb + "EvT_").size());
    EXPECT_FALSE(NamespaceOf(bomb + "EvT_").empty());
  }
  EXPECT_LE(longest, names::kMostDemangledBytes);
  EXPECT_EQ(names::DemangledName(bomb + "EvT_"), bomb + "EvT_");
}

TEST(VersionOrderTest, VersionsAreOrderedAsDpkgDoes) {
  constexpr std::array<const char*, 18> kVersions = {"1.0",
                                                     "1.0~rc1",
                                                     "1.0~rc1-1",
                                                     "1.0-1",
                                                     "1.0-1+deb12u1",
                                                     "1.0-1~bpo1",
                                                     "1:0.9",
                                                     "1.00",
                                                     "1.10",
                                                     "1.9",
                                                     "3.40.1-2",
                                                     "3.45.1-1",
                                                     "1.0.a",
                                                     "1.0+dfsg",
                                                     "1.0-1ubuntu2",
                                                     "2:1.2.13.dfsg-1",
                                                     "0",
                                                     "1.0a"};
  for (const char* a : kVersions) {
    for (const char* b : kVersions) {
      const auto order = CompareVersions(a, b);
      const char* relation = order < 0 ? "lt" : order > 0 ? "gt" : "eq";
      const auto dpkg =
          testing::RunProcess({.arguments = {"dpkg", "--compare-versions", a, relation, b}});
      EXPECT_EQ(dpkg.exit_status, 0) << a << " " << relation << " " << b;
    }
  }
}

TEST(VersionOrderTest, AnyTextHasAPlaceInATotalOrder) {
  const OlderVersion older;
  constexpr std::array<const char*, 7> kTexts = {
      "", "~", "build-id 00ff", ":::", "--", "1.0", "1.00"};
  for (const char* a : kTexts) {
    EXPECT_FALSE(older(a, a));
    for (const char* b : kTexts) {
      EXPECT_EQ(older(a, b), a != b && !older(b, a)) << a << " " << b;
    }
  }
}

TEST(VersionOrderTest, AVersionIsNamedByThePackageElseTheBuild) {
  EXPECT_EQ(VersionOf({"liba.so.1", "1.2-3", "00ff", "f", ""}), "1.2-3");
  EXPECT_EQ(VersionOf({"liba.so.1", "", "00ff", "f", ""}), "build-id 00ff");
  EXPECT_EQ(VersionOf({"liba.so.1", "", "", "f", ""}), "unknown");
}

}  // namespace
}  // namespace fieldcost::analysis
