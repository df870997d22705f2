// Adds ten runs of a program with 220,000 call paths and four metrics.
//   bench_tree          prints a line per variant, with the CPU ms of the fastest of five:
//     shared ids        runs with one dictionary, added to a tree
//     trees             ten trees with one dictionary
//     by names          ten runs with separate dictionaries: paths are matched by their frames,
//                       then added
//     encode, decode    the sum
//     from files        the same ten as encoded trees: decoded, matched, added
//   bench_tree FOLDER   writes the ten runs as pprof files, for other programs to add

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "common/base/check.h"
#include "common/base/file.h"
#include "common/tree/algebra.h"
#include "common/tree/codec.h"
#include "common/tree/remap.h"
#include "tools/exchange/exchange.h"

namespace {

using namespace fieldcost;

constexpr std::uint32_t kPaths = 220'000;
constexpr std::uint32_t kFunctions = 8'000;
constexpr std::size_t kRuns = 10;
constexpr int kRepeats = 5;
const std::vector<tree::Metric> kMetrics = {{.name = "bytes", .unit = tree::Unit::kBytes},
                                            {.name = "calls", .unit = tree::Unit::kCount},
                                            {.name = "cpu"},
                                            {.name = "wall"}};

double CpuMs() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

void Measure(const char* name, const std::function<void()>& work) {
  double fastest = std::numeric_limits<double>::max();
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    const double begin = CpuMs();
    work();
    fastest = std::min(fastest, CpuMs() - begin);
  }
  std::printf("%s %.1f\n", name, fastest);
}

// Like real programs: paths continue recent ones, so they are found in depth-first order.
std::shared_ptr<const tree::Dictionary> Dictionary() {
  std::mt19937_64 random(1);
  auto dictionary = std::make_shared<tree::Dictionary>();
  std::vector<tree::FrameId> frames;
  for (std::uint32_t i = 0; i < kFunctions; ++i) {
    const std::string name = "component::Class" + std::to_string(i / 20) + "::Method" +
                             std::to_string(i) + "(std::string const&, int)";
    frames.push_back(
        dictionary->frames.Intern({.module = "libcomponent.so", .function = name}).value());
  }
  std::vector<tree::PathId> open = {tree::kRootPath};
  while (dictionary->paths.size() <= kPaths) {
    if (open.size() > 40 || (open.size() > 1 && random() % 2 == 0)) {
      open.resize(open.size() - std::min<std::size_t>(open.size() - 1, 1 + random() % 3));
    }
    const auto path = dictionary->paths.Intern(open.back(), frames[random() % kFunctions]).value();
    open.push_back(path);
  }
  return dictionary;
}

tree::RunValues Run(std::mt19937_64& random) {
  tree::RunValues run(kMetrics.size());
  for (std::size_t metric = 0; metric < kMetrics.size(); ++metric) {
    for (std::uint64_t& value : run.MutableColumn(metric, kPaths + 1)) {
      value = random() % 2 == 0 ? 0 : random() >> (24 + random() % 40);
    }
  }
  return run;
}

// Returns an equal dictionary with different ids.
std::shared_ptr<const tree::Dictionary> Copy(const tree::Dictionary& dictionary) {
  auto copy = std::make_shared<tree::Dictionary>();
  for (std::uint32_t path = 1; path < dictionary.paths.size(); ++path) {
    const auto frame = copy->frames.Intern(dictionary.frame(tree::PathId(path))).value();
    (void)copy->paths.Intern(dictionary.paths.parent(tree::PathId(path)), frame).value();
  }
  return copy;
}

tree::Tree TreeOfRun(const std::shared_ptr<const tree::Dictionary>& dictionary,
                     const tree::RunValues& run) {
  return tree::TreeOf(dictionary, kMetrics, std::span(&run, 1)).value();
}

int WriteFiles(const std::filesystem::path& folder) {
  std::mt19937_64 random(2);
  const auto dictionary = Dictionary();
  for (std::size_t i = 0; i < kRuns; ++i) {
    const tree::Tree tree = TreeOfRun(dictionary, Run(random));
    const auto exported = exchange::Export(tree, exchange::Format::kPprof).value();
    const auto file = folder / (std::to_string(i) + ".pb.gz");
    FIELDCOST_CHECK(WriteFileAtomically(file, exported.bytes, 0644));
  }
  return 0;
}

void MeasureShared(const std::shared_ptr<const tree::Dictionary>& dictionary,
                   const std::vector<tree::RunValues>& runs) {
  std::vector<tree::Tree> trees;
  for (const tree::RunValues& run : runs) trees.push_back(TreeOfRun(dictionary, run));
  Measure("shared ids", [&] { (void)tree::TreeOf(dictionary, kMetrics, runs).value(); });
  Measure("trees", [&] { (void)tree::Add(trees).value(); });
}

void MeasureByNames(const tree::Dictionary& dictionary, const std::vector<tree::RunValues>& runs) {
  std::vector<std::shared_ptr<const tree::Dictionary>> dictionaries;
  std::vector<std::string> files;
  for (const tree::RunValues& run : runs) {
    dictionaries.push_back(Copy(dictionary));
    files.push_back(tree::EncodeTree(TreeOfRun(dictionaries.back(), run)));
  }
  Measure("by names", [&] {
    const tree::Union united = tree::Unite(dictionaries).value();
    std::vector<tree::RunValues> mapped;
    for (std::size_t i = 0; i < kRuns; ++i) {
      mapped.push_back(tree::Apply({united.dictionary, united.to[i]}, runs[i]).value());
    }
    (void)tree::TreeOf(united.dictionary, kMetrics, mapped).value();
  });
  Measure("from files", [&] {
    std::vector<tree::Tree> trees;
    for (const std::string& file : files) trees.push_back(tree::DecodeTree(file).value());
    (void)tree::Add(trees).value();
  });
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 2) return WriteFiles(arguments[1]);
  std::mt19937_64 random(2);
  const auto dictionary = Dictionary();
  std::vector<tree::RunValues> runs;
  for (std::size_t i = 0; i < kRuns; ++i) runs.push_back(Run(random));
  MeasureShared(dictionary, runs);
  MeasureByNames(*dictionary, runs);
  const std::string sum = tree::EncodeTree(tree::TreeOf(dictionary, kMetrics, runs).value());
  Measure("encode", [&] {
    FIELDCOST_CHECK(tree::EncodeTree(tree::DecodeTree(sum).value()).size() == sum.size());
  });
  Measure("decode", [&] { (void)tree::DecodeTree(sum).value(); });
  return 0;
}
