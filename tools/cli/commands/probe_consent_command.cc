// `fieldcost probe on`, `off` and `status`: whether events go to a team's server.
#include <fmt/format.h>

#include <optional>

#include "agent/probe/login.h"
#include "agent/probe/send_lock.h"
#include "agent/probe/spool.h"
#include "common/base/json_writer.h"
#include "common/base/text.h"
#include "common/command/arguments.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/terminal/pager.h"
#include "tools/cli/terminal/terminal_io.h"

namespace fieldcost::cli {
namespace {

Result<int> SwitchOn(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const settings::AgentPaths paths, settings::AgentPaths::FromEnvironment());
  FIELDCOST_TRY(probe::CheckProbesPermitted(paths));
  FIELDCOST_ASSIGN(const probe::Login login, probe::LoadLogin(paths));
  FIELDCOST_TRY(probe::SaveProbeConsent(paths, settings::Mode::kOn, SystemClock().Now()));
  FIELDCOST_TRY(WriteStdout(
      OutputOf(arguments).json
          ? JsonWriter().Object().Member("mode", "on").EndObject().Take()
          : FitStdout(fmt::format(
                "on: programs under `fieldcost probe run` are recorded; their points, with labels, "
                R"(source lines, stacks and times, go to {} as {}
  send automatically:  systemctl --user enable --now fieldcost-probe.path
  send now:  fieldcost probe flush
  keep a run on this machine:  fieldcost probe run --local -- PROGRAM
  stop:  fieldcost probe off
)",
                EscapeControl(login.url), EscapeControl(login.user)))));
  return 0;
}

using Totals = probe::Spool::Totals;

// What happened to the batches that were queued when sending was switched off.
struct Withdrawn {
  std::uint64_t dropped = 0;
  std::uint64_t may_have_arrived = 0;  // among the dropped ones
  std::uint64_t sent = 0;              // sent in the meantime
};

std::string OffText(const Withdrawn& batches) {
  std::string text =
      fmt::format("off: nothing is sent from now on; {} deleted",
                  Counted(batches.dropped, "queued batch was", "queued batches were"));
  if (batches.may_have_arrived != 0) {
    text += fmt::format("; {} had left before, unanswered, and may have arrived at the server",
                        batches.may_have_arrived);
  }
  if (batches.sent != 0) {
    text += fmt::format("; {} being sent, and arrived at the server",
                        Counted(batches.sent, "batch was", "batches were"));
  }
  return text + ". Events on this machine stay: fieldcost probe purge --all\n";
}

std::string OffJson(const Withdrawn& batches) {
  JsonWriter json;
  json.Object().Member("mode", "off").Member("dropped_batches", batches.dropped);
  json.Member("may_have_arrived", batches.may_have_arrived);
  return json.Member("sent_meanwhile", batches.sent).EndObject().Take();
}

Error NotDeleted(const Error& error) {
  return Fail(error.code, "probe points are off, but queued batches could not be deleted: {}",
              error.message);
}

Result<int> SwitchProbesOff(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const settings::AgentPaths paths, settings::AgentPaths::FromEnvironment());
  auto spool = probe::Spool::OpenExisting(probe::SpoolFile(paths));
  const Result<Totals> before = spool ? spool->Count() : Result<Totals>(spool.error());
  // Stores the decision first: a damaged database must not prevent it.
  FIELDCOST_TRY(probe::SaveProbeConsent(paths, settings::Mode::kOff, SystemClock().Now()));
  // Stops a batch that is being sent, or waits briefly for its response.
  const Status quiet = probe::SendLock::WaitForOthers(paths);
  Withdrawn batches;
  if (spool) {
    if (!before) return NotDeleted(before.error());
    if (const auto dropped = spool->DropOutgoing(); !dropped) {
      return NotDeleted(dropped.error());
    }
    // Compares totals, because the sender may already have deleted the rest.
    FIELDCOST_ASSIGN(const Totals after, spool->Count());
    batches = {.dropped = after.dropped - before->dropped,
               .may_have_arrived = after.may_have_arrived - before->may_have_arrived,
               .sent = after.sent - before->sent};
  } else if (spool.error().code != ErrorCode::kNotFound) {
    return NotDeleted(spool.error());
  }
  FIELDCOST_TRY(quiet);
  FIELDCOST_TRY(
      WriteStdout(OutputOf(arguments).json ? OffJson(batches) : FitStdout(OffText(batches))));
  return 0;
}

struct Facts {
  bool permitted = false;
  std::string why_not;
  settings::Mode mode = settings::Mode::kOff;
  std::optional<probe::Login> login;
  probe::Spool::Totals totals;
  probe::EventStore::Size size;
  WallTime next_try{};
};

Result<Facts> Look(const settings::AgentPaths& paths) {
  Facts facts;
  const Status permitted = probe::CheckProbesPermitted(paths);
  facts.permitted = permitted.has_value();
  if (!permitted) facts.why_not = permitted.error().message;
  FIELDCOST_ASSIGN(const settings::Consent consent, probe::ProbeConsent(paths));
  facts.mode = consent.mode;
  auto login = probe::LoadLogin(paths);
  if (login) {
    facts.login = *std::move(login);
  } else if (login.error().code != ErrorCode::kNotFound) {
    return login.error();
  }
  auto spool = probe::Spool::OpenExisting(probe::SpoolFile(paths));
  if (!spool) {
    if (spool.error().code == ErrorCode::kNotFound) return facts;
    return spool.error();
  }
  FIELDCOST_ASSIGN(facts.totals, spool->Count());
  FIELDCOST_ASSIGN(facts.size, spool->events().Measure());
  FIELDCOST_ASSIGN(facts.next_try, spool->NextTry());
  return facts;
}

std::string Json(const Facts& facts) {
  JsonWriter json;
  json.Object().Member("permitted", facts.permitted).Member("mode", settings::Name(facts.mode));
  json.Member("url", facts.login ? facts.login->url : "");
  json.Member("user", facts.login ? facts.login->user : "");
  json.Member("events", facts.size.events).Member("points", facts.size.hits);
  json.Member("bytes", facts.size.bytes).Member("queued_batches", facts.totals.queued);
  json.Member("queued_bytes", facts.totals.queued_bytes);
  json.Member("sent_batches", facts.totals.sent);
  json.Member("refused_batches", facts.totals.refused);
  json.Member("dropped_batches", facts.totals.dropped);
  json.Member("last_refusal", facts.totals.last_refusal).EndObject();
  return json.Take();
}

std::string FactsText(const Facts& facts) {
  std::string text = fmt::format("{:<12}{}\n", "mode", settings::Name(facts.mode));
  if (!facts.permitted) text += fmt::format("{:<12}{}\n", "", facts.why_not);
  text += fmt::format("{:<12}{}\n", "server",
                      facts.login ? fmt::format("{}, as {}", EscapeControl(facts.login->url),
                                                EscapeControl(facts.login->user))
                                  : "none (fieldcost probe login URL)");
  text += fmt::format("{:<12}{}, {}, {} KiB\n", "here", Counted(facts.size.events, "event"),
                      Counted(facts.size.hits, "point"), facts.size.bytes / 1024);
  text +=
      fmt::format("{:<12}{}, {} KiB\n", "queued", Counted(facts.totals.queued, "batch", "batches"),
                  facts.totals.queued_bytes / 1024);
  text += fmt::format("{:<12}{}; {} refused, {} dropped\n", "sent",
                      Counted(facts.totals.sent, "batch", "batches"), facts.totals.refused,
                      facts.totals.dropped);
  if (!facts.totals.last_refusal.empty()) {
    text += fmt::format("{:<12}{}\n", "refusal", EscapeControl(facts.totals.last_refusal));
  }
  return text;
}

Result<int> ShowStatus(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const settings::AgentPaths paths, settings::AgentPaths::FromEnvironment());
  FIELDCOST_ASSIGN(const Facts facts, Look(paths));
  FIELDCOST_TRY(WriteStdout(OutputOf(arguments).json ? Json(facts) : FitStdout(FactsText(facts))));
  return 0;
}

command::Command Plain(std::string_view name, std::string_view summary, std::string_view help,
                       command::Handler handler) {
  return {.name = name,
          .summary = summary,
          .help = help,
          .handler = std::move(handler),
          .without = {"--csv", "--no-pager"}};
}

}  // namespace

command::Command ProbeOnCommand() {
  return Plain(
      "on", "Record programs under `probe run`, and send the events to the server",
      R"(Independent of the anonymous measurements and their consent (`fieldcost agent`): what is sent has
labels, source lines, stacks, times and the user's name at that server. Only runs that begin from
now on are sent. Example:
  fieldcost probe login https://probes.team.example && fieldcost probe on)",
      SwitchOn);
}

command::Command ProbeOffCommand() {
  return Plain(
      "off", "Stop sending, and delete queued batches",
      R"(A batch that is being sent stops at once; if all of it has left, the command waits a few seconds for
the answer, and reports whether it arrived. Events on this machine stay. What was sent stays on the
server, where its users can remove it. Example:
  fieldcost probe off)",
      SwitchProbesOff);
}

command::Command ProbeStatusCommand() {
  return Plain("status", "Show what is recorded, queued and sent, and to which server",
               R"(Example:
  fieldcost probe status --json)",
               ShowStatus);
}

}  // namespace fieldcost::cli
