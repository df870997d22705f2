// fieldcost-idle: what `fieldcost idle` runs, so that libbpf and libdw are in no other program.
//   fieldcost-idle --output FILE [--mode bpf|unprivileged|unprivileged~|literal]
//                  [--tick NS]
//                  ([--for NS] --pid PID | [--for NS] --all | [--runs N] -- COMMAND [ARGUMENT...])
// and --unnamed, for benchmarks: names are not looked up.
//   fieldcost-idle --restore
// gives threads their affinity back that a killed one had changed, as the next of mode literal
// does.
#include <fmt/format.h>
#include <getopt.h>

#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "agent/idle/literal_collector.h"
#include "agent/idle/mask_journal.h"
#include "agent/idle/record.h"
#include "common/base/text.h"

namespace {

using fieldcost::idle_agent::RecordOptions;

enum Letter { kOutput = 1, kMode, kTick, kFor, kPid, kAll, kRuns, kUnnamed };

bool TakeNumber(std::string_view text, std::uint64_t most, std::uint64_t& number) {
  const auto parsed = fieldcost::ParseUint64(text);
  number = parsed.value_or(0);
  return number > 0 && number <= most;
}

bool TakeMode(std::string_view text, RecordOptions& options) {
  using fieldcost::idle::Mode;
  for (const Mode mode : {Mode::kBpf, Mode::kUnprivileged, Mode::kCandidates, Mode::kLiteral}) {
    if (text == Name(mode)) options.mode = mode;
  }
  return options.mode.has_value();
}

bool TakeOption(int letter, const char* text, RecordOptions& options) {
  std::uint64_t number = 0;
  switch (letter) {
    case kOutput:
      options.output = text;
      return true;
    case kMode:
      return TakeMode(text, options);
    case kTick:
      return TakeNumber(text, UINT64_MAX, options.tick_ns);
    case kFor:
      return TakeNumber(text, UINT64_MAX, options.for_ns);
    case kPid:
      if (!TakeNumber(text, std::numeric_limits<pid_t>::max(), number)) return false;
      options.pid = static_cast<pid_t>(number);
      return true;
    case kRuns:
      if (!TakeNumber(text, UINT32_MAX, number)) return false;
      options.runs = static_cast<std::uint32_t>(number);
      return true;
    case kAll:
      return options.all = true;
    case kUnnamed:
      return options.unnamed = true;
    default:
      return false;
  }
}

// nullopt: it is not what `fieldcost idle` says.
std::optional<RecordOptions> OptionsOf(int argc, char** argv) {
  const option known[] = {{"output", required_argument, nullptr, kOutput},
                          {"mode", required_argument, nullptr, kMode},
                          {"tick", required_argument, nullptr, kTick},
                          {"for", required_argument, nullptr, kFor},
                          {"pid", required_argument, nullptr, kPid},
                          {"all", no_argument, nullptr, kAll},
                          {"runs", required_argument, nullptr, kRuns},
                          {"unnamed", no_argument, nullptr, kUnnamed},
                          {}};
  RecordOptions options;
  ::opterr = 0;
  // "+": the command's own options are not looked at.
  for (int letter = 0; (letter = ::getopt_long(argc, argv, "+", known, nullptr)) != -1;) {
    if (!TakeOption(letter, ::optarg, options)) return std::nullopt;
  }
  options.command.assign(argv + ::optind, argv + argc);
  const int targets = (options.command.empty() ? 0 : 1) + (options.pid != 0) + options.all;
  if (options.output.empty() || targets != 1) return std::nullopt;
  return options;
}

int RestoreAffinity() {
  const auto directory = fieldcost::idle_agent::JournalDirectory();
  const auto restored = directory ? fieldcost::idle_agent::RestoreMasks(*directory)
                                  : fieldcost::Result<std::size_t>(directory.error());
  if (!restored) {
    fmt::print(stderr, "fieldcost: {}\n", restored.error().message);
    return ExitStatus(restored.error().code);
  }
  fmt::print("threads whose affinity was restored: {}\n", *restored);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace fieldcost;
  constexpr int kUsage = 64;
  constexpr int kConfiguration = 78;  // a capability or a setting of the system is missing
  if (argc == 2 && std::string_view(argv[1]) == "--restore") return RestoreAffinity();
  const auto options = OptionsOf(argc, argv);
  if (!options) {
    fmt::print(stderr, "fieldcost-idle: it is run by fieldcost idle\n");
    return kUsage;
  }
  const auto result = idle_agent::Record(*options);
  if (!result) {
    const ErrorCode code = result.error().code;
    fmt::print(stderr, "fieldcost: {}\n", result.error().message);
    const bool is_missing = code == ErrorCode::kPermissionDenied || code == ErrorCode::kUnsupported;
    return is_missing ? kConfiguration : ExitStatus(code);
  }
  constexpr double kSecond = 1e9;
  constexpr double kMs = 1e6;
  const double idle = static_cast<double>(result->idle_ns);
  const double explained = idle == 0 ? 0 : 100 * static_cast<double>(result->explained_ns) / idle;
  fmt::print(stderr,
             "fieldcost: {}, mode {} ({}); {:.3f} s idle, {:.1f} % explained; {:.0f} ms to "
             "take; in {}\n",
             Counted(result->runs, "run"), Name(result->about.mode),
             EscapeControl(result->about.why), idle / kSecond, explained,
             static_cast<double>(result->reader_ns) / kMs, EscapeControl(options->output.string()));
  return result->status;
}
