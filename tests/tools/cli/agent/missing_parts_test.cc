#include "tools/cli/agent/missing_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/cli/agent/status_text.h"

namespace fieldcost::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const WallTime kNow = WallTime(std::chrono::days(20'000));

// Everything is in place.
PartFacts Complete() {
  catalog::Freshness freshness;
  freshness.last_sync = kNow;
  freshness.fragments_total = freshness.fragments_present = 4;
  return {.mode = settings::Mode::kOn,
          .url = "https://fieldcost.example.org",
          .root_is_pinned = true,
          .session_is_active = true,
          .daemon_is_running = true,
          .daemon_fix = "start it",
          .catalogue = freshness,
          .now = kNow};
}

std::vector<std::string> Names(const PartFacts& facts) {
  std::vector<std::string> names;
  for (const MissingPart& part : MissingParts(facts)) names.emplace_back(part.part);
  return names;
}

TEST(MissingPartsTest, NamesEachPartThatIsMissing) {
  EXPECT_THAT(Names(Complete()), IsEmpty());
  const auto without = [](const std::function<void(PartFacts&)>& change) {
    PartFacts facts = Complete();
    change(facts);
    return Names(facts);
  };
  EXPECT_THAT(without([](auto& facts) { facts.url = ""; }), ElementsAre("service"));
  EXPECT_THAT(without([](auto& facts) { facts.root_is_pinned = false; }), ElementsAre("root"));
  EXPECT_THAT(without([](auto& facts) { facts.session_is_active = false; }),
              ElementsAre("session"));
  EXPECT_THAT(without([](auto& facts) { facts.session_is_complete = false; }),
              ElementsAre("session"));
  EXPECT_THAT(without([](auto& facts) { facts.daemon_is_running = false; }), ElementsAre("daemon"));
  EXPECT_THAT(without([](auto& facts) { facts.catalogue.reset(); }), ElementsAre("catalogue"));
  EXPECT_THAT(without([](auto& facts) { facts.catalogue->fragments_present = 3; }),
              ElementsAre("catalogue"));
  EXPECT_THAT(without([](auto& facts) { facts.now += std::chrono::days(9); }),
              ElementsAre("catalogue"));
}

TEST(MissingPartsTest, ASuggestedServiceIsJoinedByAgentOn) {
  PartFacts facts = Complete();
  facts.url = "";
  EXPECT_EQ(MissingParts(facts).at(0).fix, "fieldcost agent join URL");
  facts.is_suggested = true;
  EXPECT_THAT(Names(facts), ElementsAre("service"));
  EXPECT_EQ(MissingParts(facts).at(0).fix, "fieldcost agent on");
  facts.url = "https://fieldcost.example.org";
  EXPECT_THAT(Names(facts), IsEmpty());
}

TEST(MissingPartsTest, EnabledUnitsStartTheDaemonOnlyWithAServiceManager) {
  PartFacts facts = Complete();
  facts.daemon_is_running = false;
  facts.units_are_enabled = true;
  EXPECT_THAT(Names(facts), ElementsAre("daemon"));
  facts.units_can_start = true;
  EXPECT_THAT(Names(facts), IsEmpty());
}

TEST(MissingPartsTest, NothingIsMissingForWhatTheUserHasNotChosen) {
  PartFacts facts{.mode = settings::Mode::kOff, .now = kNow};
  EXPECT_THAT(Names(facts), IsEmpty());
  facts.mode = settings::Mode::kLocal;
  EXPECT_THAT(Names(facts), ElementsAre("session", "daemon"));
}

TEST(MissingPartsTest, TheTextHasTheCommandBelowEachProblem) {
  PartFacts facts = Complete();
  facts.url = "https://evil\x1b[2J";
  facts.root_is_pinned = false;
  facts.catalogue.reset();
  EXPECT_EQ(MissingText(MissingParts(facts)),
            "missing             root: not pinned, so nothing can be sent or fetched\n"
            "                      fieldcost agent join https://evil\\x1b[2J\n"
            "                    catalogue: not fetched yet\n"
            "                      fieldcost sync --full\n");
}

}  // namespace
}  // namespace fieldcost::cli
