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

#include "common/http/http_server.h"
#include "common/wire/batch.h"
#include "tests/support/certificates.h"

namespace fieldcost::testing {

// A real HTTPS server on loopback that answers batches, enrolments and withdrawals as the
// aggregator would, unless Script() sets another response. Checks every signature. Counts a batch
// once, however often it arrives. Publishes nothing. Thread-safe.
class AggregatorStandIn {
 public:
  // Replaces the usual response to the next request that has no scripted one yet.
  struct Scripted {
    int status = 200;
    http::Headers headers;
    std::string body;
    bool never = false;    // sends no response
    bool counted = false;  // counts the batch nevertheless: the response is lost
  };

  explicit AggregatorStandIn(const std::filesystem::path& directory);
  ~AggregatorStandIn();

  std::string url() const;
  const Certificates& certificates() const { return certificates_; }
  void Script(Scripted answer);
  // Rejects batches of agents that have not enrolled with this token.
  void RequireToken(std::string token);
  // Called before the response to an enrolment.
  void WhileEnrolling(std::function<void()> action);
  // Appends "agent epoch sequence sha256" to this file for each accepted batch, before the
  // response. REQUIRES: called before the first request.
  void RecordTo(const std::filesystem::path& file) { record_.emplace(file); }

  // The bodies of counted batches, ordered by agent, epoch and sequence.
  std::vector<std::string> bodies() const;
  std::vector<std::uint64_t> sequences() const;
  std::uint64_t requests() const;
  std::uint64_t enrolments() const;   // granted ones
  std::uint64_t withdrawals() const;  // of received batches, each once
  // (agent, epoch) of the counted batches.
  std::set<std::pair<std::string, std::string>> agents() const;
  std::uint64_t bad_requests() const;  // wrong signature, target, header or another body for a
                                       // sequence that was already used
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
  std::filesystem::path root_file_;  // pinned by the user
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
