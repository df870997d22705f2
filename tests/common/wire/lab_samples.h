#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/wire/lab_table.h"

namespace fieldcost::wire {

// Builds a lab table as a measurement does. APIs have short names ("sqlite3_step") and belong to
// one library, except "poll", which belongs to the C library.
class LabTableBuilder {
 public:
  // Adds one run of the scenario in which the API's calls had these durations (ns).
  LabTableBuilder& Run(const std::string& symbol, const std::vector<std::uint64_t>& costs_ns);
  // The first of these calls was the process's first one.
  LabTableBuilder& FirstCall(const std::string& symbol, std::uint64_t cost_ns);
  LabTableBuilder& Row(const std::string& symbol, stats::Metric metric,
                       const std::vector<std::uint64_t>& values);
  // A call's cost and the value of one of its arguments.
  LabTableBuilder& Input(const std::string& symbol, unsigned argument, std::uint64_t input,
                         std::uint64_t cost_ns);
  // A stack, outermost API first.
  LabTableBuilder& Stack(const std::vector<std::string>& symbols, std::uint64_t calls,
                         std::uint64_t bytes);
  // The totals of an API's calls in a run. By default every run has the calls of the stacks.
  LabTableBuilder& Total(const std::string& symbol, stats::Metric metric, std::uint64_t least,
                         std::uint64_t most);
  // The API as it will be in the table; may be modified.
  LabApi& Api(const std::string& symbol);

  // The table with one part, named by the hash of its content.
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

  std::vector<LabApi> apis_;  // in order of first use, like the numbers in stacks
  std::vector<stats::StatRow> rows_;
  std::vector<LabStack> stacks_;
};

// The worked example of common/wire/USER_FILES.md and of the golden files.
LabTable SampleLabTable();

// One API of each shape, in five runs: names state the shape ("grows", "bimodal", "heavy",
// "constant", "start_up", "few"); "poll" waits, "own" belongs to the user,
// "_ZN4Json6Reader5parseEv" is C++.
LabTable ShapesLabTable();
// Costs are multiplied by `factor`; `seed` selects the noise.
LabTable ShapesLabTable(double factor, std::uint64_t seed);

// A few APIs with numbers derived from the seed; different seeds give different tables.
LabTable RandomLabTable(std::uint64_t seed);

}  // namespace fieldcost::wire
