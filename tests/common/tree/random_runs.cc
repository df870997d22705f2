#include "tests/common/tree/random_runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace fieldcost::tree {
namespace {

constexpr std::size_t kDeepest = 6;
constexpr std::uint64_t kFrames = 5;

bool GoesOnFrom(const Names& path, const Names& from) {
  return path.size() >= from.size() && std::equal(from.begin(), from.end(), path.begin());
}

Names RandomPath(std::mt19937_64& random) {
  Names path;
  for (std::size_t depth = random() % (kDeepest + 1); depth > 0; --depth) {
    path.push_back("f" + std::to_string(random() % kFrames));
  }
  return path;
}

Frame FrameOf(const std::string& name) { return {.module = "app", .function = name}; }

}  // namespace

std::uint64_t PlainRun::Self(const Names& path, std::size_t metric) const {
  const auto found = self.find(path);
  return found == self.end() ? 0 : found->second[metric];
}

std::uint64_t PlainRun::Inclusive(const Names& path, std::size_t metric) const {
  std::uint64_t sum = 0;
  for (const auto& [other, values] : self) {
    if (GoesOnFrom(other, path)) sum += values[metric];
  }
  return sum;
}

bool PlainRun::IsIn(const Names& path) const {
  return std::any_of(self.begin(), self.end(), [&](const auto& each) {
    return GoesOnFrom(each.first, path) && std::any_of(each.second.begin(), each.second.end(),
                                                       [](std::uint64_t value) { return value; });
  });
}

PlainRun RandomRun(std::mt19937_64& random, std::size_t metrics, std::size_t paths) {
  PlainRun run;
  for (std::size_t i = 0; i < paths; ++i) {
    std::vector<std::uint64_t> values;
    for (std::size_t metric = 0; metric < metrics; ++metric) {
      values.push_back(random() % 3 == 0 ? 0 : random() >> (24 + random() % 40));
    }
    run.self[RandomPath(random)] = values;
  }
  return run;
}

std::vector<Metric> SomeMetrics(std::size_t count) {
  std::vector<Metric> metrics;
  for (std::size_t i = 0; i < count; ++i) metrics.push_back({.name = "m" + std::to_string(i)});
  return metrics;
}

PathId Enter(Dictionary& dictionary, const Names& path) {
  PathId id = kRootPath;
  for (const std::string& name : path) {
    id = dictionary.paths.Intern(id, dictionary.frames.Intern(FrameOf(name)).value()).value();
  }
  return id;
}

std::optional<PathId> Find(const Dictionary& dictionary, const Names& path) {
  std::optional<PathId> id = kRootPath;
  for (const std::string& name : path) {
    const auto frame = dictionary.frames.Find(FrameOf(name));
    id = frame ? dictionary.paths.Find(*id, *frame) : std::nullopt;
    if (!id) return std::nullopt;
  }
  return id;
}

Names NamesOf(const Dictionary& dictionary, PathId path) {
  Names names;
  for (; path != kRootPath; path = dictionary.paths.parent(path)) {
    names.insert(names.begin(), dictionary.frame(path).function);
  }
  return names;
}

Tree TreeOfPlain(std::span<const PlainRun> runs, std::vector<Metric> metrics,
                 std::mt19937_64& random) {
  std::vector<Names> paths = AllPaths(runs);
  for (int i = 0; i < 5; ++i) paths.push_back(RandomPath(random));
  std::shuffle(paths.begin(), paths.end(), random);
  auto dictionary = std::make_shared<Dictionary>();
  for (const Names& path : paths) Enter(*dictionary, path);
  std::vector<RunValues> values;
  for (const PlainRun& run : runs) {
    RunValues& one = values.emplace_back(metrics.size());
    for (const auto& [path, self] : run.self) {
      for (std::size_t metric = 0; metric < metrics.size(); ++metric) {
        EXPECT_TRUE(one.Add(metric, *Find(*dictionary, path), self[metric]).has_value());
      }
    }
  }
  return TreeOf(std::move(dictionary), std::move(metrics), values).value();
}

std::vector<Names> AllPaths(std::span<const PlainRun> runs) {
  std::set<Names> all = {Names{}};
  for (const PlainRun& run : runs) {
    for (const auto& [path, values] : run.self) {
      for (std::size_t size = 0; size <= path.size(); ++size) {
        all.emplace(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(size));
      }
    }
  }
  return {all.begin(), all.end()};
}

}  // namespace fieldcost::tree
