// `fieldcost-probe-server init`: creates a directory with everything a server needs.
#include <fmt/format.h>

#include "aggregator/probes/commands.h"
#include "aggregator/probes/new_directory.h"
#include "common/base/clock.h"
#include "common/base/text.h"

namespace fieldcost::probe_server {
namespace {

Result<int> Init(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(
      const MadeDirectory made,
      MakeNewDirectory(
          {.directory = arguments.Text("--dir"),
           .hosts = arguments.Texts("--host"),
           .address = arguments.Text("--address"),
           .port = static_cast<std::uint16_t>(*arguments.Number("--port")),
           .admin_port = static_cast<std::uint16_t>(*arguments.Number("--admin-port"))},
          SystemClock()));
  const std::string config = EscapeControl(made.config.string());
  fmt::print(R"(made {0}
Next:
  fieldcost-probe-server user add NAME --config {0}
  fieldcost-probe-server --config {0}
Users' machines and browsers must trust {1},
the authority of its certificate; or use another one in the configuration.
)",
             config, EscapeControl(made.authority.string()));
  return 0;
}

}  // namespace

command::Command InitCommand() {
  return {
      .name = "init",
      .summary = "Make a directory with everything a server needs",
      .help =
          R"(The certificate is issued for ten years by an authority made for it alone, whose key is forgotten.

Example:
  fieldcost-probe-server init --dir /srv/probes --host probes.example.org)",
      .options = {{.names = "--dir",
                   .value = "DIR",
                   .help = "The directory to make; if it exists, it must be empty",
                   .completes = command::Completes::kFiles,
                   .check = command::CheckNotEmpty,
                   .required = true},
                  {.names = "--host",
                   .value = "NAME",
                   .help = "A name or address under which it is reached; repeat it for more",
                   .check = command::CheckNotEmpty,
                   .required = true,
                   .repeats = true},
                  {.names = "--address",
                   .value = "IP",
                   .help = "Where to listen; by default 0.0.0.0, or 127.0.0.1 if every NAME is "
                           "this machine",
                   .check = command::CheckNotEmpty},
                  {.names = "--port",
                   .value = "N",
                   .help = "The port; 0: any free one at each start, written to DIR/address",
                   .default_text = "8445",
                   .check = command::CheckPort},
                  {.names = "--admin-port",
                   .value = "N",
                   .help = "The operator's port, on the loopback address; 0 as above",
                   .default_text = "8446",
                   .check = command::CheckPort}},
      .handler = Init,
      .without = {"--config", "--check-config"}};
}

}  // namespace fieldcost::probe_server
