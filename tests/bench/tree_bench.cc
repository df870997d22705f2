// Ten runs of a program with 220,000 call paths and four metrics, added. Prints a line for each
// way, with the CPU ms of the fastest of five:   bench_tree
//   shared ids     runs of one dictionary to a tree
//   trees          ten trees of one dictionary
//   by names       ten runs with a dictionary each: paths are matched by their frames, then added
//   encode, decode the sum

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "common/base/check.h"
#include "common/tree/algebra.h"
#include "common/tree/codec.h"
#include "common/tree/remap.h"

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

// As programs have them: paths go on from recent ones, so they are found in depth-first order.
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

// The same with other numbers.
std::shared_ptr<const tree::Dictionary> Copy(const tree::Dictionary& dictionary) {
  auto copy = std::make_shared<tree::Dictionary>();
  for (std::uint32_t path = 1; path < dictionary.paths.size(); ++path) {
    const auto frame = copy->frames.Intern(dictionary.frame(tree::PathId(path))).value();
    (void)copy->paths.Intern(dictionary.paths.parent(tree::PathId(path)), frame).value();
  }
  return copy;
}

}  // namespace

int main() {
  std::mt19937_64 random(2);
  const auto dictionary = Dictionary();
  std::vector<tree::RunValues> runs;
  std::vector<tree::Tree> trees;
  std::vector<std::shared_ptr<const tree::Dictionary>> dictionaries;
  for (std::size_t i = 0; i < kRuns; ++i) {
    runs.push_back(Run(random));
    trees.push_back(tree::TreeOf(dictionary, kMetrics, std::span(&runs.back(), 1)).value());
    dictionaries.push_back(Copy(*dictionary));
  }
  const std::string sum = tree::EncodeTree(tree::TreeOf(dictionary, kMetrics, runs).value());
  std::printf("paths %zu, bytes of the sum %zu\n", dictionary->paths.size(), sum.size());
  Measure("shared ids", [&] { (void)tree::TreeOf(dictionary, kMetrics, runs).value(); });
  Measure("trees", [&] { (void)tree::Add(trees).value(); });
  Measure("by names", [&] {
    const tree::Union united = tree::Unite(dictionaries).value();
    std::vector<tree::RunValues> mapped;
    for (std::size_t i = 0; i < kRuns; ++i) {
      mapped.push_back(tree::Apply({united.dictionary, united.to[i]}, runs[i]).value());
    }
    (void)tree::TreeOf(united.dictionary, kMetrics, mapped).value();
  });
  Measure("encode", [&] {
    FIELDCOST_CHECK(tree::EncodeTree(tree::DecodeTree(sum).value()).size() == sum.size());
  });
  Measure("decode", [&] { (void)tree::DecodeTree(sum).value(); });
}
