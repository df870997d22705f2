#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "agent/settings/paths.h"
#include "common/base/result.h"
#include "common/wire/policy.h"

namespace fieldcost::settings {

// A service that an installer's preset names. It is not contacted before the user has joined it.
struct Suggestion {
  std::string url;  // empty = none
  std::filesystem::path ca_file;
  std::string root_sha256;
  std::vector<std::string> catalog_urls;
  std::filesystem::path catalog_ca_file;
};

// The settings of an agent. Each of these files overrides those before it; every key is optional,
// and deploy/config/agent.toml lists them all:
//   /etc/fieldcost/agent.d/*.toml   presets of installers, ascending by name; their service is only
//                                   suggested
//   service.toml                    the service, written by `fieldcost agent join`
//   agent.toml                      the user's own
// A file that names another url does not inherit the ca_file, root_sha256 and mirrors of the
// previous one.
struct AgentConfig {
  // [aggregator]
  std::string url;                // empty = nothing is uploaded or synced
  std::filesystem::path ca_file;  // empty = system trust store
  std::string proxy;              // "http://host:port"; empty = use HTTPS_PROXY and NO_PROXY
  std::string root_sha256;        // the root that may be pinned for url, 64 hex digits; empty = any
  bool download_policy = true;    // follow the service's signed policy
  // [catalog]
  std::vector<std::string> catalog_urls;  // mirrors, tried in random order; empty = url
  std::filesystem::path catalog_ca_file;  // of the mirrors; empty = system trust store
  // [batch]
  std::uint64_t max_batch_bytes = 128 * 1024;
  std::uint64_t max_batch_age_hours = 24;
  // [selection]
  double selection_probability = 1.0 / 16;  // share of program runs that measure something
  std::uint64_t picks_per_run = 1;
  double alloc_probability = 0.5;   // share of measured runs that also measure allocation
  double io_probability = 0.1;      // share that measures only input and output
  double cycles_probability = 0.1;  // share that also counts cycles
  std::uint64_t max_programs = 6;   // measured at once; 0 = no limit, also in the next three
  std::uint64_t max_load_per_core_percent = 80;
  std::uint64_t max_cpu_pressure_percent = 20;
  double overhead_percent = 1.0;  // measuring overhead permitted, relative to a thread's CPU time
  std::uint64_t max_run_files = 64;
  std::uint64_t phase_minutes = 60;  // after which a program picks again; 0 = never
  std::uint64_t max_phases = 24;
  std::uint64_t sampling = 1;  // one call in this many is timed; a power of two
  bool data_slots = false;     // also measure calls through data slots
  // [modules]
  bool builtin_modules = true;             // whether the built-in public list is allowed
  std::vector<std::string> extra_modules;  // sonames allowed besides the public ones
  // [spool]
  std::uint64_t max_spool_bytes = 16 * 1024 * 1024;
  std::uint64_t max_spool_age_days = 21;            // older batches are dropped unsent and counted
  std::uint64_t max_sent_bytes = 64 * 1024 * 1024;  // sent batches kept, so they can be withdrawn
  // [upload]
  bool on_battery = false;  // also while running on battery
  bool on_metered = false;  // also over a metered connection

  Suggestion suggested;
  // The keys in the files, "table.key": decisions of the user or of an installer.
  std::set<std::string, std::less<>> written;
  // Settings that only the service's policy contains; set by ApplyPolicy() (field_policy.h).
  std::uint64_t field_policy_version = 0;          // 0 = none in force
  std::chrono::seconds min_upload_interval{3600};  // between two requests of this agent
  std::vector<wire::PolicyModule> policy_modules;  // replace the built-in list unless empty
  std::vector<wire::PolicyWeight> policy_weights;

  // Whether the catalogue can be synced.
  bool HasCatalogue() const { return !url.empty() || !catalog_urls.empty(); }
  // What a user without a service can do, as a clause: "join one with fieldcost agent join URL".
  std::string HowToJoin() const;

  // Reads all files; missing ones change nothing. kInvalidArgument with place and reason;
  // kPermissionDenied: another user than root and this one could change a preset. A preset cannot
  // name libraries to be sent (modules.extra_modules): only the user decides that.
  static Result<AgentConfig> Load(const AgentPaths& paths);
  // Reads one file; defaults if it does not exist.
  static Result<AgentConfig> Load(const std::filesystem::path& path);
};

}  // namespace fieldcost::settings
