#include "common/probe/groups.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "common/base/text.h"
#include "common/inference/welch.h"

namespace fieldcost::probe {
namespace {

constexpr double kLeastWaitPoints = 0.03;     // out of 1, if the test is possible
constexpr double kLeastWaitPointsFew = 0.10;  // otherwise
constexpr std::size_t kMostNamed = 4;         // groups named in an error

struct Group {
  std::vector<EventKey> keys;  // except those set aside
  std::size_t set_aside = 0;
  std::size_t older = 0;
  std::size_t All() const { return keys.size() + set_aside + older; }
};
using Groups = std::map<GroupKey, Group>;

// Which properties are part of the key even though the selections name them.
struct Named {
  bool program = true;
  bool tags = true;
};

GroupKey KeyOf(const EventRow& row, const GroupSide& side, const Named& counts) {
  GroupKey key{.label = row.label, .program = row.program, .tags = row.tags};
  if (!side.replaced_program.empty() && row.program == side.replaced_program) {
    key.program = side.as_program;
    if (row.id.number == 0 && row.label == row.program) key.label = side.as_program;
  }
  if (!counts.program) key.program.clear();
  if (counts.tags) return key;
  std::erase_if(key.tags, [&](const std::string& tag) {
    return std::ranges::find(side.tags, tag) != side.tags.end();
  });
  return key;
}

// Keeps equally many events of each run, so that a run with many events does not displace another.
void LeaveOlderOut(Group& group) {
  const auto run_of = [](const EventKey& key) { return RunKey{key.owner, key.id.run}; };
  std::map<RunKey, std::size_t> runs;
  for (const EventKey& key : group.keys) ++runs[run_of(key)];
  const std::size_t most =
      std::max<std::size_t>(kMostEventsOfSide / std::max<std::size_t>(runs.size(), 1), 1);
  std::map<RunKey, std::size_t> taken;
  group.older =
      std::erase_if(group.keys, [&](const EventKey& key) { return ++taken[run_of(key)] > most; });
}

Groups GroupsOf(const GroupSide& side, const Named& counts) {
  Groups groups;
  for (const SideRow& event : side.rows) {
    Group& group = groups[KeyOf(event.row, side, counts)];
    if (event.is_set_aside) {
      ++group.set_aside;
    } else {
      group.keys.push_back(event.row.key());
    }
  }
  for (auto& [key, group] : groups) {
    if (group.keys.size() > kMostEventsOfSide) LeaveOlderOut(group);
  }
  return groups;
}

Result<std::vector<Event>> Load(const Group& group, const GroupSide& side) {
  std::vector<Event> events;
  for (const EventKey& key : group.keys) {
    FIELDCOST_ASSIGN(Event event, side.load(key));
    events.push_back(std::move(event));
  }
  return events;
}

std::string NamesOf(const Groups& groups) {
  std::string text;
  std::size_t named = 0;
  for (const auto& [key, group] : groups) {
    if (named++ == kMostNamed) return text + "; …";
    text += (text.empty() ? "" : "; ") + EscapeControl(GroupText(key));
  }
  return text;
}

Error NothingInCommon(const Groups& base, const Groups& changed) {
  return Fail(ErrorCode::kInvalidArgument,
              "compare: no events of both sides have the same label, program and tags: one side "
              "has {}; the other {}. To compare different tags or programs, select each side by "
              "tag: or program:",
              NamesOf(base), NamesOf(changed));
}

// For each measured run, the share of the time in which it could run that it waited for a CPU.
std::vector<double> WaitShares(std::span<const SideRow> rows) {
  std::map<RunKey, double> runs;
  for (const SideRow& event : rows) {
    if (event.row.observed_ns == 0) continue;
    runs[event.row.run_key()] =
        static_cast<double>(event.row.waited_ns) / static_cast<double>(event.row.observed_ns);
  }
  std::vector<double> shares;
  for (const auto& [run, share] : runs) shares.push_back(share);
  return shares;
}

inference::Moments OctavesOf(const std::vector<double>& wait_shares) {
  std::vector<double> octaves;
  for (const double share : wait_shares) octaves.push_back(WaitOctaves(share));
  return inference::MomentsOf(octaves);
}

bool LoadsDiffer(std::span<const SideRow> base, std::span<const SideRow> changed) {
  const std::vector<double> of_base = WaitShares(base);
  const std::vector<double> of_new = WaitShares(changed);
  if (of_base.empty() || of_new.empty()) return false;
  const inference::Moments base_moments = inference::MomentsOf(of_base);
  const inference::Moments new_moments = inference::MomentsOf(of_new);
  const double points = std::abs(new_moments.mean - base_moments.mean);
  if (std::min(of_base.size(), of_new.size()) < inference::kEventThresholds.least_values)
    return points >= kLeastWaitPointsFew;
  return points >= kLeastWaitPoints && inference::WelchP(OctavesOf(of_base), OctavesOf(of_new)) <=
                                           inference::kEventThresholds.false_share;
}

void LeaveOut(const Groups& groups, const Groups& others, bool is_of_base,
              std::vector<LeftOutGroup>& left_out) {
  for (const auto& [key, group] : groups) {
    if (!others.contains(key)) left_out.push_back({key, is_of_base, group.All()});
  }
}

}  // namespace

Result<ComparedSides> CompareGroups(const GroupSide& base, const GroupSide& changed, double least) {
  const Named counts{.program = base.program.empty() || changed.program.empty(),
                     .tags = base.tags.empty() || changed.tags.empty()};
  const Groups of_base = GroupsOf(base, counts);
  const Groups of_new = GroupsOf(changed, counts);
  ComparedSides compared{.base = FactsOf(base.rows), .changed = FactsOf(changed.rows)};
  for (const auto& [key, group] : of_base) {
    const auto other = of_new.find(key);
    if (other == of_new.end()) continue;
    FIELDCOST_ASSIGN(const std::vector<Event> base_events, Load(group, base));
    FIELDCOST_ASSIGN(const std::vector<Event> new_events, Load(other->second, changed));
    compared.groups.push_back({.key = key,
                               .base_set_aside = group.set_aside,
                               .new_set_aside = other->second.set_aside,
                               .older = group.older + other->second.older,
                               .comparison = Compare(base_events, new_events, least)});
  }
  if (compared.groups.empty()) return NothingInCommon(of_base, of_new);
  std::vector<Comparison*> comparisons;
  for (ComparedGroup& group : compared.groups) comparisons.push_back(&group.comparison);
  DecideTogether(comparisons, least);
  LeaveOut(of_base, of_new, true, compared.left_out);
  LeaveOut(of_new, of_base, false, compared.left_out);
  compared.loads_differ = LoadsDiffer(base.rows, changed.rows);
  return compared;
}

SideFacts FactsOf(std::span<const SideRow> rows) {
  std::map<RunKey, std::uint64_t> lost;
  for (const SideRow& event : rows) lost[event.row.run_key()] = event.row.lost_hits;
  SideFacts facts{.runs = lost.size()};
  for (const auto& [run, hits] : lost) {
    if (hits != 0) ++facts.lost_runs;
    facts.lost_hits += hits;
  }
  const std::vector<double> shares = WaitShares(rows);
  facts.measured_runs = shares.size();
  if (!shares.empty()) facts.wait_share = inference::MomentsOf(shares).mean;
  return facts;
}

std::string GroupText(const GroupKey& key) {
  std::string text = key.label.empty() ? "(began elsewhere)" : key.label;
  std::string of;
  if (!key.program.empty()) of = "program " + key.program;
  if (!key.tags.empty()) {
    of += fmt::format("{}tags {}", of.empty() ? "" : ", ", fmt::join(key.tags, ", "));
  }
  return of.empty() ? text : fmt::format("{} ({})", text, of);
}

inference::Verdict WorstOf(const std::vector<ComparedGroup>& groups) {
  for (const inference::Verdict change :
       {inference::Verdict::kMore, inference::Verdict::kLess, inference::Verdict::kNone}) {
    if (std::ranges::any_of(groups, [&](const ComparedGroup& group) {
          return group.comparison.total.change == change;
        })) {
      return change;
    }
  }
  return inference::Verdict::kTooLittleData;
}

}  // namespace fieldcost::probe
