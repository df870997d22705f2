// `fieldcost-probe-server user ...`: adds, changes, removes and lists users.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>

#include "aggregator/probe_server/accounts/guessing.h"
#include "aggregator/probe_server/accounts/password.h"
#include "aggregator/probe_server/accounts/users.h"
#include "aggregator/probe_server/commands/list.h"
#include "aggregator/probe_server/data/audit.h"
#include "aggregator/probe_server/data/data.h"
#include "aggregator/probe_server/data/expire.h"
#include "aggregator/probe_server/probe_server_commands.h"
#include "common/base/file.h"
#include "common/base/read_password.h"
#include "common/base/text.h"

namespace fieldcost::probe_server {
namespace {

// The first user may be created before the first start.
Result<std::unique_ptr<Data>> OpenData(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const Config config, ConfigOf(arguments));
  FIELDCOST_TRY(MakeDirectories(config.data_dir, 0700));
  return Data::Open(config.database(), sqlite::Database::Access::kCreate);
}

Result<User> Named(Data& data, const std::string& untrusted_name) {
  FIELDCOST_ASSIGN(std::optional<User> user, FindUser(data.database(), untrusted_name));
  if (user) return std::move(*user);
  return Fail(ErrorCode::kNotFound, "there is no user '{}'", EscapeControl(untrusted_name));
}

Result<std::string> NewHash(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const std::string password, ReadNewPassword(arguments.Text("name")));
  FIELDCOST_TRY(CheckPassword(password));
  return HashPassword(password);
}

AuditEntry ByOperator(std::string what, std::string account, std::string object = "") {
  return {.time = SystemClock().Now(),
          .what = std::move(what),
          .account = std::move(account),
          .address = "operator",
          .object = std::move(object)};
}

// Asks only at a terminal; scripts use options.
bool Confirms(const char* question) {
  fmt::print("{} [Y/n] ", question);
  std::fflush(stdout);
  std::string answer;
  std::getline(std::cin, answer);
  return !answer.starts_with('n') && !answer.starts_with('N');
}

PasswordChange WhatEnds(const command::Arguments& arguments) {
  PasswordChange change{.ends_sessions = !arguments.Has("--keep-sessions"),
                        .ends_devices = !arguments.Has("--keep-devices")};
  if (::isatty(STDIN_FILENO) != 1 || !change.ends_sessions || !change.ends_devices) return change;
  change.ends_sessions = Confirms("End the user's sessions?");
  change.ends_devices = Confirms("Revoke the user's devices?");
  return change;
}

std::string KeptText(const PasswordChange& change) {
  return std::string(change.ends_sessions ? "; sessions have ended" : "; sessions stay") +
         (change.ends_devices ? "; devices are revoked" : "; devices stay");
}

Result<int> Add(const command::Arguments& arguments) {
  FIELDCOST_TRY(CheckName("user", arguments.Text("name")));
  FIELDCOST_ASSIGN(const std::unique_ptr<Data> data, OpenData(arguments));
  FIELDCOST_ASSIGN(const std::string hash, NewHash(arguments));
  const Status added = data->Change([&]() -> Status {
    FIELDCOST_TRY(AddUser(data->database(), arguments.Text("name"), hash, SystemClock().Now()));
    return Audit(*data, ByOperator("user added", arguments.Text("name")));
  });
  FIELDCOST_TRY(added);
  fmt::print("added user {}\n", EscapeControl(arguments.Text("name")));
  return 0;
}

Result<int> Password(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const std::unique_ptr<Data> data, OpenData(arguments));
  FIELDCOST_ASSIGN(const User user, Named(*data, arguments.Text("name")));
  FIELDCOST_ASSIGN(const std::string hash, NewHash(arguments));
  const PasswordChange change = WhatEnds(arguments);
  const Status changed = data->Change([&]() -> Status {
    FIELDCOST_TRY(SetPassword(data->database(), user.id, hash, change));
    FIELDCOST_TRY(Unlock(data->database(), user.name));
    return Audit(*data, ByOperator("password changed", user.name, KeptText(change)));
  });
  FIELDCOST_TRY(changed);
  fmt::print("changed the password of user {}{}\n", EscapeControl(user.name), KeptText(change));
  return 0;
}

// In batches, so that a running server does not have to wait.
Result<std::uint64_t> RemoveEventsOf(Data& data, UserId user) {
  std::uint64_t removed = 0;
  for (;;) {
    probe::Removed some;
    const Status changed = data.Change([&]() -> Status {
      FIELDCOST_ASSIGN(some, data.events().RemoveOf(user.value(), kExpireAtOnce));
      return {};
    });
    FIELDCOST_TRY(changed);
    removed += some.events;
    if (!some.has_more) return removed;
  }
}

Result<int> Remove(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const std::unique_ptr<Data> data, OpenData(arguments));
  FIELDCOST_ASSIGN(const User user, Named(*data, arguments.Text("name")));
  // Remove the user first, so that no more events arrive.
  const Status removed_user = data->Change([&]() -> Status {
    FIELDCOST_TRY(RemoveUser(data->database(), user.id));
    return Audit(*data, ByOperator("user removed", user.name));
  });
  FIELDCOST_TRY(removed_user);
  if (arguments.Has("--with-events")) {
    FIELDCOST_ASSIGN(const std::uint64_t removed, RemoveEventsOf(*data, user.id));
    fmt::print("removed user {}, with sessions, devices and {} events\n", EscapeControl(user.name),
               removed);
    return 0;
  }
  fmt::print("removed user {}, with sessions and devices; events stay until they are too old\n",
             EscapeControl(user.name));
  return 0;
}

Result<int> UnlockUser(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const std::unique_ptr<Data> data, OpenData(arguments));
  FIELDCOST_ASSIGN(const User user, Named(*data, arguments.Text("name")));
  std::string known;
  const Status changed = data->Change([&]() -> Status {
    FIELDCOST_TRY(Unlock(data->database(), user.name));
    const std::string address = arguments.Text("--address");
    FIELDCOST_TRY(Audit(*data, ByOperator("user unlocked", user.name, address)));
    if (address.empty()) return {};
    known = "; logins from " + address + " are not delayed by others";
    return AddKnownNetwork(data->database(), user.id, address, SystemClock().Now());
  });
  FIELDCOST_TRY(changed);
  fmt::print("unlocked user {}{}\n", EscapeControl(user.name), known);
  return 0;
}

Status CheckAddress(std::string& untrusted_text) {
  if (IsAddress(untrusted_text)) return {};
  return Fail(ErrorCode::kInvalidArgument, "expected an address such as 192.0.2.7");
}

Result<int> List(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const std::unique_ptr<Data> data, OpenData(arguments));
  FIELDCOST_ASSIGN(const std::vector<User> users, ListUsers(data->database()));
  std::vector<draw::TextLine> lines;
  for (const User& user : users) {
    lines.push_back(
        {EscapeControl(user.name),
         fmt::format("{:%Y-%m-%d}", std::chrono::floor<std::chrono::seconds>(user.created))});
  }
  PrintList({{.heading = "USER"}, {.heading = "SINCE"}}, lines);
  return 0;
}

command::Option NameOption() {
  return {.names = "name",
          .value = "NAME",
          .help = "The user's name",
          .check = command::CheckNotEmpty,
          .required = true};
}

}  // namespace

command::Command UserCommand() {
  const auto one = [](std::string_view name, std::string_view summary, command::Handler handler) {
    return command::Command{.name = name,
                            .summary = summary,
                            .options = {NameOption()},
                            .handler = std::move(handler),
                            .without = {"--check-config"}};
  };
  return {
      .name = "user",
      .summary = "Who may log in",
      .help =
          R"(A password has at least 12 characters. It is prompted for on a terminal without echo, or else read
from the first line of standard input.

Examples:
  fieldcost-probe-server user add alice --config probe-server.toml
  fieldcost-probe-server user password alice --config probe-server.toml < password
  fieldcost-probe-server user unlock alice --config probe-server.toml)",
      .commands = {
          one("add", "Add a user", Add),
          {.name = "password",
           .summary = "Change a user's password; sessions and devices end",
           .options = {NameOption(),
                       {.names = "--keep-sessions", .help = "Keep sessions"},
                       {.names = "--keep-devices", .help = "Keep the user's devices"}},
           .handler = Password,
           .without = {"--check-config"}},
          {.name = "remove",
           .summary = "Remove a user, with sessions and devices",
           .options = {NameOption(),
                       {.names = "--with-events", .help = "Remove the user's events, too"}},
           .handler = Remove,
           .without = {"--check-config"}},
          {.name = "unlock",
           .summary = "Clear failed logins, so that the user need not wait",
           .options = {NameOption(),
                       {.names = "--address",
                        .value = "IP",
                        .help = "Let the user log in from this address while others keep "
                                "guessing the password elsewhere",
                        .check = CheckAddress}},
           .handler = UnlockUser,
           .without = {"--check-config"}},
          {.name = "list",
           .summary = "Print name and first day of each",
           .handler = List,
           .without = {"--check-config"}}}};
}

}  // namespace fieldcost::probe_server
