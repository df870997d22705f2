// Writes the sample tree in every format, and events of probe points in theirs, to a folder, to be
// opened in other programs: write_samples FOLDER

#include <cstdio>
#include <filesystem>

#include "common/base/file.h"
#include "common/probe/event_export.h"
#include "tests/common/probe/some_events.h"
#include "tests/tools/exchange/sample_tree.h"
#include "tools/exchange/exchange.h"

namespace fieldcost {
namespace {

// Two events that overlap on a thread, and one of another process.
std::vector<probe::Event> SomeEvents() {
  std::vector<probe::Event> events = {
      probe::SomeEvent(1, {{.label = "open", .kind = probe::HitKind::kBegin},
                           {.label = "main", .at_ns = 2'000'001},
                           {.label = "data \"loaded\" <b>", .at_ns = 5'000'002, .thread = 2},
                           {.label = "open", .at_ns = 9'000'003, .kind = probe::HitKind::kEnd}}),
      probe::SomeEvent(2, {{.label = "search", .kind = probe::HitKind::kBegin},
                           {.label = "found", .at_ns = 3'000'000},
                           {.label = "shown", .at_ns = 4'000'007, .run = 2}})};
  probe::EventHit& hit = events[0].hits[2];
  hit.site = {hit.site.label, "Load", "src/index.cc", 40};
  hit.value = ~std::uint64_t{0};
  hit.stack = {{"Load", "editor", "src/index.cc", 40}, {"main", "editor", "", 0}};
  hit.has_stack = hit.stack_is_cut = true;
  events[0].row.tags = {"cold", "disk"};
  return events;
}

const std::vector<recording::ThreadFrame> kThreads = {
    {"[thread app 7]", {7, 7, "app", "app"}},
    {"[thread app/io 8]", {7, 8, "app", "io"}},
};

tree::Tree TreeOfThreads() {
  using exchange::Function;
  return exchange::TreeOfStacks(
      {{.name = "wall"}},
      {{{tree::SpecialFrame("[thread app 7]"), Function("app!main")}, {100'000'000}},
       {{tree::SpecialFrame("[thread app/io 8]"), Function("app!main"),
         Function("libz.so!deflate")},
        {900'000'000}}});
}

bool Write(const std::filesystem::path& file, const Result<std::string>& bytes) {
  const Status written = bytes ? WriteFileAtomically(file, *bytes, 0644) : Status(bytes.error());
  if (!written) std::fprintf(stderr, "%s: %s\n", file.c_str(), written.error().message.c_str());
  return written.has_value();
}

}  // namespace
}  // namespace fieldcost

int main(int argc, char** argv) {
  using namespace fieldcost;
  if (argc != 2) return 2;
  const std::filesystem::path folder = argv[1];
  const std::vector<probe::Event> events = SomeEvents();
  if (!Write(folder / "probe.otlp.json", probe::ToOtlpJson(events))) return 1;
  if (!Write(folder / "probe.trace.json", probe::ToChromeJson(events))) return 1;
  for (const auto& [name, format] : {std::pair{"threads.pb.gz", exchange::Format::kPprof},
                                     {"threads.speedscope.json", exchange::Format::kSpeedscope},
                                     {"threads.firefox.json", exchange::Format::kFirefox},
                                     {"threads.trace.json", exchange::Format::kChrome}}) {
    const auto exported = exchange::Export(TreeOfThreads(), format, {.threads = kThreads});
    if (!Write(folder / name, exported ? Result<std::string>(exported->bytes)
                                       : Result<std::string>(exported.error()))) {
      return 1;
    }
  }
  const tree::Tree tree = exchange::SampleTree();
  for (const exchange::FormatInfo& info : exchange::Formats()) {
    if (!info.can_export) continue;
    const auto exported = exchange::Export(tree, info.format, {.title = "sample"});
    if (!exported) {
      std::fprintf(stderr, "%s\n", exported.error().message.c_str());
      return 1;
    }
    if (!Write(folder / fmt::format("{}{}", info.name, info.extension), exported->bytes)) return 1;
  }
  return 0;
}
