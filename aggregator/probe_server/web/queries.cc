#include "aggregator/probe_server/web/queries.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "aggregator/probe_server/accounts/users.h"
#include "aggregator/probe_server/data/judged.h"
#include "common/base/text.h"
#include "common/probe/groups.h"

namespace fieldcost::probe_server {
namespace {

bool HasTag(const probe::Event& event, const std::string& tag) {
  const std::vector<std::string>& tags = event.row.tags;
  return std::find(tags.begin(), tags.end(), tag) != tags.end();
}

Result<std::vector<EventLine>> Judged(Data& data, std::vector<probe::EventRow> rows) {
  FIELDCOST_ASSIGN(const UserNames names, UserNames::Load(data));
  FIELDCOST_ASSIGN(std::vector<probe::Judgement> verdicts, JudgeRows(data.events(), rows));
  std::vector<EventLine> lines;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::string user = names.Of(rows[i].owner);
    lines.push_back({std::move(rows[i]), std::move(user), std::move(verdicts[i])});
  }
  return lines;
}

// The judged events of one group: those that match the page's filter and have its build and tag.
Result<probe::GroupSide> LoadSide(Data& data, probe::EventFilter filter,
                                  const probe::EventFilter& group) {
  if (!group.build.empty()) filter.build = group.build;
  if (!group.tag.empty()) filter.tag = group.tag;
  FIELDCOST_ASSIGN(probe::EventPage page,
                   data.events().List(filter, std::nullopt, kMaxHistoryEvents));
  if (page.events.empty()) {
    return Fail(ErrorCode::kNotFound, "no event of the label has build '{}' and tag '{}'",
                EscapeControl(filter.build), EscapeControl(filter.tag));
  }
  FIELDCOST_ASSIGN(const std::vector<probe::Judgement> verdicts,
                   JudgeRows(data.events(), page.events));
  probe::GroupSide side;
  for (std::size_t i = 0; i < page.events.size(); ++i) {
    side.rows.push_back({std::move(page.events[i]), verdicts[i].IsSetAside()});
  }
  if (!group.tag.empty()) side.tags.push_back(group.tag);
  side.load = [&data](const probe::EventKey& id) { return data.events().Get(id); };
  return side;
}

}  // namespace

Result<UserNames> UserNames::Load(Data& data) {
  UserNames names;
  FIELDCOST_ASSIGN(const std::vector<User> users, ListUsers(data.database()));
  for (const User& user : users) names.names_[user.id.value()] = user.name;
  return names;
}

std::string UserNames::Of(std::uint64_t owner) const {
  const auto found = names_.find(owner);
  return found != names_.end() ? found->second : fmt::format("user {}", owner);
}

Result<FoundEvents> FindEvents(Data& data, const AskedEvents& asked) {
  FIELDCOST_ASSIGN(probe::EventPage page,
                   data.events().List(asked.filter, asked.cursor, asked.limit));
  FoundEvents found{.next = page.next};
  FIELDCOST_ASSIGN(std::vector<EventLine> lines, Judged(data, std::move(page.events)));
  for (EventLine& line : lines) {
    if (line.verdict.IsSetAside() && !asked.text.with_set_aside) {
      ++found.hidden;
    } else {
      found.lines.push_back(std::move(line));
    }
  }
  return found;
}

Result<EventView> LoadEvent(Data& data, std::string_view untrusted_id) {
  FIELDCOST_ASSIGN(const std::vector<probe::EventKey> ids, ParseIds({untrusted_id}, 1));
  EventView view;
  FIELDCOST_ASSIGN(view.event, data.events().Get(ids.front(), kShownWeight));
  FIELDCOST_ASSIGN(std::vector<EventLine> lines, Judged(data, {view.event.row}));
  view.user = std::move(lines.front().user);
  view.verdict = std::move(lines.front().verdict);
  return view;
}

Result<std::vector<probe::Event>> LoadEvents(Data& data, const std::vector<probe::EventKey>& ids,
                                             std::size_t max_weight) {
  std::vector<probe::Event> events;
  for (const probe::EventKey& id : ids) {
    FIELDCOST_ASSIGN(probe::Event event, data.events().Get(id, max_weight / ids.size()));
    events.push_back(std::move(event));
  }
  return events;
}

std::vector<std::string> TagsOf(const std::vector<probe::Event>& events) {
  std::set<std::string> tags;
  for (const probe::Event& event : events) {
    tags.insert(event.row.tags.begin(), event.row.tags.end());
  }
  return {tags.begin(), tags.end()};
}

probe::Comparison CompareTags(const std::vector<probe::Event>& events, const std::string& base_tag,
                              const std::string& new_tag) {
  std::vector<probe::Event> base;
  std::vector<probe::Event> changed;
  for (const probe::Event& event : events) {
    const bool is_base = HasTag(event, base_tag);
    const bool is_new = HasTag(event, new_tag);
    if (is_base && !is_new) base.push_back(event);
    if (is_new && !is_base) changed.push_back(event);
  }
  return probe::Compare(base, changed, kLeastChange);
}

Result<std::optional<probe::ComparedSides>> CompareAskedGroups(
    Data& data, const http::Parameters& untrusted_query) {
  const std::string label(untrusted_query.Find("label"));
  const auto text = [&](std::string_view name) { return std::string(untrusted_query.Find(name)); };
  const probe::EventFilter base{.build = text("base_build"), .tag = text("base_tag")};
  const probe::EventFilter changed{.build = text("new_build"), .tag = text("new_tag")};
  if (base.build.empty() && base.tag.empty() && changed.build.empty() && changed.tag.empty()) {
    return std::optional<probe::ComparedSides>();
  }
  if (label.empty()) return Fail(ErrorCode::kInvalidArgument, "label: it is missing");
  if (base.build == changed.build && base.tag == changed.tag) {
    return Fail(ErrorCode::kInvalidArgument, "both groups are the same; give other builds or tags");
  }
  FIELDCOST_ASSIGN(const AskedEvents asked, ParseFilter(untrusted_query, data));
  FIELDCOST_ASSIGN(const probe::GroupSide of_base, LoadSide(data, asked.filter, base));
  FIELDCOST_ASSIGN(const probe::GroupSide of_new, LoadSide(data, asked.filter, changed));
  FIELDCOST_ASSIGN(probe::ComparedSides compared,
                   probe::CompareGroups(of_base, of_new, kLeastChange));
  return std::optional(std::move(compared));
}

Result<std::vector<probe::EventKey>> FindNewest(Data& data, AskedEvents asked, std::size_t limit) {
  asked.filter.ended_only = true;
  asked.text.with_set_aside = false;
  asked.limit = kEventsOfPage;
  FIELDCOST_ASSIGN(const FoundEvents found, FindEvents(data, asked));
  std::vector<probe::EventKey> ids;
  for (const EventLine& line : found.lines) {
    if (ids.size() < limit) ids.push_back(line.row.key());
  }
  return ids;
}

Result<HistoryView> LoadHistory(Data& data, const AskedEvents& asked) {
  probe::EventFilter filter = asked.filter;
  filter.ended_only = true;
  FIELDCOST_ASSIGN(probe::EventPage page,
                   data.events().List(filter, std::nullopt, kMaxHistoryEvents));
  HistoryView view{.filter = asked.text, .is_cut = page.next.has_value()};
  FIELDCOST_ASSIGN(const std::vector<probe::Judgement> verdicts,
                   JudgeRows(data.events(), page.events));
  std::vector<probe::EventRow> counted;
  std::vector<probe::SideRow> sides;
  for (std::size_t i = 0; i < page.events.size(); ++i) {
    sides.push_back({page.events[i], verdicts[i].IsSetAside()});
    if (verdicts[i].IsSetAside()) {
      ++view.set_aside;
    } else {
      counted.push_back(std::move(page.events[i]));
    }
  }
  view.lost_hits = probe::FactsOf(sides).lost_hits;
  view.lines = probe::History(counted, kLeastChange);
  return view;
}

Result<std::vector<EventLine>> FindSetAside(Data& data, const std::string& label,
                                            std::size_t limit) {
  FIELDCOST_ASSIGN(probe::EventPage page,
                   data.events().List({.label = label}, std::nullopt, kMaxHistoryEvents));
  FIELDCOST_ASSIGN(std::vector<EventLine> lines, Judged(data, std::move(page.events)));
  std::erase_if(lines, [](const EventLine& line) { return !line.verdict.IsSetAside(); });
  lines.resize(std::min(lines.size(), limit));
  return lines;
}

}  // namespace fieldcost::probe_server
