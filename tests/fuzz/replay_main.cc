// NAME_replay [--inputs N] [--seed N] [--only NUMBER] CORPUS...
//
// Feeds every file of the corpus directories to a fuzz target, and then N inputs derived from them
// (mutator.h). This is a plain program, so that every build and every compiler can run it as a
// test. By default N is 20,000 if FIELDCOST_FAULT_LONG is 1 and 100 otherwise; the seed is
// FIELDCOST_FAULT_SEED or 1. An input that crashes the target or exceeds the limits of time or
// memory is written into the current directory. --only writes and repeats a single input in this
// process (for a debugger).
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/faults/network/fault_run.h"
#include "tests/fuzz/guarded_run.h"
#include "tests/fuzz/mutator.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
// Called by the address sanitizer. A single allocation of this size means that an unchecked length
// was used.
extern "C" const char* __asan_default_options();  // NOLINT(bugprone-reserved-identifier)
const char* __asan_default_options() { return "max_allocation_size_mb=512"; }

namespace fieldcost::fuzz {
namespace {

constexpr std::uint64_t kShortInputs = 100;
constexpr std::uint64_t kLongInputs = 20'000;

struct Options {
  std::uint64_t inputs = faults::LongForm() ? kLongInputs : kShortInputs;
  std::uint64_t seed = 1;
  std::optional<std::uint64_t> only;
  std::vector<std::filesystem::path> directories;
};

Options OptionsOf(const std::vector<std::string>& arguments) {
  Options options;
  const char* const seed = std::getenv("FIELDCOST_FAULT_SEED");
  if (seed != nullptr && *seed != '\0') options.seed = std::stoull(seed);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].starts_with("--")) {
      options.directories.emplace_back(arguments[i]);
      continue;
    }
    const std::uint64_t value = std::stoull(arguments.at(i + 1));
    if (arguments[i] == "--inputs") options.inputs = value;
    if (arguments[i] == "--seed") options.seed = value;
    if (arguments[i] == "--only") options.only = value;
    ++i;
  }
  return options;
}

struct Entry {
  std::string name;
  std::string bytes;
};

// Sorted by name, independently of the directory's order.
std::vector<Entry> ReadCorpus(const std::vector<std::filesystem::path>& directories) {
  std::vector<Entry> entries;
  for (const auto& directory : directories) {
    for (const auto& file : std::filesystem::directory_iterator(directory)) {
      std::ifstream stream(file.path(), std::ios::binary);
      entries.push_back(
          {file.path().filename(), std::string{std::istreambuf_iterator<char>(stream), {}}});
    }
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return entries;
}

void Feed(std::string_view input) {
  // On the heap, with exactly this size, so that reads beyond the end are detected.
  const std::vector<std::uint8_t> bytes(input.begin(), input.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

// Numbers below entries() are the entries; higher ones are mutations.
class Inputs {
 public:
  Inputs(std::vector<Entry> entries, std::uint64_t seed)
      : entries_(std::move(entries)), mutator_(BytesOf(entries_), seed) {}

  std::size_t entries() const { return entries_.size(); }
  std::string BytesAt(std::uint64_t number) const {
    return number < entries_.size() ? entries_[number].bytes
                                    : mutator_.Input(number - entries_.size());
  }
  std::string NameOf(std::uint64_t number) const {
    return number < entries_.size() ? entries_[number].name : fmt::format("made_{}", number);
  }

 private:
  static std::vector<std::string> BytesOf(const std::vector<Entry>& entries) {
    std::vector<std::string> bytes;
    for (const Entry& entry : entries) bytes.push_back(entry.bytes);
    return bytes;
  }
  std::vector<Entry> entries_;
  Mutator mutator_;
};

// Writes the input to a file; returns its name.
std::string WriteInput(const Inputs& inputs, std::uint64_t number, const std::string& program) {
  std::string file = fmt::format("{}.{}.input", program, inputs.NameOf(number));
  std::ofstream(file, std::ios::binary) << inputs.BytesAt(number);
  return file;
}

void Print(const GuardedReport& report, const Inputs& inputs, std::uint64_t count,
           const std::string& program) {
  for (const FailedInput& failed : report.failed) {
    if (failed.number >= count) {
      fmt::print("FAILED at the end, after all inputs: {}\n", failed.reason);
      continue;
    }
    fmt::print("FAILED: input {}: {}; written to {}\n", failed.number, failed.reason,
               WriteInput(inputs, failed.number, program));
  }
  fmt::print("{} inputs of the corpus, {} made of them; slowest: number {}, {} ms; peak {} MiB\n",
             inputs.entries(), count - inputs.entries(), report.slowest_number, report.slowest_ms,
             report.peak_mib);
}

int Run(const std::string& program, const Options& options) {
  const Inputs inputs(ReadCorpus(options.directories), options.seed);
  if (inputs.entries() == 0) {
    fmt::print(stderr, "{}: there are no inputs in the directories named\n", program);
    return 1;
  }
  fmt::print("seed {}\n", options.seed);
  if (options.only) {
    WriteInput(inputs, *options.only, program);
    Feed(inputs.BytesAt(*options.only));
    return 0;
  }
  const std::uint64_t count = inputs.entries() + options.inputs;
  const GuardedReport report =
      RunGuarded(count, InputLimits{}, [&](std::uint64_t number) { Feed(inputs.BytesAt(number)); });
  Print(report, inputs, count, program);
  return report.failed.empty() ? 0 : 1;
}

}  // namespace
}  // namespace fieldcost::fuzz

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    return fieldcost::fuzz::Run(std::filesystem::path(argv[0]).filename(),
                                fieldcost::fuzz::OptionsOf(arguments));
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", argv[0], error.what());
    return 2;
  }
}
