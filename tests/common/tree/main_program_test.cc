#include "common/tree/main_program.h"

#include <gtest/gtest.h>

namespace fieldcost::tree {
namespace {

Dictionary WithModules(const std::vector<std::string>& modules) {
  Dictionary dictionary;
  PathId path = kRootPath;
  for (const std::string& module : modules) {
    const Frame frame =
        module.starts_with('[') ? SpecialFrame(module) : Frame{.module = module, .function = "f"};
    path = dictionary.paths.Intern(path, dictionary.frames.Intern(frame).value()).value();
  }
  return dictionary;
}

std::string Found(const std::vector<std::string>& before, std::string_view command_before,
                  const std::vector<std::string>& after, std::string_view command_after) {
  const auto programs =
      DifferentPrograms(WithModules(before), command_before, WithModules(after), command_after);
  return programs ? programs->before + " " + programs->after : "none";
}

TEST(MainProgramTest, IsWhatTheCommandsName) {
  EXPECT_EQ(Found({"libc.so", "old"}, "./old 9", {"libc.so", "new"}, "build/new 9"), "old new");
  EXPECT_EQ(Found({"old", "helper1"}, "./old", {"new", "helper2"}, "./new"), "old new");
  EXPECT_EQ(Found({"env", "old"}, "env A=1 ./old", {"env", "new"}, "env A=1 ./new"), "old new");
}

TEST(MainProgramTest, IsTheOnlyExecutableThatTheSidesDoNotShare) {
  EXPECT_EQ(Found({"sh", "old"}, "sh -c ./old;true", {"sh", "new"}, "sh x.sh"), "old new");
  EXPECT_EQ(Found({"old"}, "", {"new"}, ""), "old new");
}

TEST(MainProgramTest, IsUnknownWhereNothingOrTooMuchDiffers) {
  EXPECT_EQ(Found({"app", "libc.so"}, "a/app", {"app", "libc.so"}, "b/app"), "none");
  EXPECT_EQ(Found({"app", "liba.so"}, "./app", {"app", "libb.so"}, "./app"), "none");
  EXPECT_EQ(Found({"a", "b"}, "make", {"c", "d"}, "make"), "none");
  EXPECT_EQ(Found({"[kernel]"}, "./old", {"[cut]"}, "./new"), "none");
  EXPECT_EQ(Found({"old"}, "./old", {}, "./new"), "none");
}

TEST(MainProgramTest, RenamingAModuleKeepsAllIds) {
  Dictionary dictionary = WithModules({"old", "libc.so", "[kernel]"});
  const Frame unnamed = {
      .kind = FrameKind::kUnnamed, .module = "old", .build_id = "1", .offset = 9};
  const PathId path =
      dictionary.paths.Intern(kRootPath, dictionary.frames.Intern(unnamed).value()).value();
  const auto renamed = RenameModule(dictionary, "old", "new").value();
  ASSERT_EQ(renamed->paths.size(), dictionary.paths.size());
  EXPECT_EQ(renamed->frame(PathId(1)).module, "new");
  EXPECT_EQ(renamed->frame(PathId(2)), dictionary.frame(PathId(2)));
  EXPECT_EQ(renamed->frame(PathId(3)), dictionary.frame(PathId(3)));
  EXPECT_EQ(renamed->frame(path).module, "new");
  EXPECT_EQ(renamed->frame(path).offset, 9U);
  EXPECT_DEATH((void)RenameModule(dictionary, "old", "libc.so"), "module != to");
}

TEST(MainProgramTest, ThreadsAndProcessesOfThatNameAreRenamed) {
  const auto dictionary = WithModules({"[thread old 17]", "[thread old/worker]", "[process old]",
                                       "[thread older]", "[thread a/old]", "old"});
  const auto renamed = RenameModule(dictionary, "old", "new").value();
  std::vector<std::string> names;
  for (std::uint32_t i = 1; i <= 5; ++i) names.push_back(renamed->frame(PathId(i)).function);
  EXPECT_EQ(names, (std::vector<std::string>{"[thread new 17]", "[thread new/worker]",
                                             "[process new]", "[thread older]", "[thread a/old]"}));
  const auto both = WithModules({"[thread old]", "[thread new]", "old"});
  EXPECT_EQ(RenameModule(both, "old", "new").value()->frame(PathId(1)).function, "[thread old]");
}

}  // namespace
}  // namespace fieldcost::tree
