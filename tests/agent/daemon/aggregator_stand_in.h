#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/http/server.h"
#include "common/wire/batch.h"
#include "tests/support/certificates.h"

namespace fieldcost::testing {

// A real HTTPS server on loopback that answers batches, enrolments and withdrawals as the
// aggregator would, except where told otherwise. Checks every signature. Counts a batch once,
// however often it comes. Publishes nothing. Thread-safe.
class AggregatorStandIn {
 public:
  // An answer other than the usual one, to the next request that has none yet.
  struct Scripted {
    int status = 200;
    http::Headers headers;
    std::string body;
    bool never = false;    // no answer at all
    bool counted = false;  // the batch is counted all the same: the answer is lost on its way
  };

  explicit AggregatorStandIn(const std::filesystem::path& directory);
  ~AggregatorStandIn();

  std::string url() const;
  const Certificates& certificates() const { return certificates_; }
  void Script(Scripted answer);
  // Batches of agents that have not enrolled with this token are turned away.
  void RequireToken(std::string token);
  // Called before an enrolment is answered.
  void WhileEnrolling(std::function<void()> action);
  // Appends "agent epoch sequence sha256" to this file for each batch that it takes, before it
  // answers. REQUIRES: called before the first request.
  void RecordTo(const std::filesystem::path& file) { record_.emplace(file); }

  // Bodies counted, in order of agent, epoch and sequence.
  std::vector<std::string> bodies() const;
  std::vector<std::uint64_t> sequences() const;
  std::uint64_t requests() const;
  std::uint64_t enrolments() const;   // that were granted
  std::uint64_t withdrawals() const;  // of batches that had come, each once
  // (agent, epoch) of the batches counted.
  std::set<std::pair<std::string, std::string>> agents() const;
  std::uint64_t bad_requests() const;  // wrong signature, target, header or another body for a
                                       // sequence that has come before
  // All counted rows, decoded; those of one metric; and the sum of their counts.
  std::vector<wire::UntrustedRow> Rows() const;
  std::vector<wire::UntrustedRow> Rows(stats::Metric metric) const;
  std::uint64_t Calls(stats::Metric metric) const;

 private:
  using BatchId = std::tuple<std::string, std::string, std::uint64_t>;
  void Answer(http::Request request, const http::Respond& respond);
  void Enrol(const http::Request& request, const http::Respond& respond);
  void Withdraw(const BatchId& id, const http::Request& request, const http::Respond& respond);
  bool IsGenuine(const http::Request& request) const;

  Certificates certificates_;
  std::filesystem::path root_file_;  // what its user has pinned
  mutable std::mutex mutex_;
  std::deque<Scripted> script_;
  std::map<BatchId, std::string> ledger_;
  std::map<BatchId, std::uint32_t> withdrawn_;  // rows
  std::optional<std::string> token_;
  std::optional<std::ofstream> record_;
  std::function<void()> while_enrolling_;
  std::set<std::string> enrolled_;
  std::uint64_t withdrawals_ = 0;
  std::uint64_t requests_ = 0;
  std::uint64_t bad_requests_ = 0;
  std::unique_ptr<http::Server> server_;
};

}  // namespace fieldcost::testing
