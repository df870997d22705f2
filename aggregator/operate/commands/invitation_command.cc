// `fieldcost-aggregator invitation make`, `list` and `remove`: invitations to enrol in mode
// "token".
#include <fmt/format.h>

#include "aggregator/admin/admin_requests.h"
#include "aggregator/ingest/invite.h"
#include "aggregator/operate/operate_commands.h"
#include "aggregator/operate/with_store.h"
#include "common/base/clock.h"
#include "common/base/json_writer.h"
#include "common/base/text.h"

namespace fieldcost::aggregator {
namespace {

std::chrono::sys_seconds Now() {
  return std::chrono::floor<std::chrono::seconds>(SystemClock().Now());
}

Result<int> Make(const command::Arguments& arguments) {
  const bool json = arguments.Has("--json");
  const ingest::InvitationRequest request{.uses = *arguments.Number("--uses"),
                                          .days = *arguments.Number("--days"),
                                          .label = arguments.Text("--label")};
  FIELDCOST_TRY(ingest::CheckForm(request));
  FIELDCOST_ASSIGN(const Config config, ConfigOf(arguments));
  if (config.enrolment_mode == ingest::EnrolmentMode::kOpen) {
    return Fail(ErrorCode::kInvalidArgument,
                "this service accepts every agent, so invitations have no effect; set [enrolment] "
                "mode = \"token\" and restart it");
  }
  JsonWriter writer;
  writer.Object().Member("uses", request.uses).Member("days", request.days);
  const std::string body = writer.Member("label", request.label).EndObject().TakeValue();
  const auto work = [&](store::Store& store) -> Result<Outcome> {
    FIELDCOST_ASSIGN(const ingest::MadeInvitation made, ingest::Invite(store, request, Now()));
    Outcome outcome;
    outcome.Add("token", made.token).Add("name", made.name).Add("expires", made.expires_on);
    return outcome;
  };
  FIELDCOST_ASSIGN(const Outcome outcome, WithStore(config, admin::kInvitePath, body, work));
  Print(outcome, "created; the token is shown only now", json);
  if (!json) PrintLines("The invited user stores the token with `fieldcost agent enrol`.\n");
  return 0;
}

Result<int> List(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const Config config, ConfigOf(arguments));
  const auto work = [](store::Store& store) -> Result<Outcome> {
    FIELDCOST_ASSIGN(std::vector<std::string> lines, ingest::DescribeInvitations(store, Now()));
    Outcome outcome;
    outcome.Add("invitations", std::move(lines));
    return outcome;
  };
  FIELDCOST_ASSIGN(const Outcome outcome, WithStore(config, admin::kInvitationsPath, "{}", work));
  if (arguments.Has("--json")) {
    fmt::print("{}", outcome.Json());
    return 0;
  }
  for (const std::string& line : outcome.Texts("invitations")) {
    fmt::print("{}\n", EscapeControl(line));
  }
  if (outcome.Texts("invitations").empty()) fmt::print("no invitations\n");
  return 0;
}

Result<int> Remove(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const Config config, ConfigOf(arguments));
  const std::string name = arguments.Text("name");
  const auto work = [&](store::Store& store) -> Result<Outcome> {
    FIELDCOST_TRY(ingest::RemoveInvitation(store, name));
    return Outcome();
  };
  JsonWriter body;
  body.Object().Member("name", name).EndObject();
  FIELDCOST_ASSIGN(const Outcome outcome,
                   WithStore(config, admin::kUninvitePath, body.TakeValue(), work));
  Print(outcome, "removed: no further agent can enrol with it; enrolled ones stay until `revoke`",
        arguments.Has("--json"));
  return 0;
}

}  // namespace

command::Command InvitationCommand() {
  command::Command make{
      .name = "make",
      .summary = "Create an invitation, and print its token",
      .help =
          R"(An agent has a new key each quarter; an invitation admits --uses agents in each quarter, and the
first must enrol before it expires. Enrolling the same key again costs no use.

Examples:
  fieldcost-aggregator invitation make --config aggregator.toml
  fieldcost-aggregator invitation make --config aggregator.toml --uses 40 \
    --days 30 --label "the lab's machines")",
      .options = {{.names = "--uses",
                   .value = "N",
                   .help = "How many agents may enrol with it",
                   .default_text = "1",
                   .check = command::CheckNumber},
                  {.names = "--days",
                   .value = "N",
                   .help = "Days within which the first agent has to enrol",
                   .default_text = "14",
                   .check = command::CheckNumber},
                  {.names = "--label",
                   .value = "TEXT",
                   .help = "A note for the operator, shown by list"}},
      .handler = Make};
  command::Command list{.name = "list",
                        .summary = "List all invitations, without their tokens",
                        .help = R"(Example:
  fieldcost-aggregator invitation list --config aggregator.toml)",
                        .handler = List};
  command::Command remove{
      .name = "remove",
      .summary = "Remove an invitation, so that no further agent enrols with it",
      .help = R"(Example:
  fieldcost-aggregator invitation remove --config aggregator.toml \
    33dde1a70f09fcb9)",
      .options =
          {{.names = "name", .value = "NAME", .help = "Its name in the list", .required = true}},
      .handler = Remove};
  return {.name = "invitation",
          .summary = "Invite agents, where enrolment.mode is \"token\"",
          .commands = {std::move(make), std::move(list), std::move(remove)}};
}

}  // namespace fieldcost::aggregator
