// `fieldcost agent join`: shows who operates a service and what joining means, asks, and sets up
// everything.
#include "agent/settings/agent_config.h"
#include "agent/settings/hardware.h"
#include "common/base/text.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/join/join_steps.h"
#include "tools/cli/join/join_text.h"
#include "tools/cli/terminal/progress.h"
#include "tools/cli/terminal/terminal_io.h"

namespace fieldcost::cli {
namespace {

constexpr int kNo = 1;  // the user declined

struct Request {
  JoinRequest join;
  bool yes = false;
};

// Shows the offer, and asks unless `yes`. False: the user declined.
Result<bool> IsAgreed(const ServiceOffer& offer, bool yes, const Output& output) {
  if (output.json) return true;  // with --yes only
  FIELDCOST_ASSIGN(const std::string example,
                   ExampleBatchText(settings::ThisHardware(), SystemClock().Now(), output.style));
  FIELDCOST_TRY(WriteStdout(FitStdout(OfferText(offer) + example + "\n")));
  return yes || AskYes("Join this service, measure and send? [y/N] ");
}

Result<int> Run(Request request, const Output& output) {
  FIELDCOST_ASSIGN(const settings::AgentPaths paths, settings::AgentPaths::FromEnvironment());
  if (!request.yes && (output.json || !StdinIsTerminal())) {
    return Fail(ErrorCode::kInvalidArgument,
                "join {}: the question cannot be asked here; --yes means that you have read what "
                "joining means (fieldcost agent join --help) and agree",
                EscapeControl(request.join.url));
  }
  FIELDCOST_ASSIGN(const settings::AgentConfig config, settings::AgentConfig::Load(paths));
  request.join.proxy = config.proxy;
  FIELDCOST_TRY(CheckMayJoin(request.join.url, paths));
  FIELDCOST_ASSIGN(const ServiceOffer offer, AskService(request.join, paths, SystemClock().Now()));
  FIELDCOST_TRY(CheckMayJoin(offer.url, paths));
  FIELDCOST_ASSIGN(const bool agreed, IsAgreed(offer, request.yes, output));
  if (!agreed) {
    Remark("not joined; nothing was changed, measured or sent");
    return kNo;
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

Status CheckSha256(std::string& untrusted_text) {
  const auto bytes = HexDecode(untrusted_text);
  if (!bytes || bytes->size() != 32) {
    return Fail(ErrorCode::kInvalidArgument, "expected 64 hexadecimal digits, as sha256sum prints");
  }
  untrusted_text = HexEncode(*bytes);
  return {};
}

}  // namespace

command::Command AgentJoinCommand() {
  return {
      .name = "join",
      .summary = "Join a service: one question, then everything is set up",
      .help =
          R"(Asks the service for its signed root, shows who operates it and what would be sent, and asks you.
Before your answer, nothing is written, measured or sent. After a yes: the service and its certificate
authority (service.toml), the pinned root, mode on, session activation, the user units, and the whole
catalogue. Run it again to complete what is missing; `fieldcost agent leave` undoes all of it.
Exit status 1: you declined; 64: the question cannot be asked and --yes is missing, or another service is
in agent.toml; 76: another root or certificate than expected; 77: the administrator forbids it.
Examples:
  fieldcost agent join https://fieldcost.example.org
  fieldcost agent join https://fieldcost.example.org:8443 --ca-file ca.pem
  fieldcost agent join https://fieldcost.example.org --yes --root-sha256 $(cat root.sha256))",
      .options = {{.names = "url",
                   .value = "URL",
                   .help = "The service",
                   .check = command::CheckNotEmpty,
                   .required = true},
                  {.names = "--ca-file",
                   .value = "FILE",
                   .help =
                       "Certificates to trust (PEM), from the operator, instead of the system's",
                   .completes = command::Completes::kFiles,
                   .check = command::CheckNotEmpty},
                  {.names = "--root-sha256",
                   .value = "HEX",
                   .help = "Refuse any other root; from the operator",
                   .check = CheckSha256},
                  {.names = "--yes,-y", .help = "Do not ask: you agree"}},
      .handler =
          [](const command::Arguments& arguments) {
            return Run({.join = {.url = arguments.Text("url"),
                                 .ca_file = arguments.Text("--ca-file"),
                                 .root_sha256 = arguments.Text("--root-sha256"),
                                 .proxy = ""},
                        .yes = arguments.Has("--yes")},
                       OutputOf(arguments));
          },
      .without = {"--csv"}};
}

}  // namespace fieldcost::cli
