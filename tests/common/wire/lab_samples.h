#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/wire/lab_table.h"

namespace fieldcost::wire {

// Builds a lab table as a measurement does: APIs by short names, "sqlite3_step", of one
// library; but "poll" is the C library's.
class LabTableBuilder {
 public:
  // One run of the scenario in which the API's calls took so long (ns).
  LabTableBuilder& Run(const std::string& symbol, const std::vector<std::uint64_t>& costs_ns);
  // The first of these calls was the process's first.
  LabTableBuilder& FirstCall(const std::string& symbol, std::uint64_t cost_ns);
  LabTableBuilder& Row(const std::string& symbol, stats::Metric metric,
                       const std::vector<std::uint64_t>& values);
  // A call's cost and the value of an argument of it.
  LabTableBuilder& Input(const std::string& symbol, unsigned argument, std::uint64_t input,
                         std::uint64_t cost_ns);
  // A stack, its outermost API first.
  LabTableBuilder& Stack(const std::vector<std::string>& symbols, std::uint64_t calls,
                         std::uint64_t bytes);
  // What its calls come to in a run. By default calls that the stacks have, in each run.
  LabTableBuilder& Total(const std::string& symbol, stats::Metric metric, std::uint64_t least,
                         std::uint64_t most);
  // The API as the table will have it, to be changed.
  LabApi& Api(const std::string& symbol);

  // With one part, under its content's hash.
  LabTable Table(const std::string& name = "sqlite3 :memory:") const;

  std::string soname = "libsqlite3.so.0";
  stats::HardwareClass hardware{.architecture = "x86_64",
                                .cpu_family = "GenuineIntel-6",
                                .log2_cores = 1,
                                .log2_memory_mib = 14,
                                .os_release = "debian-12"};

 private:
  stats::ApiKey KeyOf(const std::string& symbol) const;
  stats::StatRow& RowOf(const std::string& symbol, stats::Metric metric);

  std::vector<LabApi> apis_;  // in order of first use, as the stacks' numbers are
  std::vector<stats::StatRow> rows_;
  std::vector<LabStack> stacks_;
};

// The worked example of common/wire/USER_FILES.md, which the golden files hold.
LabTable SampleLabTable();

// An API of each shape, in five runs: names say which ("grows", "bimodal", "heavy", "constant",
// "start_up", "few"); "poll" waits, "own" is the user's, "_ZN4Json6Reader5parseEv" C++.
LabTable ShapesLabTable();
// Costs are `factor` times those, but for noise; `seed` makes another one.
LabTable ShapesLabTable(double factor, std::uint64_t seed);

// Some of a few APIs, with numbers made of the seed; no two seeds make the same.
LabTable RandomLabTable(std::uint64_t seed);

}  // namespace fieldcost::wire
