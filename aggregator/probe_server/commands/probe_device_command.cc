// `fieldcost-probe-server device ...`: lists the machines that send, and revokes their tokens.
#include "aggregator/probe_server/accounts/devices.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "aggregator/probe_server/accounts/users.h"
#include "aggregator/probe_server/commands/list.h"
#include "aggregator/probe_server/data/audit.h"
#include "aggregator/probe_server/data/data.h"
#include "aggregator/probe_server/probe_server_commands.h"
#include "common/base/text.h"

namespace fieldcost::probe_server {
namespace {

constexpr std::size_t kLeastDeviceName = 16;  // columns of a terminal

Result<std::unique_ptr<Data>> OpenDevices(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const Config config, ConfigOf(arguments));
  return Data::Open(config.database(), sqlite::Database::Access::kWrite);
}

Result<int> ListAll(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const std::unique_ptr<Data> data, OpenDevices(arguments));
  FIELDCOST_ASSIGN(const std::vector<User> users, ListUsers(data->database()));
  std::vector<draw::TextLine> lines;
  for (const User& user : users) {
    FIELDCOST_ASSIGN(const std::vector<Device> devices, ListDevices(data->database(), user.id));
    for (const Device& device : devices) {
      lines.push_back(
          {std::to_string(device.id.value()), EscapeControl(user.name), EscapeControl(device.name),
           fmt::format("{:%Y-%m-%d}", std::chrono::floor<std::chrono::seconds>(device.created)),
           device.is_revoked ? "revoked" : "in use"});
    }
  }
  PrintList({{.heading = "NUMBER", .right = true},
             {.heading = "USER", .least = kLeastDeviceName},
             {.heading = "NAME", .least = kLeastDeviceName},
             {.heading = "SINCE"},
             {.heading = "STATE"}},
            lines);
  return 0;
}

Result<int> Revoke(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const std::unique_ptr<Data> data, OpenDevices(arguments));
  const DeviceId device(*arguments.Number("number"));
  const Status revoked = data->Change([&]() -> Status {
    FIELDCOST_TRY(RevokeDevice(data->database(), device, std::nullopt));
    return Audit(*data, {.time = SystemClock().Now(),
                         .what = "device revoked",
                         .address = "operator",
                         .object = fmt::format("device {}", device.value())});
  });
  FIELDCOST_TRY(revoked);
  fmt::print("device {} is revoked: its batches are refused from now on\n", device.value());
  return 0;
}

}  // namespace

command::Command DeviceCommand() {
  return {.name = "device",
          .summary = "Machines that send for a user",
          .help = R"(Examples:
  fieldcost-probe-server device list --config probe-server.toml
  fieldcost-probe-server device revoke 7 --config probe-server.toml)",
          .commands = {{.name = "list",
                        .summary = "Print the number, user, name and first day of each",
                        .handler = ListAll,
                        .without = {"--check-config"}},
                       {.name = "revoke",
                        .summary = "Refuse its token from now on",
                        .options = {{.names = "number",
                                     .value = "NUMBER",
                                     .help = "Its number in the list",
                                     .check = command::CheckNumber,
                                     .required = true}},
                        .handler = Revoke,
                        .without = {"--check-config"}}}};
}

}  // namespace fieldcost::probe_server
