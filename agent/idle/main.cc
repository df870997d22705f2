// fieldcost-idle: run by `fieldcost idle`; separate, so that only this program needs libbpf and
// libdw.
//   fieldcost-idle --output FILE [--mode bpf|unprivileged|unprivileged~|literal]
//                  [--tick NS]
//                  ([--for NS] --pid PID | [--for NS] --all |
//                   [--runs N] [--input FILE] -- COMMAND [ARGUMENT...])
// --unnamed, for benchmarks: does not look up names.
//   fieldcost-idle --restore
// restores the affinity of threads that a killed recorder had changed, as the next recording in
// mode literal does.
#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "agent/idle/conformance/literal_collector.h"
#include "agent/idle/conformance/mask_journal.h"
#include "agent/idle/record_idle.h"
#include "agent/perf/name_frames.h"
#include "agent/perf/recorder_options.h"
#include "agent/perf/recording_loop.h"
#include "common/base/terminal_text.h"
#include "common/base/text.h"

namespace {

using fieldcost::idle_agent::RecordOptions;

bool TakeMode(std::string_view text, RecordOptions& options) {
  using fieldcost::idle::Mode;
  for (const Mode mode : {Mode::kBpf, Mode::kUnprivileged, Mode::kCandidates, Mode::kLiteral}) {
    if (text == Name(mode)) options.mode = mode;
  }
  return options.mode.has_value();
}

// Returns nullopt if this is not a command line of `fieldcost idle`.
std::optional<RecordOptions> OptionsOf(int argc, char** argv) {
  using namespace fieldcost::perf;
  RecordOptions options;
  auto command = TakeOptions(
      argc, argv,
      {TextOption("output", options.output),
       {.name = "mode", .take = [&](const char* text) { return TakeMode(text, options); }},
       NumberOption("tick", options.tick_ns),
       NumberOption("for", options.for_ns),
       NumberOption("pid", options.pid),
       FlagOption("all", options.all),
       NumberOption("runs", options.runs),
       TextOption("input", options.input),
       FlagOption("unnamed", options.unnamed)});
  if (!command) return std::nullopt;
  options.command = *std::move(command);
  const int targets = (options.command.empty() ? 0 : 1) + (options.pid != 0) + options.all;
  if (options.output.empty() || targets != 1) return std::nullopt;
  return options;
}

int RestoreAffinity() {
  const auto directory = fieldcost::idle_agent::JournalDirectory();
  const auto restored = directory ? fieldcost::idle_agent::RestoreMasks(*directory)
                                  : fieldcost::Result<std::size_t>(directory.error());
  if (!restored) {
    fieldcost::PrintRemark(restored.error().message);
    return ExitStatus(restored.error().code);
  }
  fmt::print("threads whose affinity was restored: {}\n", *restored);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace fieldcost;
  if (const auto served = perf::UseNameHelpers(argc, argv)) return *served;
  constexpr int kConfiguration = 78;  // a capability or a setting of the system is missing
  if (argc == 2 && std::string_view(argv[1]) == "--restore") return RestoreAffinity();
  const auto options = OptionsOf(argc, argv);
  if (!options) return perf::RefuseCommandLine("fieldcost-idle", "fieldcost idle");
  const auto result = idle_agent::Record(*options);
  if (!result) {
    PrintRemark(result.error().message);
    return perf::IsRefused(result.error()) ? kConfiguration : ExitStatus(result.error().code);
  }
  constexpr double kSecond = 1e9;
  constexpr double kMs = 1e6;
  const double idle = static_cast<double>(result->idle_ns);
  const double explained = idle == 0 ? 0 : 100 * static_cast<double>(result->explained_ns) / idle;
  fmt::print(stderr,
             "fieldcost: {}, mode {} ({}); in {}\n"
             "  {:.3f} s idle, {:.1f} % explained; {:.0f} ms to take\n",
             Counted(result->runs, "run"), Name(result->about.mode),
             EscapeControl(result->about.why), EscapeControl(options->output.string()),
             idle / kSecond, explained, static_cast<double>(result->reader_ns) / kMs);
  return result->status;
}
