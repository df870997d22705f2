#include "tools/cli/join/join_dialog.h"

#include "agent/settings/agent_config.h"
#include "agent/settings/hardware.h"
#include "common/base/text.h"
#include "tools/cli/join/join_record.h"
#include "tools/cli/join/join_steps.h"
#include "tools/cli/join/join_text.h"
#include "tools/cli/terminal/progress.h"
#include "tools/cli/terminal/terminal_io.h"

namespace fieldcost::cli {
namespace {

// Shows the offer, and asks unless `yes`. False: the user declined.
Result<bool> IsAgreed(const ServiceOffer& offer, bool yes, const Output& output) {
  if (output.json) return true;  // with --yes only
  FIELDCOST_ASSIGN(const std::string example,
                   ExampleBatchText(settings::ThisHardware(), SystemClock().Now(), output.style));
  FIELDCOST_TRY(WriteStdout(FitStdout(OfferText(offer) + example + "\n")));
  return yes || AskYes("Join this service, measure and send? [y/N] ");
}

}  // namespace

Result<int> JoinByDialog(JoinRequest request, bool yes, const Output& output) {
  FIELDCOST_ASSIGN(const settings::AgentPaths paths, settings::AgentPaths::FromEnvironment());
  if (!yes && (output.json || !StdinIsTerminal())) {
    return Fail(ErrorCode::kInvalidArgument,
                "join {}: the question cannot be asked here; --yes means that you have read what "
                "joining means (fieldcost agent join --help) and agree",
                EscapeControl(request.url));
  }
  FIELDCOST_ASSIGN(const settings::AgentConfig config, settings::AgentConfig::Load(paths));
  request.proxy = config.proxy;
  FIELDCOST_TRY(CheckMayJoin(request.url, paths));
  FIELDCOST_ASSIGN(const ServiceOffer offer, AskService(request, paths, SystemClock().Now()));
  FIELDCOST_ASSIGN(const bool agreed, IsAgreed(offer, yes, output));
  if (!agreed) {
    Remark("not joined; nothing was changed, measured or sent");
    return kDeclined;
  }
  const std::vector<JoinStep> steps = Join(offer, paths, Progress("fragment"), SystemClock());
  FIELDCOST_TRY(WriteStdout(output.json ? JoinJson(offer, steps) : FitStdout(StepsText(steps))));
  const Status outcome = OutcomeOf(steps);
  if (!outcome) {
    return Fail(outcome.error().code,
                "join {}: incomplete: {}; run the same command again to complete it, or undo "
                "everything with fieldcost agent leave",
                offer.url, outcome.error().message);
  }
  if (!output.json) {
    FIELDCOST_TRY(
        WriteStdout("joined\n  look:  fieldcost agent status\n  undo:  fieldcost agent leave\n"));
  }
  return 0;
}

Result<std::optional<JoinRequest>> PresetService(const settings::AgentPaths& paths) {
  FIELDCOST_ASSIGN(const auto record, LoadJoinRecord(paths));
  FIELDCOST_ASSIGN(settings::AgentConfig config, settings::AgentConfig::Load(paths));
  settings::Suggestion& suggested = config.suggested;
  if (record || !config.url.empty() || suggested.url.empty()) return std::optional<JoinRequest>();
  return std::optional(JoinRequest{.url = std::move(suggested.url),
                                   .ca_file = std::move(suggested.ca_file),
                                   .root_sha256 = std::move(suggested.root_sha256),
                                   .proxy = ""});
}

}  // namespace fieldcost::cli
