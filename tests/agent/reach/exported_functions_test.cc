#include "agent/reach/exported_functions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "common/base/file.h"
#include "common/base/units.h"
#include "tests/support/binary_dir.h"
#include "tests/support/process.h"

namespace fieldcost::reach {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string kLibraries = "/lib/x86_64-linux-gnu/";

// The exported functions by binutils.
std::set<std::string> FunctionsByReadelf(const std::string& file) {
  const testing::ProcessResult listed =
      testing::RunProcess({.arguments = {"readelf", "--dyn-syms", "-W", file}});
  std::set<std::string> names;
  std::istringstream lines(listed.output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string number, value, size, type, binding, visibility, section, name;
    words >> number >> value >> size >> type >> binding >> visibility >> section >> name;
    const bool is_function = type == "FUNC" || type == "IFUNC";
    if (!is_function || binding == "LOCAL" || section == "UND" || visibility == "HIDDEN") continue;
    const std::size_t at = name.find('@');
    const bool is_old = at != std::string::npos && name.compare(at, 2, "@@") != 0;
    if (!is_old) names.insert(name.substr(0, at));
  }
  return names;
}

TEST(ExportedFunctionsTest, AreThoseThatBinutilsLists) {
  for (const char* const library : {"libz.so.1", "libc.so.6", "libstdc++.so.6", "libm.so.6"}) {
    const std::string file = std::filesystem::exists(kLibraries + library)
                                 ? kLibraries + library
                                 : "/usr" + kLibraries + library;
    const auto exports = ExportsOfLibrary(file);
    ASSERT_TRUE(exports.has_value()) << file;
    std::set<std::string> all = exports->untrusted_names;
    all.insert(exports->untrusted_never_measured.begin(), exports->untrusted_never_measured.end());
    EXPECT_EQ(all.size(),
              exports->untrusted_names.size() + exports->untrusted_never_measured.size());
    EXPECT_EQ(all, FunctionsByReadelf(file)) << file;
    EXPECT_THAT(all, Not(IsEmpty()));
  }
}

TEST(ExportedFunctionsTest, SomeAreNeverMeasured) {
  const auto exports = ExportsOfLibrary(kLibraries + "libc.so.6");
  ASSERT_TRUE(exports.has_value());
  for (const char* const name : {"exit", "abort", "_setjmp", "__longjmp_chk"}) {
    EXPECT_THAT(exports->untrusted_never_measured, Contains(name));
    EXPECT_THAT(exports->untrusted_names, Not(Contains(name)));
  }
  EXPECT_THAT(exports->untrusted_names, Contains("malloc"));
}

TEST(ExportedFunctionsTest, ProgramsAndOtherFilesAreNoLibraries) {
  for (const char* const file : {FIELDCOST_BINARY_DIR "/victims/with_plt", "/bin/sh", "/dev/null",
                                 "/no/such/file", "/etc/passwd"}) {
    EXPECT_FALSE(ExportsOfLibrary(file).has_value()) << file;
  }
}

TEST(ExportedFunctionsTest, DamagedLibrariesHaveNoExportsOrThoseThatAreLeft) {
  const auto bytes = ReadFile(kLibraries + "libz.so.1", 4 * kMiB);
  ASSERT_TRUE(bytes.has_value());
  const auto whole = ReadExports(ReaderOf(std::string_view(*bytes)));
  ASSERT_TRUE(whole.has_value());
  for (std::size_t size = 0; size < bytes->size(); size += 251) {
    const auto cut = ReadExports(ReaderOf(std::string_view(*bytes).substr(0, size)));
    if (!cut) continue;
    EXPECT_LE(cut->untrusted_names.size(), whole->untrusted_names.size()) << size;
  }
}

}  // namespace
}  // namespace fieldcost::reach
