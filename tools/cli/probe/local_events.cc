#include "tools/cli/probe/local_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <filesystem>

#include "agent/probe/login.h"
#include "agent/settings/paths.h"
#include "common/base/text.h"

namespace fieldcost::cli {
namespace {

constexpr std::size_t kPage = 10'000;
constexpr std::size_t kLeastDigits = 8;
constexpr std::size_t kMostCandidates = 5;
constexpr char kHowThereWillBe[] = "fieldcost probe run -- PROGRAM records some";

Result<std::filesystem::path> PathOf(const std::string& file) {
  if (!file.empty()) return std::filesystem::path(file);
  FIELDCOST_ASSIGN(const settings::AgentPaths paths, settings::AgentPaths::FromEnvironment());
  return probe::SpoolFile(paths);
}

// Checked before the version is read, so that nothing is created in a database of another kind.
Status CheckHasEvents(const sqlite::Database& database, bool is_own) {
  FIELDCOST_ASSIGN(
      const std::uint64_t tables,
      database.QueryInt("SELECT count(*) FROM sqlite_master WHERE name = 'event_schema'"));
  if (tables != 0) return {};
  if (is_own) {
    return Fail(ErrorCode::kNotFound, "no events of probe points on this machine; {}",
                kHowThereWillBe);
  }
  return Fail(ErrorCode::kInvalidArgument, "not a database of probe points");
}

Result<LocalEvents> Open(const std::filesystem::path& path, bool is_own,
                         sqlite::Database::Access access) {
  FIELDCOST_ASSIGN(sqlite::Database opened, sqlite::Database::Open(path, access));
  auto database = std::make_unique<sqlite::Database>(std::move(opened));
  FIELDCOST_TRY(CheckHasEvents(*database, is_own));
  FIELDCOST_ASSIGN(probe::EventStore store, probe::EventStore::Create(*database));
  return LocalEvents{.database = std::move(database), .store = store};
}

Result<std::vector<probe::EventRow>> LoadRows(const probe::EventStore& store,
                                              const probe::EventFilter& filter, bool& are_all) {
  std::vector<probe::EventRow> rows;
  std::optional<probe::EventCursor> after;
  do {
    FIELDCOST_ASSIGN(probe::EventPage page, store.List(filter, after, kPage));
    std::ranges::move(page.events, std::back_inserter(rows));
    after = page.next;
  } while (after && rows.size() < kMostEventsRead);
  are_all = !after;
  return rows;
}

Error NoSuchEvent(const std::string& untrusted_name) {
  return Fail(ErrorCode::kNotFound, "no event {}; fieldcost probe list --all lists them",
              EscapeControl(untrusted_name));
}

Error SeveralEvents(const std::string& untrusted_name, const std::vector<JudgedEvent>& events) {
  const EventNames names(events);
  std::string list;
  for (std::size_t i = 0; i < std::min(events.size(), kMostCandidates); ++i) {
    list += fmt::format("{}{} ({})", i == 0 ? "" : ", ", names.Of(events[i].row.id),
                        EscapeControl(events[i].row.label));
  }
  return Fail(ErrorCode::kInvalidArgument, "{} matches {} events: {}{}",
              EscapeControl(untrusted_name), events.size(), list,
              events.size() > kMostCandidates ? ", …" : "");
}

}  // namespace

Result<LocalEvents> OpenLocalEvents(const std::string& file, sqlite::Database::Access access) {
  FIELDCOST_ASSIGN(const std::filesystem::path path, PathOf(file));
  Result<LocalEvents> opened = Open(path, file.empty(), access);
  if (opened) return opened;
  if (file.empty() && opened.error().code == ErrorCode::kNotFound) {
    return Fail(ErrorCode::kNotFound, "no events of probe points on this machine; {}",
                kHowThereWillBe);
  }
  return Within(opened.error(), EscapeControl(path.string()));
}

Result<JudgedEvents> LoadJudged(const LocalEvents& local, const EventSelection& selection) {
  JudgedEvents judged;
  FIELDCOST_ASSIGN(std::vector<probe::EventRow> rows,
                   LoadRows(local.store, {.label = selection.label}, judged.are_all));
  std::vector<probe::Judgement> verdicts = probe::Judge(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!selection.Has(rows[i])) continue;
    judged.events.push_back({std::move(rows[i]), std::move(verdicts[i])});
    if (selection.last) break;
  }
  return judged;
}

Result<JudgedEvent> FindEvent(const LocalEvents& local, const std::string& untrusted_name) {
  FIELDCOST_ASSIGN(EventSelection selection, ParseEventSelection(untrusted_name));
  FIELDCOST_ASSIGN(const JudgedEvents found, LoadJudged(local, selection));
  if (found.events.empty()) return NoSuchEvent(untrusted_name);
  if (found.events.size() > 1) return SeveralEvents(untrusted_name, found.events);
  return found.events.front();
}

EventNames::EventNames(const std::vector<JudgedEvent>& events) {
  for (const JudgedEvent& event : events) runs_.push_back(event.row.id.run);
  std::ranges::sort(runs_);
  runs_.erase(std::unique(runs_.begin(), runs_.end()), runs_.end());
}

std::string EventNames::Of(const probe::EventId& id) const {
  const auto at = std::ranges::lower_bound(runs_, id.run);
  std::size_t digits = kLeastDigits;
  const auto tell_from = [&](std::uint64_t other) {
    const auto alike = static_cast<std::size_t>(std::countl_zero(id.run ^ other)) / 4;
    digits = std::max(digits, std::min(alike + 1, kRunDigits));
  };
  if (at != runs_.begin()) tell_from(*std::prev(at));
  if (at != runs_.end() && *at != id.run) tell_from(*at);
  if (at != runs_.end() && std::next(at) != runs_.end()) tell_from(*std::next(at));
  return fmt::format("{}.{}", id.Hex().substr(0, digits), id.number);
}

}  // namespace fieldcost::cli
