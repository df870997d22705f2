// The completions for every beginning of a line, derived from the commands themselves.
#include "common/command/complete.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/cli/cli_commands.h"

namespace fieldcost::cli {
namespace {

using command::Completion;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

const command::Command& TheProgram() {
  static const command::Command program = Program();
  return program;
}

std::vector<std::string> Names(std::string_view prefix) {
  std::vector<std::string> names;
  for (const std::string name :
       {"liba.so.1!open_it", "liba.so.1!twin", "libb.so.2!twin", "libb.so.2!twist"}) {
    if (name.substr(name.find('!') + 1).starts_with(prefix)) names.push_back(name);
  }
  return names;
}

std::vector<std::string> NamesWithCxx(std::string_view prefix) {
  std::vector<std::string> names = Names(prefix);
  if (std::string_view("a::Reader::read").starts_with(prefix)) {
    names.emplace_back("liba.so.1!a::Reader::read");
  }
  return names;
}

std::vector<std::string> Libraries(std::string_view text) { return {fmt::format("lib<{}", text)}; }

std::vector<std::string> Versions(std::string_view library, std::string_view api,
                                  std::string_view prefix) {
  return {fmt::format("{}<{}|{}", prefix, library, api)};
}

Completion At(const std::vector<std::string>& words) {
  const command::NameLookups lookups{
      .symbols = Names, .names = NamesWithCxx, .libraries = Libraries, .versions = Versions};
  return command::Complete(TheProgram(), words, lookups);
}

std::vector<std::string> Texts(const std::vector<std::string>& words) {
  std::vector<std::string> texts;
  for (const auto& candidate : At(words).candidates) texts.push_back(candidate.text);
  return texts;
}

TEST(CompleteTest, OffersEveryCommandWhereItIsAllowed) {
  EXPECT_THAT(Texts({"a"}), ElementsAre("agent"));
  EXPECT_THAT(Texts({""}), AllOf(Contains("run"), Contains("completion"), Contains("top")));
  EXPECT_THAT(Texts({"agent", "o"}), ElementsAre("on", "off"));
  EXPECT_THAT(Texts({"agent", "session", ""}), ElementsAre("on", "off", "status"));
  EXPECT_THAT(Texts({"--json", "agent", "st"}), ElementsAre("status"));
  EXPECT_THAT(Texts({"--color", "never", "agent", "st"}), ElementsAre("status"));
  EXPECT_THAT(Texts({"top", "a"}), IsEmpty());
  EXPECT_THAT(Texts({}), IsEmpty());
}

TEST(CompleteTest, OptionsAreTheCommandsAndThoseOfAllCommands) {
  EXPECT_THAT(Texts({"top", "--l"}), ElementsAre("--local", "--library", "--limit"));
  EXPECT_THAT(Texts({"top", "--"}), AllOf(Contains("--json"), Contains("--color"),
                                          Contains("--help"), Not(Contains("--pick"))));
  EXPECT_THAT(Texts({"run", "--"}), AllOf(Contains("--pick"), Contains("--")));
}

TEST(CompleteTest, AnOptionsValueIsOneOfItsChoices) {
  EXPECT_THAT(Texts({"--color", "a"}), ElementsAre("auto", "always"));
  EXPECT_THAT(Texts({"top", "--sort", ""}), Contains("p99"));
  EXPECT_THAT(Texts({"top", "--sort=p9"}), ElementsAre("--sort=p95", "--sort=p99"));
  // Words as split by bash.
  EXPECT_THAT(Texts({"top", "--sort", "=", "p9"}), ElementsAre("p95", "p99"));
  EXPECT_THAT(Texts({"top", "--sort", "="}), Contains("p99"));
  EXPECT_THAT(Texts({"top", "--limit", ""}), IsEmpty());
  EXPECT_THAT(Texts({"completion", "z"}), ElementsAre("zsh"));
  EXPECT_THAT(Texts({"completion", "zsh", ""}), IsEmpty());
}

TEST(CompleteTest, OffersTheMissingValuesOfAList) {
  EXPECT_THAT(Texts({"run", "--metrics", "a"}), ElementsAre("alloc"));
  EXPECT_THAT(Texts({"run", "--metrics", "time,io,"}),
              ElementsAre("time,io,alloc", "time,io,cycles"));
}

TEST(CompleteTest, ApisAreThoseOfTheCatalogue) {
  EXPECT_THAT(Texts({"show", "tw"}), ElementsAre("twin", "twist"));
  EXPECT_THAT(Texts({"show", "liba.so.1!tw"}), ElementsAre("liba.so.1!twin"));
  EXPECT_THAT(Texts({"show", "--local", "op"}), ElementsAre("open_it"));
  EXPECT_THAT(Texts({"show", "open_it", "tw"}), IsEmpty());
  EXPECT_THAT(Texts({"spectrum", "open_it", "tw"}), ElementsAre("twin", "twist"));
  EXPECT_THAT(Texts({"hist", "op"}), ElementsAre("open_it"));
  // The full name is required; if two libraries have it, a shell would only insert "lib".
  EXPECT_THAT(Texts({"sync", "--api", "op"}), ElementsAre("liba.so.1!open_it"));
  EXPECT_THAT(Texts({"sync", "--api", "tw"}), IsEmpty());
  EXPECT_THAT(Texts({"sync", "--api", "libb.so.2!"}),
              ElementsAre("libb.so.2!twin", "libb.so.2!twist"));
  EXPECT_THAT(Texts({"run", "--pick", "libz.so.1!*,liba.so.1!o"}),
              ElementsAre("libz.so.1!*,liba.so.1!open_it"));
}

TEST(CompleteTest, NamesOfCxxAreThoseOfItsSource) {
  EXPECT_THAT(Texts({"show", "a::Re"}), ElementsAre("a::Reader::read"));
  EXPECT_THAT(Texts({"show", "liba.so.1!a::"}), ElementsAre("liba.so.1!a::Reader::read"));
  EXPECT_THAT(Texts({"run", "--pick", "libz.so.1!*,a::"}),
              ElementsAre("libz.so.1!*,liba.so.1!a::Reader::read"));
  // This option requires the linker's name.
  EXPECT_THAT(Texts({"sync", "--api", "a::"}), IsEmpty());
}

TEST(CompleteTest, LibrariesAreThoseOfTheCatalogue) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"diff", "z"},
                                             {"top", "--library", "z"},
                                             {"search", "x", "--library", "z"},
                                             {"spectrum", "--library", "z"},
                                             {"docs", "cards", "--library", "z"},
                                             {"report", "vendor", "--library", "z"}}) {
    EXPECT_THAT(Texts(words), ElementsAre("lib<z")) << ::testing::PrintToString(words);
  }
  EXPECT_THAT(Texts({"top", "--library=z"}), ElementsAre("--library=lib<z"));
}

TEST(CompleteTest, OffersTheVersionsOfTheNamedFunction) {
  EXPECT_THAT(Texts({"diff", "libz.so.1", "1."}), ElementsAre("1.<libz.so.1|"));
  EXPECT_THAT(Texts({"diff", "libz.so.1", "1.2", ""}), ElementsAre("<libz.so.1|"));
  EXPECT_THAT(Texts({"diff", "libz.so.1", "1.2", "1.3", ""}), IsEmpty());
  EXPECT_THAT(Texts({"show", "deflate", "--of-version", "1"}), ElementsAre("1<|deflate"));
  EXPECT_THAT(Texts({"spectrum", "--library=libz", "--of-version", "1"}), ElementsAre("1<libz|"));
  EXPECT_THAT(Texts({"report", "vendor", "--library", "libz", "--baseline", "1"}),
              ElementsAre("1<libz|"));
  EXPECT_THAT(Texts({"report", "vendor", "--baseline", "1"}), IsEmpty());
}

TEST(CompleteTest, CompletesTheProgramAfterDoubleDash) {
  EXPECT_EQ(At({"run", "--", "sq"}).more, Completion::More::kPrograms);
  const Completion inside = At({"run", "--pick", "a!b", "--", "git", "--json", "ch"});
  EXPECT_EQ(inside.more, Completion::More::kCommandLine);
  EXPECT_EQ(inside.program_word, 4U);
  EXPECT_THAT(inside.candidates, IsEmpty());
  EXPECT_EQ(At({"top", "--", "sq"}).more, Completion::More::kNothing);
}

TEST(CompleteTest, CompletesTheProgramWithoutDoubleDash) {
  EXPECT_EQ(At({"run", "sq"}).more, Completion::More::kPrograms);
  EXPECT_EQ(At({"run", "--pick", "a!b", "--show", "sq"}).more, Completion::More::kPrograms);
  const Completion inside = At({"measure", "--rounds", "=", "3", "git", "--json", "ch"});
  EXPECT_EQ(inside.more, Completion::More::kCommandLine);
  EXPECT_EQ(inside.program_word, 4U);
  EXPECT_EQ(At({"idle", "make", "ch"}).more, Completion::More::kCommandLine);
  EXPECT_THAT(Texts({"idle", "sh"}), ElementsAre("show"));
}

TEST(CompleteTest, TheAnswerIsALineForTheShellAndOneForEachCandidate) {
  EXPECT_EQ(command::CompletionAnswer({.candidates = {{"a", "first"}, {"b", ""}}}),
            "nothing\na\tfirst\nb\t\n");
  EXPECT_EQ(command::CompletionAnswer({.more = Completion::More::kCommandLine, .program_word = 3}),
            "command 3\n");
}

}  // namespace
}  // namespace fieldcost::cli
