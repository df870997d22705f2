// Attacks the rule of cuts: publishes the histories of small fleets and tries every linear
// combination of everything that was ever published. A combination of exact sums, bounded sums
// included, cannot reveal more than these sums.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/aggregator/publish/cut_world.h"
#include "tests/aggregator/publish/span_attack.h"

namespace fieldcost::publish {
namespace {

constexpr std::uint32_t kDay = 24 * 60 * 60;

// The numbers of agents that arrive before each publication, by class.
struct Arrivals {
  std::size_t publications = 0;
  std::size_t classes = 0;
  std::vector<std::size_t> counts;  // publication by publication

  std::string Text() const {
    std::string text;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      text += (i % classes == 0 ? " | " : " ") + std::to_string(counts[i]);
    }
    return text;
  }
};

// Visits all arrivals of at most `agents` agents. Agents of a class differ in nothing, so it does
// not matter which of them arrives when.
void ForEachArrivals(std::size_t agents, std::size_t place, Arrivals& arrivals,
                     const std::function<void(const Arrivals&)>& visit) {
  if (::testing::Test::HasFailure()) return;
  if (place == arrivals.counts.size()) return visit(arrivals);
  for (std::size_t count = 0; count <= agents; ++count) {
    arrivals.counts[place] = count;
    ForEachArrivals(agents - count, place + 1, arrivals, visit);
  }
  arrivals.counts[place] = 0;
}

void ForEachArrivals(std::size_t agents, std::size_t publications, std::size_t classes,
                     const std::function<void(const Arrivals&)>& visit) {
  Arrivals arrivals{.publications = publications,
                    .classes = classes,
                    .counts = std::vector<std::size_t>(publications * classes, 0)};
  ForEachArrivals(agents, 0, arrivals, visit);
}

// Statistics that show that the rule publishes something.
struct Published {
  std::size_t worlds = 0;
  std::size_t cuts = 0;
  std::size_t parts = 0;
  std::size_t removed = 0;
};

// Calls `event` before each publication, after the arrivals.
using Event = std::function<void(CutWorld& world, std::size_t publication)>;

void Attack(const Arrivals& arrivals, std::uint64_t threshold, const Event& event,
            const std::string& name, Published& published) {
  CutWorld world(threshold);
  std::size_t agent = 0;
  for (std::size_t i = 0; i < arrivals.publications; ++i) {
    for (std::size_t hardware = 0; hardware < arrivals.classes; ++hardware) {
      for (std::size_t n = arrivals.counts[i * arrivals.classes + hardware]; n != 0; --n) {
        world.Contribute(agent++, hardware + 1, static_cast<unsigned>(i));
      }
    }
    event(world, i);
    world.PassSeconds(3 * kDay);
    const UnitChange change = world.Publish();
    published.cuts += change.took_cut ? 1 : 0;
    published.parts += change.moved_classes;
    published.removed += change.removed_cuts;
  }
  ++published.worlds;
  ASSERT_FALSE(world.FindIsolated()) << arrivals.Text() << ", " << name;
}

const Event kNoEvent = [](CutWorld&, std::size_t) {};

TEST(CutAttackTest, NoCombinationIsolatesAnyOfTwelveAgentsInFourPublications) {
  Published published;
  ForEachArrivals(12, 4, 2, [&](const Arrivals& arrivals) {
    Attack(arrivals, 3, kNoEvent, "no event", published);
  });
  EXPECT_EQ(published.worlds, 125'970u);
  EXPECT_GT(published.cuts, published.worlds);
  EXPECT_GT(published.parts, published.worlds);
}

TEST(CutAttackTest, NoCombinationIsolatesAnyOfNineAgentsOfThreeClasses) {
  Published published;
  ForEachArrivals(9, 3, 3, [&](const Arrivals& arrivals) {
    Attack(arrivals, 2, kNoEvent, "no event", published);
  });
  EXPECT_EQ(published.worlds, 48'620u);
  EXPECT_GT(published.cuts, published.worlds);
  EXPECT_GT(published.parts, published.worlds);
}

// The first agent that arrived in this place, if there is one.
std::optional<std::size_t> FirstAgentOf(const Arrivals& arrivals, std::size_t place) {
  if (arrivals.counts[place] == 0) return std::nullopt;
  std::size_t first = 0;
  for (std::size_t i = 0; i < place; ++i) first += arrivals.counts[i];
  return first;
}

TEST(CutAttackTest, NoCombinationIsolatesAnyOfEightAgentsAfterAWithdrawal) {
  Published published;
  ForEachArrivals(8, 3, 2, [&](const Arrivals& arrivals) {
    for (std::size_t place = 0; place < arrivals.counts.size(); ++place) {
      const auto agent = FirstAgentOf(arrivals, place);
      if (!agent) continue;
      for (std::size_t when = place / arrivals.classes; when < arrivals.publications; ++when) {
        const Event withdraw = [&](CutWorld& world, std::size_t publication) {
          // The number matters only if several cuts have a week in common.
          if (publication == when) world.Withdraw(*agent, when % 2 == 0);
        };
        const std::string name =
            "agent " + std::to_string(*agent) + " withdraws in " + std::to_string(when);
        Attack(arrivals, 2, withdraw, name, published);
      }
    }
  });
  EXPECT_GT(published.worlds, 20'000u);
  EXPECT_GT(published.removed, 5'000u);
}

TEST(CutAttackTest, NoCombinationIsolatesAnyOfEightAgentsThatSendTwice) {
  Published published;
  ForEachArrivals(8, 3, 2, [&](const Arrivals& arrivals) {
    for (std::size_t place = 0; place < arrivals.counts.size(); ++place) {
      const auto agent = FirstAgentOf(arrivals, place);
      if (!agent) continue;
      const std::size_t first = place / arrivals.classes;
      for (std::size_t when = first + 1; when < arrivals.publications; ++when) {
        const Event send = [&](CutWorld& world, std::size_t publication) {
          if (publication != when) return;
          world.SendMore(*agent, place % arrivals.classes + 1, static_cast<unsigned>(first));
        };
        const std::string name =
            "agent " + std::to_string(*agent) + " sends again in " + std::to_string(when);
        Attack(arrivals, 2, send, name, published);
      }
    }
  });
  EXPECT_GT(published.worlds, 10'000u);
}

TEST(CutAttackTest, NoCombinationIsolatesAnyOfEightAgentsAfterARestore) {
  Published published;
  ForEachArrivals(8, 4, 1, [&](const Arrivals& arrivals) {
    for (std::size_t backup = 0; backup < arrivals.publications; ++backup) {
      for (std::size_t restore = backup + 1; restore < arrivals.publications; ++restore) {
        const Event event = [&](CutWorld& world, std::size_t publication) {
          if (publication == backup) world.BackUp();
          if (publication == restore) world.Restore();
        };
        Attack(arrivals, 2, event, "a restore", published);
      }
    }
  });
  ForEachArrivals(7, 3, 2, [&](const Arrivals& arrivals) {
    const Event event = [&](CutWorld& world, std::size_t publication) {
      if (publication == 0) world.BackUp();
      if (publication == 1) world.Publish();  // seen by all, then lost
      if (publication == 1) world.Restore();
    };
    Attack(arrivals, 2, event, "a restore", published);
  });
  EXPECT_GT(published.worlds, 4'000u);
  EXPECT_GT(published.cuts, published.worlds / 2);
}

TEST(CutAttackTest, NoCombinationIsolatesAnyOfEightAgentsAfterExpiry) {
  Published published;
  ForEachArrivals(8, 3, 2, [&](const Arrivals& arrivals) {
    for (unsigned weeks = 1; weeks <= 2; ++weeks) {
      const Event expire = [&](CutWorld& world, std::size_t publication) {
        if (publication == 2) world.Expire(weeks);
      };
      Attack(arrivals, 2, expire, "expiry", published);
    }
  });
  EXPECT_GT(published.removed, 2'000u);
}

// A random history of a group with everything that can happen to it.
class RandomHistory {
 public:
  explicit RandomHistory(std::uint64_t seed)
      : random_(seed), threshold_(2 + Below(4)), world_(threshold_) {
    classes_ = Below(4) == 0 ? 1 + Below(25) : 1 + Below(5);
    has_unnamed_ = Below(4) == 0;
    events_ = Below(3);
    seconds_ = Below(2) == 0 ? kDay : 5 * kDay;
    busy_ = 1 + Below(3);
  }

  void Run(std::size_t publications, Published& published) {
    for (std::size_t i = 0; i < publications; ++i) {
      week_ = std::min<unsigned>(static_cast<unsigned>(i) * 2 / 3, 12);
      ArriveSome();
      for (std::size_t event = 0; event < events_; ++event) {
        if (Below(3) == 0) MakeEvent(i + 4 >= publications);
      }
      world_.PassSeconds(seconds_);
      const UnitChange change = world_.Publish();
      published.cuts += change.took_cut ? 1 : 0;
      published.parts += change.moved_classes;
      published.removed += change.removed_cuts;
    }
    ++published.worlds;
    const auto isolated = world_.FindIsolated();
    EXPECT_FALSE(isolated) << isolated->size() << " agents, threshold " << threshold_;
  }

 private:
  struct Sender {
    std::size_t hardware = 0;
    std::vector<CutWorld::Batch> batches;
    std::vector<CutWorld::Batch> contributions;  // at most one of them is in the store
  };

  std::size_t Below(std::size_t end) { return random_() % end; }
  // Weeks that have expired are refused.
  unsigned RecentWeek() {
    return std::max(expired_, week_ - static_cast<unsigned>(Below(std::min(week_, 2U) + 1)));
  }
  std::size_t SomeClass() {
    if (has_unnamed_ && Below(5) == 0) return 0;
    return 1 + std::min(Below(classes_), Below(classes_));  // some classes are more frequent
  }
  bool HasContributed(const Sender& sender) const {
    return std::any_of(sender.contributions.begin(), sender.contributions.end(),
                       [&](CutWorld::Batch batch) { return world_.IsInStore(batch); });
  }
  void Contribute(std::size_t agent) {
    Sender& sender = senders_[agent];
    const CutWorld::Batch batch = world_.Contribute(agent, sender.hardware, RecentWeek());
    sender.batches.push_back(batch);
    sender.contributions.push_back(batch);
  }

  void ArriveSome() {
    if (Below(4) == 0) return;
    for (std::size_t n = Below(busy_ * threshold_ + 2); n != 0; --n) {
      senders_.push_back({.hardware = SomeClass()});
      Contribute(senders_.size() - 1);
    }
  }

  void MakeEvent(bool is_late) {
    if (senders_.empty()) return;
    const std::size_t agent = Below(senders_.size());
    Sender& sender = senders_[agent];
    switch (Below(10)) {
      case 0:
      case 1:
      case 2: {
        const CutWorld::Batch batch = sender.batches[Below(sender.batches.size())];
        if (world_.IsInStore(batch)) world_.Withdraw(batch, Below(2) == 0);
        return;
      }
      case 3:
      case 4:
      case 5:
        return SendAgain(agent, sender);
      case 6:
        has_backup_ = true;
        return world_.BackUp();
      case 7:
        if (has_backup_) world_.Restore();
        return;
      default:
        if (is_late && week_ > 0) world_.Expire(expired_ = std::max(expired_, 1 + week_ / 2));
    }
  }
  // A later batch; or, if the first one is gone, another first one.
  void SendAgain(std::size_t agent, Sender& sender) {
    if (HasContributed(sender)) {
      sender.batches.push_back(world_.SendMore(agent, sender.hardware, RecentWeek()));
    } else {
      Contribute(agent);
    }
  }

  std::mt19937_64 random_;
  const std::uint64_t threshold_;
  CutWorld world_;
  std::size_t classes_ = 1;
  bool has_unnamed_ = false;
  std::size_t events_ = 0;
  std::size_t busy_ = 1;
  std::uint32_t seconds_ = kDay;
  unsigned week_ = 0;
  unsigned expired_ = 0;
  bool has_backup_ = false;
  std::vector<Sender> senders_;
};

TEST(CutAttackTest, NoCombinationIsolatesTooFewOfRandomGroupsInTwentyPublications) {
  Published published;
  for (std::uint64_t seed = 0; seed < 400 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomHistory(seed).Run(20, published);
  }
  EXPECT_GT(published.cuts, 2'000u);
  EXPECT_GT(published.parts, 1'000u);
  EXPECT_GT(published.removed, 300u);
}

TEST(SpanAttackTest, FindsCombinationsThatIsolateTooFew) {
  const std::vector<std::size_t> own = {0, 1, 2, 3, 4, 5, 6, 7};
  using Sums = std::set<std::set<std::size_t>>;
  EXPECT_FALSE(SpanAttack(Sums{{0, 1, 2}, {3, 4, 5}}, own, 3));
  EXPECT_TRUE(SpanAttack(Sums{{0, 1}, {3, 4, 5}}, own, 3));
  EXPECT_TRUE(SpanAttack(Sums{{0, 1, 2}, {0, 1, 2, 3}}, own, 2));
  // {0, 1} + {2, 3} - {1, 2} is not a set, but consists of two agents.
  EXPECT_TRUE(SpanAttack(Sums{{0, 1, 4, 5}, {2, 3, 6}, {1, 2, 4, 5, 6}}, own, 3));
  EXPECT_FALSE(SpanAttack(Sums{{0, 1, 4, 5}, {2, 3, 6}, {1, 2, 4, 5, 6}}, own, 2));
  // Needs a factor of 2: {0, 1} + {0, 2} + {1, 2} - 2 * {1, 2, 3, ...}
  EXPECT_TRUE(SpanAttack(Sums{{0, 1, 4}, {0, 2, 4}, {1, 2, 4}, {0, 1, 2, 4, 5}}, own, 3));
}

TEST(SpanAttackTest, CountsAgentsNotBatches) {
  const std::vector<std::size_t> agents = {0, 1, 1, 1};
  using Sums = std::set<std::set<std::size_t>>;
  EXPECT_TRUE(SpanAttack(Sums{{1, 2, 3}}, agents, 2));
  EXPECT_FALSE(SpanAttack(Sums{{0, 1, 2}, {0, 1, 3}}, agents, 1));
  EXPECT_TRUE(SpanAttack(Sums{{0, 1, 2}, {0, 1, 3}}, agents, 2));
}

}  // namespace
}  // namespace fieldcost::publish
