// `fieldcost-aggregator policy ...`: signs the measuring policy, and shows the one in force.
#include <fmt/format.h>

#include "aggregator/config/policy_toml.h"
#include "aggregator/operate/operate_commands.h"
#include "aggregator/publish/policy_publisher.h"
#include "common/base/clock.h"

namespace fieldcost::aggregator {
namespace {

void PrintPolicy(const wire::PolicyMetadata& policy, bool json) {
  const WallTime now = SystemClock().Now();
  fmt::print("{}", json ? ShowPolicyJson(policy, now) : ShowPolicy(policy, now));
}

Result<int> Sign(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const Config config, ConfigOf(arguments));
  FIELDCOST_ASSIGN(PolicyText text, LoadPolicyText(arguments.Text("policy")));
  FIELDCOST_ASSIGN(
      const wire::PolicyMetadata policy,
      publish::PublishPolicy(config.store.data_dir, std::move(text.policy), text.lifetime,
                             SystemClock(), arguments.Text("--offline")));
  PrintPolicy(policy, arguments.Has("--json"));
  return 0;
}

Result<int> RunShowPolicy(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const Config config, ConfigOf(arguments));
  FIELDCOST_ASSIGN(const auto policy, publish::PublishedPolicy(config.store.data_dir));
  if (!policy) {
    return Fail(ErrorCode::kNotFound, "no policy is in force in {}",
                config.store.data_dir.string());
  }
  PrintPolicy(*policy, arguments.Has("--json"));
  return 0;
}

}  // namespace

command::Command PolicyCommand() {
  command::Command sign{
      .name = "sign",
      .summary = "Sign POLICY as the next version and publish it",
      .help = R"(Examples:
  fieldcost-aggregator policy sign --config aggregator.toml policy.toml
  fieldcost-aggregator policy sign --config aggregator.toml policy.toml \
    --offline /media/key)",
      .options = {{.names = "policy",
                   .value = "POLICY",
                   .help = "What agents should measure (TOML); see deploy/config/policy.toml",
                   .completes = command::Completes::kFiles,
                   .required = true},
                  {.names = "--offline",
                   .value = "DIR",
                   .help = "Directory of root and policy key files; by default DATA_DIR/keys",
                   .completes = command::Completes::kFiles,
                   .check = command::CheckNotEmpty}},
      .handler = Sign};
  command::Command show{.name = "show",
                        .summary = "Print the policy in force, in the form that sign accepts",
                        .help = R"(Example:
  fieldcost-aggregator policy show --config aggregator.toml)",
                        .handler = RunShowPolicy};
  return {.name = "policy",
          .summary = "What agents are asked to measure",
          .commands = {std::move(sign), std::move(show)}};
}

}  // namespace fieldcost::aggregator
