// `fieldcost-aggregator init`: creates a directory with everything that a service needs.
#include <fmt/format.h>

#include <vector>

#include "aggregator/operate/aggregator_directory.h"
#include "aggregator/operate/operate_commands.h"
#include "aggregator/operate/outcome.h"
#include "common/base/text.h"
#include "common/command/new_server_options.h"

namespace fieldcost::aggregator {
namespace {

void PrintNextSteps(const MadeDirectory& made, bool is_open) {
  const std::string directory = made.config.parent_path().string();
  fmt::print(R"(Next:
  fieldcost-aggregator --check-config --config {0}/aggregator.toml
  fieldcost-aggregator --config {0}/aggregator.toml
or as a service, with the unit of the Debian package:
  sudo chown -R _fieldcost-aggregator: {0}
  sudo install -D -m 644 -t /etc/systemd/system/fieldcost-aggregator.service.d \
    {0}/fieldcost-aggregator.conf
  sudo systemctl daemon-reload
  sudo systemctl enable --now fieldcost-aggregator
Once it has started, users need this file as catalog_root
  {0}/data/publish/root/1
and in agent.toml:
  [aggregator]
  url = "{1}"
)",
             directory,
             made.url.empty() ? fmt::format("https://{}:PORT", EscapeControl(made.untrusted_host))
                              : made.url);
  if (made.url.empty()) {
    fmt::print("  # PORT is at the end of {}/address, and may change with each start\n", directory);
  }
  if (!made.authority.empty()) {
    fmt::print(R"(  ca_file = "ca.pem"
and next to that file
  {0}
To use a certificate that every system trusts instead, have one issued, e.g. by
certbot, and name it with --certificate and --key.
)",
               made.authority.string());
  }
  if (is_open) return;
  fmt::print(R"(Each user needs an invitation, which `fieldcost agent enrol` takes:
  fieldcost-aggregator invitation make --config {}/aggregator.toml
)",
             directory);
}

std::uint16_t Port(const command::Arguments& arguments, std::string_view name) {
  return static_cast<std::uint16_t>(*arguments.Number(name));
}

Result<int> Init(const command::Arguments& arguments) {
  const bool json = arguments.Has("--json");
  FIELDCOST_ASSIGN(const MadeDirectory made,
                   MakeNewDirectory({.directory = arguments.Text("--dir"),
                                     .hosts = arguments.Texts("--host"),
                                     .certificate = {.certificate = arguments.Text("--certificate"),
                                                     .private_key = arguments.Text("--key")},
                                     .address = arguments.Text("--address"),
                                     .port = Port(arguments, "--port"),
                                     .admin_port = Port(arguments, "--admin-port"),
                                     .is_open = arguments.Has("--open")},
                                    SystemClock()));
  Outcome outcome;
  outcome.Add("config", made.config.string())
      .Add("certificate", made.certificate.string())
      .Add("authority", made.authority.string())
      .Add("admin_token", made.admin_token.string())
      .Add("unit_drop_in", made.unit_drop_in.string())
      .Add("url", made.url);
  Print(outcome, "made", json);
  if (!json) PrintNextSteps(made, arguments.Has("--open"));
  return 0;
}

std::vector<command::Option> Options() {
  std::vector<command::Option> options = command::NewServerOptions("8443", "8444");
  options.push_back(
      {.names = "--open",
       .help = "Accept every agent, without an invitation: anyone can then create any number of "
               "agents, outvote a majority of machines with a majority of keys, and complete the "
               "threshold of a volunteer's rows after a day"});
  return options;
}

}  // namespace

command::Command InitCommand() {
  return {
      .name = "init",
      .summary = "Create a directory with everything a service needs",
      .help =
          R"(Without --certificate, one is issued for ten years by an authority created for it alone, whose key
is discarded; agents need its ca.pem. For other names, or when it expires, create another directory
and take certificate.pem, private_key.pem and ca.pem from there.

Examples:
  fieldcost-aggregator init --dir /srv/fieldcost --host fieldcost.example.org
  fieldcost-aggregator init --dir /srv/fieldcost --host fieldcost.example.org \
    --certificate /etc/letsencrypt/live/fieldcost.example.org/fullchain.pem \
    --key /etc/letsencrypt/live/fieldcost.example.org/privkey.pem
  fieldcost-aggregator init --dir try --host localhost --port 0 --open)",
      .options = Options(),
      .handler = Init,
      .without = {"--config", "--check-config"}};
}

}  // namespace fieldcost::aggregator
