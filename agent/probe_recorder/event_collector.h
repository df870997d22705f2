#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include "agent/probe/probe_plan.h"
#include "agent/probe/probe_session.h"
#include "agent/probe/spool.h"
#include "agent/probe_recorder/run_batch.h"
#include "agent/probe_recorder/stack_namer.h"
#include "agent/probe_recorder/unreached.h"
#include "agent/settings/paths.h"

namespace fieldcost::probe {

// Empties the rings of a session's programs into the spool. A hit's space is freed only once the
// hit and the ring's read position are in the database, so that no hit is lost or duplicated
// whenever this process is killed. Not thread-safe.
class Collector {
 public:
  struct Options {
    std::size_t batch_bytes = 128 * 1024;  // a batch is stored once it has reached this size
    std::chrono::seconds batch_age{60};    // or this age
  };

  // REQUIRES: all arguments outlive this.
  Collector(const settings::AgentPaths& paths, Session& session, Spool& spool, StackNamer& namer,
            Options options);
  ~Collector();

  struct Report {
    std::uint64_t hits = 0;  // in all looks so far
    std::uint64_t runs = 0;
    std::uint64_t refused = 0;  // files that could not be parsed
    std::uint64_t lost = 0;     // hits that were not stored, for any reason
    std::uint64_t written = 0;  // bytes in the fullest ring since the previous look
    bool has_programs = false;  // some are still running
  };
  // Reads the rings of all programs once. Unless `all` is set, incomplete batches are not stored
  // yet.
  Result<Report> Look(bool all);

  // The named points seen in programs that have ended or were read with `all`.
  const SeenPoints& seen_points() const { return seen_; }

 private:
  struct Program;
  Status OpenNew();
  Status LookAt(Program& program, bool all);
  Status ReadRings(Program& program);
  Status Keep(Program& program);
  Status Finish(Program& program);
  Result<Spool::Destination> DestinationNow() const;
  void NotePoints(const RingFile& file);

  const settings::AgentPaths& paths_;
  Session& session_;
  Spool& spool_;
  StackNamer& namer_;
  Options options_;
  PlanFacts plan_;
  bool has_plan_ = false;
  Report report_;
  SeenPoints seen_;
  std::map<std::filesystem::path, std::unique_ptr<Program>> programs_;
};

}  // namespace fieldcost::probe
