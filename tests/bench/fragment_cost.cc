// Size of published rows, and the time for decoding them. Prints one line per set of rows:
//   NAME rows N buckets_per_row N bytes_per_row N bytes_per_api N   as fragments
//        stored_bytes_per_api N                                     as the catalogue stores them
//        encode_ns_per_row N decode_ns_per_row N look_up_ns N       CPU time, the best of several
//        runs
// look_up_ns is for decoding the rows of one API as stored. An API is one name; its versions are
// rows.
//   bench_fragment_cost FRAGMENT...   all rows of these files, together
//   bench_fragment_cost --made        synthetic rows of about 7 buckets: without classes, and with
//   a
//                                     total of four published classes, or of these and others

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "common/base/check.h"
#include "common/base/file.h"
#include "common/wire/fragment.h"

namespace {

using namespace fieldcost;
using Rows = std::vector<stats::StatRow>;

constexpr int kRuns = 9;
constexpr int kApis = 200;

double NowNs() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

double BestNs(const std::function<void()>& work) {
  double best = std::numeric_limits<double>::max();
  for (int i = 0; i < kRuns; ++i) {
    const double begin = NowNs();
    work();
    best = std::min(best, NowNs() - begin);
  }
  return best;
}

// The rows of each name.
std::vector<Rows> ByName(const std::vector<Rows>& fragments) {
  std::map<std::pair<std::string, std::string>, Rows> names;
  for (const Rows& rows : fragments) {
    for (const stats::StatRow& row : rows) {
      names[{row.key.api.soname, row.key.api.symbol}].push_back(row);
    }
  }
  std::vector<Rows> result;
  for (auto& [name, rows] : names) result.push_back(std::move(rows));
  return result;
}

void Report(const char* name, const std::vector<Rows>& fragments) {
  std::size_t rows = 0;
  std::size_t buckets = 0;
  for (const Rows& each : fragments) {
    rows += each.size();
    for (const stats::StatRow& row : each) buckets += row.histogram.used_count();
  }
  std::vector<std::string> encoded(fragments.size());
  const double encode_ns = BestNs([&] {
    for (std::size_t i = 0; i < fragments.size(); ++i) {
      encoded[i] = wire::EncodeFragment(fragments[i]).value();
    }
  });
  std::size_t bytes = 0;
  for (const std::string& each : encoded) bytes += each.size();
  const double decode_ns = BestNs([&] {
    for (const std::string& each : encoded) FIELDCOST_CHECK(wire::DecodeFragment(each).has_value());
  });
  std::vector<std::string> stored;
  std::size_t stored_bytes = 0;
  for (const Rows& each : ByName(fragments)) {
    stored.push_back(wire::EncodeFragment(each).value());
    stored_bytes += stored.back().size();
  }
  const double look_up_ns = BestNs([&] {
    for (const std::string& each : stored) FIELDCOST_CHECK(wire::DecodeFragment(each).has_value());
  });
  const auto per = [](auto total, std::size_t count) {
    return static_cast<double>(total) / static_cast<double>(count);
  };
  std::printf(
      "%s rows %zu buckets_per_row %.2f bytes_per_row %.1f bytes_per_api %.0f "
      "stored_bytes_per_api %.0f encode_ns_per_row %.0f decode_ns_per_row %.0f look_up_ns %.0f\n",
      name, rows, per(buckets, rows), per(bytes, rows), per(bytes, stored.size()),
      per(stored_bytes, stored.size()), per(encode_ns, rows), per(decode_ns, rows),
      per(look_up_ns, stored.size()));
}

void AddMachine(const stats::CostHistogram& calls, stats::StatRow& row) {
  row.histogram.Merge(calls);
  row.scalars.Merge(stats::ScalarsOf(calls));
  row.weights.Merge(stats::WeightsOf(calls));
  row.bounded.Merge(stats::BoundedSumsOf(calls));
  row.fullest_quarter = {.week = 2912, .scalars = row.scalars};
}

// A row for all classes, and `classes` published ones.
void AddGroup(const stats::RowKey& key, int classes, bool has_others, std::mt19937_64& random,
              Rows& rows) {
  stats::StatRow total{.key = key};
  Rows parts(static_cast<std::size_t>(classes));
  std::lognormal_distribution<double> cost(5 + static_cast<double>(random() % 7), 0.7);
  std::lognormal_distribution<double> between(0, 0.2);
  for (int machine = 0; machine < 40; ++machine) {
    stats::CostHistogram calls;
    const double factor = between(random);
    for (auto left = 20 + random() % 400; left > 0; --left) {
      calls.Add(static_cast<std::uint64_t>(cost(random) * factor));
    }
    AddMachine(calls, total);
    const std::size_t number = random() % (parts.size() + (has_others || parts.empty() ? 1 : 0));
    if (number < parts.size()) AddMachine(calls, parts[number]);
  }
  rows.push_back(total);
  for (int i = 0; i < classes; ++i) {
    stats::StatRow& part = parts[static_cast<std::size_t>(i)];
    part.key = key;
    part.key.hardware = {.architecture = "x86_64",
                         .cpu_family = "GenuineIntel-6",
                         .log2_cores = static_cast<std::uint32_t>(i),
                         .log2_memory_mib = 14,
                         .os_release = "debian-12"};
    rows.push_back(part);
  }
}

Rows MadeRows(int classes, bool has_others) {
  std::mt19937_64 random(11);
  Rows rows;
  for (int i = 0; i < kApis; ++i) {
    stats::RowKey key;
    key.api = {"libmade.so.1", "1.0", "00ff", "made_" + std::to_string(1000 + i), ""};
    for (const int metric : {1, 3}) {
      key.metric = static_cast<stats::Metric>(metric);
      AddGroup(key, classes, has_others, random, rows);
    }
  }
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--made") == 0) {
    Report("made_without_classes", {MadeRows(0, false)});
    Report("made_with_four_classes", {MadeRows(4, false)});
    Report("made_with_four_classes_and_others", {MadeRows(4, true)});
    return 0;
  }
  std::vector<Rows> fragments;
  for (int i = 1; i < argc; ++i) {
    const std::string bytes = ReadFile(argv[i], wire::kMaxFragmentBytes).value();
    fragments.push_back(wire::DecodeFragment(bytes).value());
  }
  Report("read", fragments);
  return 0;
}
