#include "agent/refresh/automatic_refresh.h"

#include <unistd.h>

#include <cerrno>

#include "agent/refresh/sync_options.h"
#include "agent/settings/pause.h"
#include "agent/upload/power.h"
#include "common/base/file.h"

namespace fieldcost::refresh {
namespace {

Status CheckMayGoOn(const settings::AgentPaths& paths, const Clock& clock) {
  if (!IsOn(paths)) {
    return Fail(ErrorCode::kPermissionDenied, "automatic refreshing was switched off");
  }
  if (settings::PausedUntil(paths, clock.Now())) {
    return Fail(ErrorCode::kPermissionDenied, "paused (fieldcost agent resume)");
  }
  return {};
}

}  // namespace

bool IsOn(const settings::AgentPaths& paths) {
  return ::access(paths.refresh_file().c_str(), F_OK) == 0;
}

Status SwitchOn(const settings::AgentPaths& paths) {
  FIELDCOST_TRY(MakeDirectories(paths.state_dir, 0700));
  return WriteFileAtomically(paths.refresh_file(), "on\n", 0600);
}

Status SwitchOff(const settings::AgentPaths& paths) {
  if (::unlink(paths.refresh_file().c_str()) == 0 || errno == ENOENT) return {};
  return ErrnoError("remove", paths.refresh_file(), errno);
}

Result<std::optional<WallTime>> NextTime(const settings::AgentPaths& paths,
                                         const settings::AgentConfig& config, const Clock& clock) {
  if (!IsOn(paths) || !config.HasCatalogue()) return std::optional<WallTime>();
  FIELDCOST_ASSIGN(const WallTime next, catalog::NextRefresh(paths.catalog_file, clock.Now()));
  return std::optional(next);
}

Result<RefreshOutcome> RefreshIfDue(const settings::AgentPaths& paths,
                                    const settings::AgentConfig& config, const Clock& clock) {
  FIELDCOST_ASSIGN(const std::optional<WallTime> next, NextTime(paths, config, clock));
  if (!next || *next > clock.Now()) return RefreshOutcome();
  std::string why_not = upload::WaitReason(paths, config, clock.Now());
  if (!why_not.empty()) {
    FIELDCOST_TRY(catalog::PostponeRefresh(paths.catalog_file, clock.Now()));
    return RefreshOutcome{.report = std::nullopt, .why_not = std::move(why_not)};
  }
  catalog::SyncOptions options = SyncOptionsOf(paths, config);
  options.automatic = true;
  options.server.may_go_on = [&] { return CheckMayGoOn(paths, clock); };
  auto report = catalog::Sync(options, clock);
  if (!report) return report.error();
  if (report->not_due) return RefreshOutcome();
  return RefreshOutcome{.report = std::move(*report), .why_not = {}};
}

RefreshStatus GetStatus(const settings::AgentPaths& paths, const settings::AgentConfig& config,
                        const Clock& clock) {
  RefreshStatus status{.is_on = IsOn(paths)};
  const WallTime now = clock.Now();
  if (const auto catalogue = catalog::Catalog::Open(paths.catalog_file)) {
    if (auto freshness = catalogue->GetFreshness()) status.catalogue = std::move(*freshness);
  }
  catalog::StoredRefresh stored =
      catalog::LoadRefresh(paths.catalog_file).value_or(catalog::StoredRefresh());
  status.failures = stored.state.failures;
  status.problem = std::move(stored.problem);
  if (!status.is_on || !config.HasCatalogue()) return status;
  status.next =
      catalog::RefreshSchedule(stored.state).Corrected(now).value_or(stored.state).next_try;
  status.waiting_for = upload::WaitReason(paths, config, now);
  return status;
}

}  // namespace fieldcost::refresh
