// Devices of a team for the load test of fieldcost-probe-server (probe_load.py):
//   bench_probe_load prepare DATABASE DEVICES         adds users and devices; prints their tokens
//   bench_probe_load send URL CA_FILE EVENTS THREADS  reads tokens; each device sends its events
// Like fieldcostd, a device keeps unacknowledged batches and sends them again until they are
// acknowledged.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "aggregator/probe_server/accounts/devices.h"
#include "aggregator/probe_server/accounts/users.h"
#include "aggregator/probe_server/data/data.h"
#include "common/http/client.h"
#include "common/probe/event_batch.h"
#include "common/probe/probe_limits.h"

namespace fieldcost::bench {
namespace {

namespace server = probe_server;

constexpr std::size_t kSteps = 20;
constexpr std::size_t kEventsOfBatch = 25;
constexpr std::uint64_t kDevicesOfUser = 250;
constexpr std::uint64_t kStartNs = 1'795'392'000'000'000'000;
constexpr std::chrono::milliseconds kPause{200};

Status Prepare(const char* file, std::uint64_t devices) {
  FIELDCOST_ASSIGN(const auto data, server::Data::Open(file, sqlite::Database::Access::kCreate));
  FIELDCOST_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::Begin(data->database()));
  const WallTime now = SystemClock().Now();
  server::UserId user;
  for (std::uint64_t i = 0; i < devices; ++i) {
    if (i % kDevicesOfUser == 0) {
      const std::string name = fmt::format("user{}", i / kDevicesOfUser);
      FIELDCOST_ASSIGN(user, server::AddUser(data->database(), name, "none", now));
    }
    FIELDCOST_ASSIGN(const server::NewDevice device,
                     server::AddDevice(data->database(), user, fmt::format("device{}", i), now));
    fmt::print("{}\n", device.token);
  }
  return transaction.Commit();
}

// One run of a program with `events` events of 20 steps; every fourth point has a stack.
probe::Batch MakeBatch(std::uint64_t sequence, std::size_t events, std::mt19937_64& random) {
  probe::Batch batch;
  batch.sequence = sequence;
  const std::uint64_t run = random() | 1;
  batch.runs = {{.id = run,
                 .session = run,
                 .program = "editor",
                 .build = fmt::format("1.{}", sequence),
                 .tags = {sequence % 2 == 0 ? "cold" : "warm"},
                 .start_ns = kStartNs}};
  for (std::uint32_t i = 0; i <= kSteps; ++i) {
    batch.sites.push_back({.label = i == 0 ? "index_open" : fmt::format("step {}", i),
                           .function = fmt::format("Editor::Step{}", i),
                           .file = "src/editor.cc",
                           .line = i + 1});
    batch.frames.push_back({.function = fmt::format("Editor::Step{}", i),
                            .module = "editor",
                            .file = "src/editor.cc",
                            .line = i + 1});
  }
  for (std::uint32_t i = 0; i <= kSteps; ++i) batch.stacks.push_back({.frames = {i, 0}});
  std::uint64_t hit = 0;
  for (std::size_t number = 1; number <= events; ++number) {
    const probe::EventId id{run, number};
    std::uint64_t ns = kStartNs + (random() % 3'600'000'000'000) + number;
    probe::EventInfo info{.id = id, .run = 0, .label = "index_open", .begin_ns = ns};
    for (std::uint32_t i = 0; i <= kSteps; ++i) {
      batch.hits.push_back({.event = id,
                            .run = 0,
                            .site = i,
                            .stack = i % 4 == 0 ? i : probe::kNoStack,
                            .kind = i == 0        ? probe::HitKind::kBegin
                                    : i == kSteps ? probe::HitKind::kEnd
                                                  : probe::HitKind::kPoint,
                            .ns = ns,
                            .thread = static_cast<std::uint32_t>(1 + number % 4),
                            .sequence = ++hit});
      info.end_ns = ns;
      ns += 1'000'000 + random() % 500'000;
    }
    batch.events.push_back(std::move(info));
  }
  return batch;
}

struct Parcel {
  std::size_t device;
  std::string body;
};

struct Totals {
  std::atomic<std::size_t> next{0};
  std::atomic<std::uint64_t> duplicates{0};
  std::atomic<std::uint64_t> retries{0};
  std::atomic<std::uint64_t> refusals{0};
};

// Sends the parcel until it is acknowledged.
void Deliver(http::Client& client, const std::string& token, const Parcel& parcel, Totals& totals) {
  const http::Request request{.method = "POST",
                              .target = "/v1/probes",
                              .headers = {{"Authorization", "Bearer " + token}},
                              .body = parcel.body};
  for (;;) {
    const auto response = client.Send(request);
    if (response && response->status == 200) {
      if (response->body.find("\"duplicate\":true") != std::string::npos) ++totals.duplicates;
      return;
    }
    if (response && response->status != 503) {
      ++totals.refusals;
      fmt::print(stderr, "refused: {} {}\n", response->status, response->body);
      return;
    }
    ++totals.retries;
    std::this_thread::sleep_for(kPause);
  }
}

void Work(const http::ClientOptions& options, const std::vector<std::string>& tokens,
          const std::vector<Parcel>& parcels, Totals& totals) {
  auto client = http::Client::Create(options);
  if (!client) std::abort();
  for (;;) {
    const std::size_t i = totals.next++;
    if (i >= parcels.size()) return;
    Deliver(*client, tokens[parcels[i].device], parcels[i], totals);
  }
}

int Send(const http::ClientOptions& options, std::size_t events, unsigned threads) {
  std::vector<std::string> tokens;
  for (std::string line; std::getline(std::cin, line);) tokens.push_back(line);
  std::vector<Parcel> parcels;
  std::mt19937_64 random(1);
  for (std::size_t sent = 0, sequence = 1; sent < events; sent += kEventsOfBatch, ++sequence) {
    for (std::size_t device = 0; device < tokens.size(); ++device) {
      const auto body =
          probe::EncodeBatch(MakeBatch(sequence, std::min(kEventsOfBatch, events - sent), random));
      if (!body) {
        fmt::print(stderr, "{}\n", body.error().message);
        return 1;
      }
      parcels.push_back({device, *body});
    }
  }
  std::size_t bytes = 0;
  for (const Parcel& parcel : parcels) bytes += parcel.body.size();
  fmt::print("ready\n");
  std::fflush(stdout);
  const auto start = std::chrono::steady_clock::now();
  Totals totals;
  std::vector<std::thread> workers;
  for (unsigned i = 0; i < threads; ++i) {
    workers.emplace_back([&] { Work(options, tokens, parcels, totals); });
  }
  for (std::thread& worker : workers) worker.join();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  fmt::print(
      "{{\"seconds\": {:.3f}, \"batches\": {}, \"bytes\": {}, \"steps\": {}, \"duplicates\": {}, "
      "\"retries\": {}, \"refusals\": {}}}\n",
      took.count(), parcels.size(), bytes, tokens.size() * events * (kSteps + 1),
      totals.duplicates.load(), totals.retries.load(), totals.refusals.load());
  return totals.refusals == 0 ? 0 : 1;
}

int Main(const std::vector<std::string>& arguments) {
  if (arguments.size() == 3 && arguments[0] == "prepare") {
    const Status status = Prepare(arguments[1].c_str(), std::stoull(arguments[2]));
    if (status) return 0;
    fmt::print(stderr, "{}\n", status.error().message);
    return 1;
  }
  if (arguments.size() == 5 && arguments[0] == "send") {
    return Send({.url = arguments[1], .ca_file = arguments[2]}, std::stoull(arguments[3]),
                static_cast<unsigned>(std::stoul(arguments[4])));
  }
  fmt::print(stderr, "usage: see the source\n");
  return 64;
}

}  // namespace
}  // namespace fieldcost::bench

int main(int argument_count, char** arguments) {
  return fieldcost::bench::Main(
      std::vector<std::string>(arguments + 1, arguments + argument_count));
}
