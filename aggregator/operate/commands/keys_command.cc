// `fieldcost-aggregator keys ...`: shows, rotates, renews and exports the signing keys.
#include "aggregator/operate/keys.h"

#include <fmt/format.h>

#include <limits>

#include "aggregator/operate/operate_commands.h"
#include "common/base/clock.h"
#include "common/base/text.h"

namespace fieldcost::aggregator {
namespace {

using command::Arguments;
using command::Option;

Status CheckCount(std::string& untrusted_text) {
  const auto number = ParseUint64(untrusted_text);
  if (number && *number != 0 && *number <= std::numeric_limits<unsigned>::max()) return {};
  return Fail(ErrorCode::kInvalidArgument, "expected a number of at least 1");
}

publish::RotationOptions SigningOf(const Arguments& arguments) {
  publish::RotationOptions signing{.offline_dir = arguments.Text("--offline")};
  for (const std::string& file : arguments.Texts("--root-key")) {
    signing.root_key_files.emplace_back(file);
  }
  return signing;
}

Result<int> Change(const Arguments& arguments, KeyChange change, publish::KeyRole role,
                   publish::RotationOptions signing, std::string_view done) {
  FIELDCOST_ASSIGN(const Config config, ConfigOf(arguments));
  FIELDCOST_ASSIGN(const Outcome outcome,
                   ChangeKeys(config, change, role, std::move(signing), SystemClock()));
  Print(outcome, done, arguments.Has("--json"));
  return 0;
}

Result<int> RunShowKeys(const Arguments& arguments) {
  FIELDCOST_ASSIGN(const Config config, ConfigOf(arguments));
  const bool json = arguments.Has("--json");
  FIELDCOST_ASSIGN(const std::string text, ShowKeys(config, json, SystemClock()));
  if (json) {
    fmt::print("{}", text);
  } else {
    PrintLines(text);
  }
  return 0;
}

Result<int> Rotate(const Arguments& arguments) {
  FIELDCOST_ASSIGN(const publish::KeyRole role, publish::ParseKeyRole(arguments.Text("role")));
  publish::RotationOptions signing = SigningOf(arguments);
  signing.root_keys = static_cast<unsigned>(*arguments.Number("--keys"));
  signing.root_threshold = static_cast<unsigned>(*arguments.Number("--threshold"));
  if (role != publish::KeyRole::kRoot && (signing.root_keys != 1 || signing.root_threshold != 1)) {
    return Fail(ErrorCode::kInvalidArgument,
                "--keys and --threshold are for the root; the {} role has one key",
                publish::Name(role));
  }
  return Change(arguments, KeyChange::kRotate, role, std::move(signing), "rotated");
}

Result<int> Renew(const Arguments& arguments) {
  return Change(arguments, KeyChange::kRenew, publish::KeyRole::kRoot, SigningOf(arguments),
                "renewed");
}

Result<int> Export(const Arguments& arguments) {
  FIELDCOST_ASSIGN(const Config config, ConfigOf(arguments));
  FIELDCOST_ASSIGN(const publish::KeyRole role, publish::ParseKeyRole(arguments.Text("role")));
  FIELDCOST_ASSIGN(const Outcome outcome, ExportOffline(config, role, arguments.Text("--to")));
  Print(outcome, "exported", arguments.Has("--json"));
  return 0;
}

Option RootKeyOption() {
  return {.names = "--root-key",
          .value = "FILE",
          .help =
              "A root key to sign with; repeat it if several must sign; by default those in "
              "DATA_DIR/keys/root*.key",
          .completes = command::Completes::kFiles,
          .check = command::CheckNotEmpty,
          .repeats = true};
}

Option OfflineOption() {
  return {
      .names = "--offline",
      .value = "DIR",
      .help = "Directory of root and policy key files, existing and new; by default DATA_DIR/keys",
      .completes = command::Completes::kFiles,
      .check = command::CheckNotEmpty};
}

command::Command ShowCommand() {
  return {.name = "show",
          .summary = "Print every signing key and its file, and when the root expires",
          .help = R"(Example:
  fieldcost-aggregator keys show --config aggregator.toml --json)",
          .handler = RunShowKeys};
}

command::Command RotateCommand() {
  return {
      .name = "rotate",
      .summary = "Replace the key of ROLE, and sign the next root with the root key",
      .help =
          R"(Clients adopt new keys by themselves. After replacing the policy's key, sign the policy again.

Examples:
  fieldcost-aggregator keys rotate --config aggregator.toml timestamp \
    --root-key /media/key/root.key
  fieldcost-aggregator keys rotate --config aggregator.toml root \
    --keys 3 --threshold 2)",
      .options = {{.names = "role",
                   .value = "ROLE",
                   .help = "timestamp, snapshot, policy or root",
                   .required = true},
                  RootKeyOption(),
                  OfflineOption(),
                  {.names = "--keys",
                   .value = "N",
                   .help = "For the root: how many root keys to create",
                   .default_text = "1",
                   .check = CheckCount},
                  {.names = "--threshold",
                   .value = "K",
                   .help = "For the root: how many of them must sign from then on",
                   .default_text = "1",
                   .check = CheckCount}},
      .handler = Rotate};
}

command::Command RenewCommand() {
  return {.name = "renew",
          .summary = "Sign the next root with the same keys, for another year",
          .help = R"(Example:
  fieldcost-aggregator keys renew --config aggregator.toml \
    --root-key /media/key/root.key)",
          .options = {RootKeyOption(), OfflineOption()},
          .handler = Renew};
}

command::Command ExportOfflineCommand() {
  return {
      .name = "export-offline",
      .summary = "Move the keys of ROLE, which the service does not need, to another medium",
      .help = R"(Examples:
  fieldcost-aggregator keys export-offline --config aggregator.toml root \
    --to /media/key
  fieldcost-aggregator keys export-offline --config aggregator.toml policy \
    --to /media/key)",
      .options = {{.names = "role", .value = "ROLE", .help = "root or policy", .required = true},
                  {.names = "--to",
                   .value = "DIR",
                   .help = "Where to move them; it must exist",
                   .completes = command::Completes::kFiles,
                   .check = command::CheckNotEmpty,
                   .required = true}},
      .handler = Export};
}

}  // namespace

command::Command KeysCommand() {
  return {.name = "keys",
          .summary = "The signing keys: show, replace, renew, move away",
          .commands = {ShowCommand(), RotateCommand(), RenewCommand(), ExportOfflineCommand()}};
}

}  // namespace fieldcost::aggregator
