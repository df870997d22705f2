#include "common/command/new_server_options.h"

namespace fieldcost::command {

std::vector<Option> NewServerOptions(std::string_view port, std::string_view admin_port) {
  return {
      {.names = "--dir",
       .value = "DIR",
       .help = "The directory to make; if it exists, it must be empty",
       .completes = Completes::kFiles,
       .check = CheckNotEmpty,
       .required = true},
      {.names = "--host",
       .value = "NAME",
       .help = "A name or address under which it is reached; repeat it for more",
       .check = CheckNotEmpty,
       .required = true,
       .repeats = true},
      {.names = "--certificate",
       .value = "FILE",
       .help = "An existing certificate for these names (PEM chain)",
       .completes = Completes::kFiles,
       .check = CheckNotEmpty,
       .needs = {"--key"}},
      {.names = "--key",
       .value = "FILE",
       .help = "Its private key (PEM)",
       .completes = Completes::kFiles,
       .check = CheckNotEmpty,
       .needs = {"--certificate"}},
      {.names = "--address",
       .value = "IP",
       .help = "Where to listen; by default 0.0.0.0, or 127.0.0.1 if every NAME is this machine",
       .check = CheckNotEmpty},
      {.names = "--port",
       .value = "N",
       .help = "The port; 0: any free one at each start, written to DIR/address",
       .default_text = port,
       .check = CheckPort},
      {.names = "--admin-port",
       .value = "N",
       .help = "The operator's port, on the loopback address; 0 as above",
       .default_text = admin_port,
       .check = CheckPort}};
}

}  // namespace fieldcost::command
