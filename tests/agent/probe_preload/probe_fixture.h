#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "agent/probe/probe_plan.h"
#include "agent/probe/ring_reader.h"
#include "agent/runs/tsc_calibration.h"
#include "common/base/clock.h"
#include "tests/support/binary_dir.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::probe {

inline const std::string kVictims = FIELDCOST_BINARY_DIR "/victims/";
inline const std::string kProbed = kVictims + "probed";
inline const std::string kProbeLibrary = FIELDCOST_BINARY_DIR "/lib/libfieldcost_probe.so";

// A hit with its site and a copy of its stack.
struct SeenHit {
  RingHit hit;
  RingSite site;
  std::optional<shm::ProbeRegisters> registers;
  std::vector<std::uint64_t> stack;
};

struct SeenRun {
  RunFacts facts;
  std::vector<SeenHit> hits;  // ring by ring
  std::vector<RingModule> modules;
  bool is_living = false;

  std::vector<std::string> Labels() const {
    std::vector<std::string> labels;
    for (const SeenHit& hit : hits) labels.push_back(hit.site.label);
    return labels;
  }
  // Covers only hits of the event itself.
  std::vector<std::string> LabelsOf(const shm::ProbeEventId& event) const {
    std::vector<std::string> labels;
    for (const SeenHit& hit : hits) {
      if (hit.hit.event.run == event.run && hit.hit.event.number == event.number) {
        labels.push_back(hit.site.label);
      }
    }
    return labels;
  }
  // The number of addresses in the module whose path has this suffix.
  std::size_t CountIn(const std::string& module_end,
                      const std::vector<std::uint64_t>& addresses) const {
    std::size_t count = 0;
    for (const RingModule& module : modules) {
      if (!module.path.ends_with(module_end)) continue;
      for (const std::uint64_t address : addresses) {
        if (address >= module.begin && address < module.end) ++count;
      }
    }
    return count;
  }
  const SeenHit* Find(const std::string& label) const {
    for (const SeenHit& hit : hits) {
      if (hit.site.label == label) return &hit;
    }
    return nullptr;
  }
  std::vector<std::uint64_t> ValuesOf(const std::string& label) const {
    std::vector<std::uint64_t> values;
    for (const SeenHit& hit : hits) {
      if (hit.site.label == label && hit.hit.value) values.push_back(*hit.hit.value);
    }
    return values;
  }
};

// Runs victims in their own session.
class ProbeTest : public ::testing::Test {
 protected:
  // No automatic points except the process's start, which is always recorded.
  PlanOptions Nothing() const {
    static const std::uint64_t multiplier = runs::CalibrateTsc();
    return {.library = kProbeLibrary,
            .points = {.automatic = 0},
            .session = 77,
            .tsc_to_ns_multiplier = multiplier};
  }
  PlanOptions Everything() const {
    PlanOptions options = Nothing();
    options.points.automatic = shm::kProbeAllAutomatic;
    return options;
  }

  Variables Prepared(const PlanOptions& options) {
    const auto variables = WritePlan(directory_.path(), options);
    EXPECT_TRUE(variables) << variables.error().message;
    return variables ? *variables : Variables{};
  }

  // Runs it with and without the library; checks that output and exit status are the same.
  std::vector<SeenRun> Probed(const std::vector<std::string>& command, const PlanOptions& options) {
    const auto plain = testing::RunProcess({.arguments = command});
    const auto probed =
        testing::RunProcess({.arguments = command, .environment = Prepared(options)});
    EXPECT_EQ(probed.output, plain.output);
    EXPECT_EQ(probed.errors, plain.errors);
    EXPECT_EQ(probed.exit_status, plain.exit_status);
    EXPECT_EQ(probed.signal, plain.signal);
    return Runs();
  }
  SeenRun OnlyRun(const std::vector<std::string>& command, const PlanOptions& options) {
    std::vector<SeenRun> runs = Probed(command, options);
    EXPECT_EQ(runs.size(), 1U);
    return runs.size() == 1 ? std::move(runs[0]) : SeenRun{};
  }

  // The runs left in the directory, ordered by the programs' start.
  std::vector<SeenRun> Runs() {
    std::vector<SeenRun> runs;
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
      if (entry.path().extension() != shm::kProbeFileSuffix) continue;
      auto file = RingFile::Open(entry.path());
      EXPECT_TRUE(file) << file.error().message;
      if (file) runs.push_back(ReadAll(*file));
    }
    std::sort(runs.begin(), runs.end(), [](const SeenRun& a, const SeenRun& b) {
      return a.facts.start_ticks < b.facts.start_ticks;
    });
    return runs;
  }

  static SeenRun ReadAll(RingFile& file) {
    SeenRun run;
    run.is_living = file.IsBeingWritten();
    EXPECT_TRUE(file.Refresh());
    run.facts = file.facts();
    run.modules = file.Modules();
    for (std::size_t ring = 0; ring < shm::kProbeRings; ++ring) {
      const auto progress = file.Read(ring, file.tail(ring), 1 << 20, [&](const RingHit& hit) {
        SeenHit seen{.hit = hit};
        if (hit.registers != nullptr) seen.registers = *hit.registers;
        seen.stack.assign(hit.stack.begin(), hit.stack.end());
        if (auto site = file.Site(hit.site)) seen.site = *site;
        run.hits.push_back(std::move(seen));
      });
      EXPECT_TRUE(progress) << progress.error().message;
      if (progress) {
        EXPECT_TRUE(progress->at_end);
      }
    }
    return run;
  }

  testing::TempDir directory_{testing::kMemory};
};

}  // namespace fieldcost::probe
