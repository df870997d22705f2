#include "agent/unwind/module_map.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

namespace fieldcost::unwind {
namespace {

// "start-end@offset path ..." for all mappings.
std::string Shown(const ModuleMap& map) {
  std::string text;
  for (const Mapping& mapping : map.mappings()) {
    text += fmt::format("{}{:x}-{:x}@{:x}{}", text.empty() ? "" : " ", mapping.start, mapping.end,
                        mapping.file_offset, mapping.path);
  }
  return text;
}

Mapping Of(std::uint64_t start, std::uint64_t end, std::uint64_t offset, const char* path) {
  Mapping mapping;
  mapping.start = start;
  mapping.end = end;
  mapping.file_offset = offset;
  mapping.path = path;
  return mapping;
}

TEST(ModuleMapTest, LaterMappingsReplaceWhatTheyOverlap) {
  ModuleMap map(1);
  EXPECT_TRUE(map.Add(Of(0x1000, 0x5000, 0, "a")));
  EXPECT_TRUE(map.Add(Of(0x2000, 0x3000, 0x100, "b")));
  EXPECT_EQ(Shown(map), "1000-2000@0a 2000-3000@100b 3000-5000@2000a");
  EXPECT_TRUE(map.Add(Of(0x1800, 0x3800, 0, "c")));
  EXPECT_EQ(Shown(map), "1000-1800@0a 1800-3800@0c 3800-5000@2800a");
  EXPECT_TRUE(map.Add(Of(0, 0x10000, 0, "d")));
  EXPECT_EQ(Shown(map), "0-10000@0d");
  EXPECT_TRUE(map.Add(Of(0, 0x10000, 0, "e")));
  EXPECT_EQ(Shown(map), "0-10000@0e");
}

TEST(ModuleMapTest, AddressesAreFoundInHalfOpenRanges) {
  ModuleMap map(1);
  map.Add(Of(0x1000, 0x2000, 0, "a"));
  map.Add(Of(0x3000, 0x4000, 0, "b"));
  EXPECT_EQ(map.Find(0xfff), nullptr);
  EXPECT_EQ(map.Find(0x1000)->path, "a");
  EXPECT_EQ(map.Find(0x1fff)->path, "a");
  EXPECT_EQ(map.Find(0x2000), nullptr);
  EXPECT_EQ(map.Find(0x3fff)->path, "b");
  EXPECT_EQ(map.Find(0x4000), nullptr);
  EXPECT_EQ(map.Find(UINT64_MAX), nullptr);
}

TEST(ModuleMapTest, RemovingAModuleKeepsTheRest) {
  ModuleMap map(1);
  map.Add(Of(0x1000, 0x5000, 0, "a"));
  map.Remove(0x2000, 0x3000);
  EXPECT_EQ(Shown(map), "1000-2000@0a 3000-5000@2000a");
  map.Remove(0x3000, 0x9000);
  EXPECT_EQ(Shown(map), "1000-2000@0a");
  map.Remove(0, 0x1800);
  EXPECT_EQ(Shown(map), "1800-2000@800a");
  map.Clear();
  EXPECT_EQ(Shown(map), "");
}

TEST(ModuleMapTest, NumbersEachChangeAndForksShareTheNumber) {
  ModuleMap map(1);
  map.Add(Of(0x1000, 0x2000, 0, "a"));
  const std::uint64_t first = map.generation();
  ModuleMap child = map.ForkedTo(2);
  EXPECT_EQ(child.pid(), 2);
  EXPECT_EQ(child.generation(), first);
  child.Add(Of(0x5000, 0x6000, 0, "b"));
  EXPECT_NE(child.generation(), first);
  EXPECT_EQ(map.generation(), first);
  map.Remove(0x8000, 0x9000);  // nothing there
  EXPECT_EQ(map.generation(), first);
  map.Clear();
  EXPECT_NE(map.generation(), first);
  EXPECT_NE(map.generation(), child.generation());
}

TEST(ModuleMapTest, OfMapsTextExecutableLinesCount) {
  ModuleMap map(1);
  AddMapsText(
      "55d0-55d4 r--p 00000000 fe:01 4711    /bin/a b\n"
      "55d4-55e0 r-xp 00004000 fe:01 4711    /bin/a b\n"
      "garbage\n\n-- rwxp\n70-60 r-xp 0 0:0 0 \n"
      "7fff0000-7fff2000 r-xp 00000000 00:00 0    [vdso]\n"
      "8000-9000 rwxp 00000000 00:00 0\n"
      "ffff-10000 r-xp 0 0",
      map);
  EXPECT_EQ(Shown(map), "55d4-55e0@4000/bin/a b 8000-9000@0 7fff0000-7fff2000@0[vdso]");
  const FileIdentity expected{.device_major = 0xfe, .device_minor = 1, .inode = 4711};
  EXPECT_EQ(map.Find(0x55d5)->file, expected);
}

TEST(ModuleMapTest, ThereAreNeverMoreThanTheLimit) {
  ModuleMap map(1);
  bool all = true;
  for (std::uint64_t i = 0; i < ModuleMap::kMostMappings + 10; ++i)
    all = map.Add(Of(i * 2, i * 2 + 1, 0, "")) && all;
  EXPECT_FALSE(all);
  EXPECT_LE(map.mappings().size(), ModuleMap::kMostMappings);
}

TEST(ModuleMapTest, OfThisProcessItHasThisFunction) {
  auto map = ReadModuleMap(::getpid());
  ASSERT_TRUE(map.has_value());
  const auto here = reinterpret_cast<std::uint64_t>(&Shown);
  ASSERT_NE(map->Find(here), nullptr);
  EXPECT_THAT(map->Find(here)->path, ::testing::HasSubstr("unwind_test"));
  EXPECT_EQ(ReadModuleMap(-1).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace fieldcost::unwind
