#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "agent/events/event_session.h"
#include "agent/events/event_tree.h"
#include "agent/runs/tsc_calibration.h"
#include "tests/support/binary_dir.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::events {

inline const std::string kVictims = FIELDCOST_BINARY_DIR "/victims/";
inline const std::string kTraced = kVictims + "traced";

// A path's cost, by metric name.
using Costs = std::map<std::string, std::uint64_t>;
// Keyed by "outer/inner"; the root is "".
using Tree = std::map<std::string, Costs>;

// Traces victims that this process starts.
class TraceTest : public ::testing::Test {
 protected:
  TraceOptions Functions() const {
    TraceOptions options = Nothing();
    options.functions = true;
    return options;
  }
  TraceOptions Nothing() const {
    static const std::uint64_t multiplier = runs::CalibrateTsc();
    return {.library = FIELDCOST_BINARY_DIR "/lib/libfieldcost_events.so",
            .arena_bytes = 16 << 20,
            .tsc_to_ns_multiplier = multiplier};
  }

  // Runs it with and without the library; checks that output and exit status are the same.
  Arenas Traced(const std::vector<std::string>& command, const TraceOptions& options) {
    const auto plain = testing::RunProcess({.arguments = command});
    const auto variables = Prepare(directory_.path(), options);
    EXPECT_TRUE(variables) << variables.error().message;
    if (!variables) return {};
    const auto traced = testing::RunProcess({.arguments = command, .environment = *variables});
    EXPECT_EQ(traced.output, plain.output);
    EXPECT_EQ(traced.errors, plain.errors);
    EXPECT_EQ(traced.exit_status, plain.exit_status);
    EXPECT_EQ(traced.signal, plain.signal);
    output_ = traced.output;
    auto taken = TakeArenas(directory_.path());
    EXPECT_TRUE(taken) << taken.error().message;
    if (!taken) return {};
    EXPECT_EQ(taken->refused, 0U);
    for (const Arena& arena : taken->arenas) {
      EXPECT_FALSE(arena.still_runs);
      if (has_whole_time_) ExpectWholeTime(arena);
    }
    return *std::move(taken);
  }

  // Checks that every tick from the first event to the last belongs to one node.
  static void ExpectWholeTime(const Arena& arena) {
    std::uint64_t of_nodes = 0;
    std::uint64_t of_threads = 0;
    for (const ArenaNode& node : arena.nodes) of_nodes += node.ticks;
    for (const ArenaThread& thread : arena.threads) of_threads += thread.ticks;
    if (arena.losses.clock_steps == 0) {
      EXPECT_EQ(of_nodes, of_threads);
    }
  }

  // Uses the function names that the victim printed, and the metrics that all arenas measured.
  Tree TreeOf(const std::vector<Arena>& arenas) const {
    tree::Dictionary dictionary;
    const std::vector<tree::Metric> metrics = EventMetrics();
    tree::RunValues all(metrics.size());
    std::vector<bool> measured(metrics.size(), true);
    for (const Arena& arena : arenas) {
      const auto values = EventValues(arena, Names(), dictionary);
      EXPECT_TRUE(values) << values.error().message;
      if (!values) return {};
      EXPECT_TRUE(all.Add(*values));
      for (std::size_t i = 0; i < metrics.size(); ++i) {
        measured[i] = measured[i] && IsMeasured(arena, i);
      }
    }
    Tree made;
    std::vector<std::string> names(dictionary.paths.size());
    for (std::uint32_t i = 0; i < names.size(); ++i) {
      const tree::PathId path(i);
      if (path != tree::kRootPath) {
        const std::string& outer = names[dictionary.paths.parent(path).value()];
        names[i] = outer + (outer.empty() ? "" : "/") + dictionary.frame(path).function;
      }
      for (std::size_t metric = 0; metric < metrics.size(); ++metric) {
        if (measured[metric]) made[names[i]][metrics[metric].name] = all.value(metric, path);
      }
    }
    return made;
  }
  Tree TracedTree(const std::vector<std::string>& command, const TraceOptions& options) {
    return TreeOf(Traced(command, options).arenas);
  }

  static std::map<std::string, std::uint64_t> Column(const Tree& tree, const std::string& metric) {
    std::map<std::string, std::uint64_t> column;
    for (const auto& [path, costs] : tree) {
      const auto found = costs.find(metric);
      if (found != costs.end() && found->second != 0) column[path] = found->second;
    }
    return column;
  }

  NameCode Names() const {
    std::map<std::uint64_t, std::string> names;
    std::istringstream lines(output_);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string at, name;
      std::uint64_t address = 0;
      if (words >> at >> name >> std::hex >> address && at == "at") names[address] = name;
    }
    return [names](const ArenaModule* module, std::uint64_t address) {
      const auto found =
          module == nullptr ? names.end() : names.find(module->VirtualAddressOf(address));
      return found == names.end() ? UnnamedCode(module, address)
                                  : tree::Frame{.module = "traced", .function = found->second};
    };
  }

  testing::TempDir directory_{testing::kMemory};
  std::string output_;
  bool has_whole_time_ = true;
};

}  // namespace fieldcost::events
