#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include "agent/probe/plan.h"
#include "agent/probe/session.h"
#include "agent/probe/spool.h"
#include "agent/probe_recorder/run_batch.h"
#include "agent/probe_recorder/stack_namer.h"
#include "agent/probe_recorder/unreached.h"
#include "agent/settings/paths.h"

namespace fieldcost::probe {

// Empties the rings of a session's programs into the spool: a hit is given back to its program only
// once it is in the database, with the position up to which the ring has been read, so that none is
// lost or there twice wherever this is killed. Not thread-safe.
class Collector {
 public:
  struct Options {
    std::size_t batch_bytes = 128 * 1024;  // a batch is kept once it has so many,
    std::chrono::seconds batch_age{60};    // or is so old
  };

  // REQUIRES: all outlive this.
  Collector(const agent::AgentPaths& paths, Session& session, Spool& spool, StackNamer& namer,
            Options options);
  ~Collector();

  struct Report {
    std::uint64_t hits = 0;  // read, in all looks so far
    std::uint64_t runs = 0;
    std::uint64_t refused = 0;  // files that could not be understood
    std::uint64_t lost = 0;     // hits that were not kept, for whatever reason
    std::uint64_t written = 0;  // bytes in the fullest ring since the look before
    bool has_programs = false;  // some still run
  };
  // Looks at all programs once. What is read may wait for more before it is kept, unless `all`.
  Result<Report> Look(bool all);

  // What programs that are over, or were looked at with `all`, showed of named points.
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

  const agent::AgentPaths& paths_;
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
