// `fieldcost-aggregator init`: creates a directory with everything that a service needs.
#include <fmt/format.h>

#include <vector>

#include "aggregator/operate/aggregator_directory.h"
#include "aggregator/operate/operate_commands.h"
#include "aggregator/operate/outcome.h"
#include "aggregator/operate/package_unit.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "common/command/new_server_options.h"

namespace fieldcost::aggregator {
namespace {

constexpr std::size_t kMaxUrlBytes = 1024;

void PrintNextSteps(const MadeDirectory& made) {
  const std::string directory = made.config.parent_path().string();
  fmt::print(R"(Next:
  fieldcost-aggregator --check-config --config {0}/aggregator.toml
  fieldcost-aggregator --config {0}/aggregator.toml
or as a service, with the unit of the Debian package (init --start does this):
  sudo chown -R _fieldcost-aggregator: {0}
  sudo install -D -m 644 -t /etc/systemd/system/fieldcost-aggregator.service.d \
    {0}/fieldcost-aggregator.conf
  sudo systemctl daemon-reload
  sudo systemctl enable --now fieldcost-aggregator
)",
             directory);
}

// A word of a shell command.
std::string ShellWord(const std::string& text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

void PrintLineForVolunteers(const MadeDirectory& made, bool is_open, bool is_started,
                            const wire::OperatorStatement& operated_by) {
  const std::string directory = made.config.parent_path().string();
  // The directory's path has no character that a shell would interpret: a unit names it.
  const std::string url =
      made.url.empty() ? fmt::format("\"$(cat {}/address)\"", directory) : ShellWord(made.url);
  fmt::print("{} join with this line:\n  fieldcost agent join {}{}\n",
             is_started ? "The service is running. Volunteers" : "Once it has started, volunteers",
             url, made.authority.empty() ? "" : " --ca-file ca.pem");
  if (!made.authority.empty()) {
    fmt::print(R"(They need a copy of
  {}
but none if you use a certificate that every system trusts, e.g. one issued by
certbot; name it with --certificate and --key.
)",
               made.authority.string());
  }
  if (operated_by.name.empty() || operated_by.contact.empty() || operated_by.privacy.empty()) {
    fmt::print(
        "Before the first start, complete [operator] in {}/aggregator.toml:\n"
        "volunteers read your name, contact and promise before they join.\n",
        directory);
  }
  if (is_open) return;
  fmt::print(R"(Each volunteer needs an invitation, which `fieldcost agent enrol` takes:
  fieldcost-aggregator invitation make --config {}/aggregator.toml
)",
             directory);
}

std::uint16_t Port(const command::Arguments& arguments, std::string_view name) {
  return static_cast<std::uint16_t>(*arguments.Number(name));
}

// The address of the running service, which may have chosen the port.
Result<std::string> UrlOf(const MadeDirectory& made) {
  if (!made.url.empty()) return made.url;
  FIELDCOST_ASSIGN(std::string url, ReadFile(made.config.parent_path() / "address", kMaxUrlBytes));
  if (url.ends_with('\n')) url.pop_back();
  return url;
}

Result<int> Init(const command::Arguments& arguments) {
  const bool json = arguments.Has("--json");
  const bool starts = arguments.Has("--start");
  if (starts) {
    FIELDCOST_ASSIGN(const std::filesystem::path directory,
                     serve::PathForUnit(arguments.Text("--dir")));
    FIELDCOST_TRY(CheckUnitCanStart(directory));
  }
  const wire::OperatorStatement operated_by{.name = arguments.Text("--operator"),
                                            .contact = arguments.Text("--contact"),
                                            .privacy = arguments.Text("--privacy")};
  FIELDCOST_ASSIGN(MadeDirectory made,
                   MakeNewDirectory({.directory = arguments.Text("--dir"),
                                     .hosts = arguments.Texts("--host"),
                                     .certificate = {.certificate = arguments.Text("--certificate"),
                                                     .private_key = arguments.Text("--key")},
                                     .address = arguments.Text("--address"),
                                     .port = Port(arguments, "--port"),
                                     .admin_port = Port(arguments, "--admin-port"),
                                     .is_open = arguments.Has("--open"),
                                     .operated_by = operated_by},
                                    SystemClock()));
  if (starts) {
    FIELDCOST_TRY(StartUnit(made));
    FIELDCOST_ASSIGN(made.url, UrlOf(made));
  }
  Outcome outcome;
  outcome.Add("config", made.config.string())
      .Add("certificate", made.certificate.string())
      .Add("authority", made.authority.string())
      .Add("admin_token", made.admin_token.string())
      .Add("unit_drop_in", made.unit_drop_in.string())
      .Add("url", made.url);
  if (starts) outcome.Add("started", true);
  Print(outcome, "made", json);
  if (!json) {
    if (!starts) PrintNextSteps(made);
    PrintLineForVolunteers(made, arguments.Has("--open"), starts, operated_by);
  }
  return 0;
}

std::vector<command::Option> Options() {
  std::vector<command::Option> options = command::NewServerOptions("8443", "8444");
  options.push_back(
      {.names = "--open",
       .help = "Accept every agent, without an invitation: anyone can then create any number of "
               "agents, outvote a majority of machines with a majority of keys, and complete the "
               "threshold of a volunteer's rows after a day"});
  options.push_back({.names = "--start",
                     .help = "Also start the service, now and with the machine, with the unit of "
                             "the Debian package; needs root",
                     .needs = {"--operator", "--contact", "--privacy"}});
  options.push_back({.names = "--operator",
                     .value = "NAME",
                     .help = "Who operates the service; volunteers read this before they join, as "
                             "the next two",
                     .check = command::CheckNotEmpty});
  options.push_back({.names = "--contact",
                     .value = "TEXT",
                     .help = "How volunteers reach the operator: an address or a URL",
                     .check = command::CheckNotEmpty});
  options.push_back(
      {.names = "--privacy",
       .value = "TEXT",
       .help = "The operator's promise: how long data and backups are kept, which proxies "
               "see the traffic",
       .check = command::CheckNotEmpty});
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
  sudo fieldcost-aggregator init --dir /srv/fieldcost \
    --host fieldcost.example.org --open --start \
    --operator 'Example Project' --contact privacy@example.org \
    --privacy 'No proxy; backups are deleted after 30 days.'
  fieldcost-aggregator init --dir /srv/fieldcost --host fieldcost.example.org \
    --operator 'Example Project' --contact privacy@example.org \
    --privacy 'No proxy; backups are deleted after 30 days.'
  fieldcost-aggregator init --dir /srv/fieldcost --host fieldcost.example.org \
    --certificate /etc/letsencrypt/live/fieldcost.example.org/fullchain.pem \
    --key /etc/letsencrypt/live/fieldcost.example.org/privkey.pem
  fieldcost-aggregator init --dir try --host localhost --port 0 --open)",
      .options = Options(),
      .handler = Init,
      .without = {"--config", "--check-config"}};
}

}  // namespace fieldcost::aggregator
