#include "tools/cli/join/join_steps.h"

#include <fmt/format.h>

#include "agent/refresh/automatic_refresh.h"
#include "agent/refresh/sync_options.h"
#include "agent/settings/agent_config.h"
#include "agent/settings/system_policy.h"
#include "agent/volunteer/agent.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "common/catalog/catalog_sync.h"
#include "common/http/client.h"
#include "tools/cli/join/join_record.h"
#include "tools/cli/join/user_units.h"
#include "tools/cli/run/installed_parts.h"
#include "tools/cli/session/login_session.h"

namespace fieldcost::cli {
namespace {

namespace fs = std::filesystem;

bool Exists(const fs::path& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));
}

// Records what is there now, unless an earlier attempt has done so.
Result<std::string> RecordBefore(const settings::AgentPaths& paths) {
  FIELDCOST_ASSIGN(const auto earlier, LoadJoinRecord(paths));
  if (earlier) return std::string("an earlier attempt has recorded what was there before");
  const auto consent = settings::LoadConsent(paths.consent_file());
  const auto session = Session::FromEnvironment(paths);
  const auto looked = session ? session->Look() : Result<SessionReport>(session.error());
  const JoinRecord record{
      .mode = consent ? consent->mode : settings::Mode::kOff,
      .had_state = Exists(paths.state_dir),
      .had_root = Exists(paths.catalog_root_file),
      .had_catalogue = Exists(paths.catalog_file),
      .had_session = looked && looked->active,
      .had_units = IsEnabled(kAgentUnit),
      .had_refresh = refresh::IsOn(paths),
      .made = MissingDirectories({paths.config_file.parent_path(), paths.state_dir,
                                  paths.catalog_file.parent_path(), UnitLinkDirectory(kAgentUnit),
                                  UnitLinkDirectory(kRefreshUnit)})};
  const std::string text = EncodeJoinRecord(record);
  if (const auto decoded = DecodeJoinRecord(text); !decoded || !(*decoded == record)) {
    return Fail(ErrorCode::kInvalidArgument,
                "record the state before joining: the path of a directory has a line feed");
  }
  FIELDCOST_TRY(MakeDirectories(paths.state_dir, 0700));
  FIELDCOST_TRY(WriteFileAtomically(JoinRecordFile(paths), text, 0600));
  return JoinRecordFile(paths).string();
}

Result<std::string> WriteSettings(const ServiceOffer& offer, const settings::AgentPaths& paths) {
  FIELDCOST_TRY(MakeDirectories(paths.config_file.parent_path(), 0700));
  std::string text = fmt::format(
      "# Written by `fieldcost agent join`; `fieldcost agent leave` removes it. agent.toml takes\n"
      "# precedence.\n[aggregator]\nurl = {}\nroot_sha256 = \"{}\"\n",
      QuoteJson(offer.url), FingerprintOf(offer.root));  // TOML accepts JSON's escapes
  if (!offer.authority.empty()) {
    FIELDCOST_TRY(WriteFileAtomically(paths.service_authority_file(), offer.authority, 0600));
    text += fmt::format("ca_file = {}\n",
                        QuoteJson(paths.service_authority_file().filename().string()));
  }
  FIELDCOST_TRY(WriteFileAtomically(paths.service_file(), text, 0600));
  return paths.service_file().string();
}

Result<std::string> PinRoot(const ServiceOffer& offer, const settings::AgentPaths& paths) {
  if (!Exists(paths.catalog_root_file)) {
    FIELDCOST_TRY(MakeDirectories(paths.catalog_root_file.parent_path(), 0700));
    FIELDCOST_TRY(WriteFileAtomically(paths.catalog_root_file, offer.root, 0600));
  }
  return paths.catalog_root_file.string();
}

Result<std::string> Consent(const settings::AgentPaths& paths, const Clock& clock) {
  FIELDCOST_ASSIGN(volunteer::Agent agent, volunteer::Agent::Open(paths, clock));
  FIELDCOST_TRY(agent.SetMode(settings::Mode::kOn));
  return std::string("mode on");
}

Result<std::string> ActivateSession(const settings::AgentPaths& paths) {
  FIELDCOST_ASSIGN(const Session session, Session::FromEnvironment(paths));
  FIELDCOST_ASSIGN(const fs::path library, FindPreloadLibrary());
  FIELDCOST_TRY(session.On(library));
  return std::string("programs are measured after your next login");
}

Result<std::string> StartDaemon(const std::string& why_by_hand) {
  if (!why_by_hand.empty()) return fmt::format("{} ({})", kWithoutUnits, why_by_hand);
  FIELDCOST_TRY(Enable(kAgentUnit));
  return std::string("fieldcostd.path is enabled");
}

Result<std::string> StartRefreshing(const settings::AgentPaths& paths,
                                    const std::string& why_by_hand) {
  FIELDCOST_TRY(refresh::SwitchOn(paths));
  if (!why_by_hand.empty()) return fmt::format("{} ({})", kWithoutRefreshUnit, why_by_hand);
  FIELDCOST_TRY(Enable(kRefreshUnit));
  return std::string("the catalogue is refreshed automatically");
}

Result<std::string> FetchCatalogue(
    const settings::AgentPaths& paths,
    const std::function<void(std::uint32_t, std::uint32_t)>& progress, const Clock& clock) {
  FIELDCOST_ASSIGN(const settings::AgentConfig config, settings::AgentConfig::Load(paths));
  catalog::SyncOptions options = refresh::SyncOptionsOf(paths, config);
  options.full = true;
  options.progress = progress;
  FIELDCOST_ASSIGN(const catalog::SyncReport report, catalog::Sync(options, clock));
  return fmt::format("complete; {} fetched", Counted(report.fragments_fetched, "fragment"));
}

// "https://host:port", or the text itself if it is no URL.
std::string OriginOf(const std::string& url) {
  const auto client = http::Client::Create({.url = url});
  return client ? client->origin() : url;
}

}  // namespace

bool AddStep(std::string_view name, const Result<std::string>& result,
             std::vector<JoinStep>& steps) {
  steps.push_back({.name = name,
                   .text = result.value_or(""),
                   .status = result ? Status() : Status(result.error())});
  return result.has_value();
}

Status CheckMayJoin(const std::string& url, const settings::AgentPaths& paths) {
  FIELDCOST_TRY(settings::CheckPermitted(paths.system_file));
  for (const fs::path& file : {paths.config_file, paths.service_file()}) {
    FIELDCOST_ASSIGN(const settings::AgentConfig config, settings::AgentConfig::Load(file));
    if (config.url.empty() || OriginOf(config.url) == OriginOf(url)) continue;
    return Fail(ErrorCode::kInvalidArgument, "join {}: {} names another service, {}; {}",
                EscapeControl(url), file.string(), EscapeControl(config.url),
                file == paths.config_file ? "remove url and ca_file there first"
                                          : "leave that one first: fieldcost agent leave");
  }
  return {};
}

std::vector<JoinStep> Join(const ServiceOffer& offer, const settings::AgentPaths& paths,
                           const std::function<void(std::uint32_t, std::uint32_t)>& progress,
                           const Clock& clock) {
  std::vector<JoinStep> steps;
  if (!AddStep("record", RecordBefore(paths), steps) ||
      !AddStep("settings", WriteSettings(offer, paths), steps) ||
      !AddStep("root", PinRoot(offer, paths), steps) ||
      !AddStep("consent", Consent(paths, clock), steps)) {
    return steps;
  }
  AddStep("session", ActivateSession(paths), steps);
  const std::string why_no_agent = WhyNoUnit(kAgentUnit, paths);
  AddStep("daemon", StartDaemon(why_no_agent), steps);
  steps.back().is_by_hand = !why_no_agent.empty();
  AddStep("catalogue", FetchCatalogue(paths, progress, clock), steps);
  const std::string why_no_timer = WhyNoUnit(kRefreshUnit, paths);
  AddStep("refresh", StartRefreshing(paths, why_no_timer), steps);
  steps.back().is_by_hand = !why_no_timer.empty();
  return steps;
}

Status OutcomeOf(const std::vector<JoinStep>& steps) {
  for (const JoinStep& step : steps) {
    if (!step.status) return Within(step.status.error(), step.name);
  }
  return {};
}

}  // namespace fieldcost::cli
