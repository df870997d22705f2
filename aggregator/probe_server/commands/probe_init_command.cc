// `fieldcost-probe-server init`: creates a directory with everything a server needs.
#include <fmt/format.h>

#include "aggregator/probe_server/probe_server_commands.h"
#include "aggregator/probe_server/probe_server_directory.h"
#include "common/base/clock.h"
#include "common/command/new_server_options.h"

namespace fieldcost::probe_server {
namespace {

Result<int> Init(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(
      const MadeDirectory made,
      MakeNewDirectory(
          {.directory = arguments.Text("--dir"),
           .hosts = arguments.Texts("--host"),
           .certificate = {.certificate = arguments.Text("--certificate"),
                           .private_key = arguments.Text("--key")},
           .address = arguments.Text("--address"),
           .port = static_cast<std::uint16_t>(*arguments.Number("--port")),
           .admin_port = static_cast<std::uint16_t>(*arguments.Number("--admin-port"))},
          SystemClock()));
  fmt::print(R"(made {0}
Next:
  fieldcost-probe-server user add NAME --config {0}
  fieldcost-probe-server --config {0}
or as a service, with the unit of the Debian package:
  sudo chown -R _fieldcost-probe-server: {1}
  sudo install -D -m 644 -t \
    /etc/systemd/system/fieldcost-probe-server.service.d \
    {2}
  sudo systemctl daemon-reload
  sudo systemctl enable --now fieldcost-probe-server
)",
             made.config.string(), made.config.parent_path().string(), made.unit_drop_in.string());
  if (made.authority.empty()) return 0;
  fmt::print(R"(Users' machines and browsers must trust the authority of its certificate:
  {}
To use one that they trust already, name it with --certificate and --key.
)",
             made.authority.string());
  return 0;
}

}  // namespace

command::Command InitCommand() {
  return {
      .name = "init",
      .summary = "Create a directory with everything a server needs",
      .help =
          R"(Without --certificate, one is issued for ten years by an authority created for it alone, whose key
is discarded; browsers and users' machines must trust its ca.pem.

Examples:
  fieldcost-probe-server init --dir /srv/probes --host probes.example.org
  fieldcost-probe-server init --dir /srv/probes --host probes.example.org \
    --certificate /etc/letsencrypt/live/probes.example.org/fullchain.pem \
    --key /etc/letsencrypt/live/probes.example.org/privkey.pem)",
      .options = command::NewServerOptions("8445", "8446"),
      .handler = Init,
      .without = {"--config", "--check-config"}};
}

}  // namespace fieldcost::probe_server
