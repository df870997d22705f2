#include "aggregator/admin/metrics.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "common/serve/process_facts.h"

namespace fieldcost::admin {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

struct Label {
  std::string_view name;
  std::string_view value;
};

double Seconds(std::chrono::microseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

class Families {
 public:
  void Counter(std::string name, std::string help, double value) {
    Begin(std::move(name), std::move(help), MetricType::Counter);
    Add(value);
  }
  void Gauge(std::string name, std::string help, double value) {
    Begin(std::move(name), std::move(help), MetricType::Gauge);
    Add(value);
  }
  void Begin(std::string name, std::string help, MetricType type) {
    families_.push_back({.name = std::move(name), .help = std::move(help), .type = type});
  }
  // Adds a value to the family that was started last.
  void Add(double value, const std::vector<Label>& labels = {}) {
    ClientMetric metric;
    for (const Label& label : labels) {
      metric.label.push_back({std::string(label.name), std::string(label.value)});
    }
    metric.counter.value = metric.gauge.value = value;
    families_.back().metric.push_back(std::move(metric));
  }
  void Add(const Latency& latency) {
    ClientMetric metric;
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < Latency::kBounds.size(); ++i) {
      count += latency.Count(i);
      metric.histogram.bucket.push_back({count, Latency::kBounds[i]});
    }
    metric.histogram.sample_count = count + latency.Count(Latency::kBounds.size());
    metric.histogram.sample_sum = latency.SumSeconds();
    families_.back().metric.push_back(std::move(metric));
  }
  std::string Text() const { return prometheus::TextSerializer().Serialize(families_); }

 private:
  std::vector<MetricFamily> families_;
};

template <typename Number>
double Value(Number number) {
  return static_cast<double>(number);
}

void AddIngest(const ingest::Counters& counters, Families& families) {
  for (const ingest::CounterInfo& info : ingest::AllCounters()) {
    if (info.refusal) continue;
    families.Counter("fieldcost_ingest_" + std::string(info.name) + "_total",
                     std::string(info.help) + ".", Value((counters.*info.value).load()));
  }
  families.Begin("fieldcost_ingest_refusals_total",
                 "Requests of agents that were refused, by reason.", MetricType::Counter);
  for (const ingest::CounterInfo& info : ingest::AllCounters()) {
    if (info.refusal) families.Add(Value((counters.*info.value).load()), {{"reason", info.name}});
  }
}

void AddServer(const http::ServerCounters& server, Families& families) {
  families.Counter("fieldcost_http_connections_total", "Connections that were accepted.",
                   Value(server.connections));
  families.Gauge("fieldcost_http_open_connections", "Connections now.",
                 Value(server.open_connections));
  families.Counter("fieldcost_http_requests_total", "Requests that passed the front door.",
                   Value(server.requests));
  families.Begin("fieldcost_http_refusals_total",
                 "Connections and requests turned away at the front door, by reason.",
                 MetricType::Counter);
  families.Add(Value(server.handshake_failures), {{"reason", "handshake"}});
  families.Add(Value(server.refused_heads), {{"reason", "malformed"}});
  families.Add(Value(server.deadlines), {{"reason", "too_slow"}});
  families.Add(Value(server.over_capacity), {{"reason", "over_capacity"}});
  families.Add(Value(server.over_address_limit), {{"reason", "over_address_limit"}});
  families.Add(Value(server.evicted), {{"reason", "silent_in_full_house"}});
}

void AddStore(const store::StoreGauges& store, Families& families) {
  families.Gauge("fieldcost_store_sequence",
                 "Batches taken and withdrawn in the store's whole life.", Value(store.sequence));
  families.Gauge("fieldcost_store_dirty_rows", "Rows in memory that the next checkpoint writes.",
                 Value(store.dirty_rows));
  families.Gauge("fieldcost_store_dirty_bytes", "Memory of these rows.", Value(store.dirty_bytes));
  families.Counter("fieldcost_store_checkpoints_total", "Checkpoints.", Value(store.checkpoints));
  families.Counter("fieldcost_store_checkpoint_seconds_total", "Time that checkpoints took.",
                   Value(store.checkpoint_microseconds) * 1e-6);
  families.Gauge("fieldcost_store_held_batches", "Batches of new agents kept aside.",
                 Value(store.held_batches));
  families.Gauge("fieldcost_store_held_bytes", "The room that they take.", Value(store.held_bytes));
  families.Gauge("fieldcost_store_held_honest_bytes",
                 "Of it, that of agents which sent nothing implausible.",
                 Value(store.honest_held_bytes));
  families.Gauge("fieldcost_store_held_room_bytes", "The room for them, ingest.held_mib.",
                 Value(store.held_room_bytes));
  families.Counter("fieldcost_store_evicted_batches_total",
                   "Batches of new agents that were dropped to make room for others.",
                   Value(store.evicted_batches));
  families.Gauge("fieldcost_store_kept_bytes",
                 "Batches as they came, kept until none of their quarter is taken, estimated.",
                 Value(store.kept_bytes));
  families.Gauge("fieldcost_store_damages", "Damaged places in the store that were met or found.",
                 Value(store.damages));
}

// Adds the metrics of a task, named `prefix` plus a suffix.
void AddTask(const std::string& prefix, const std::string& what, const TaskState& task,
             Families& families) {
  families.Counter(prefix + "_runs_total", what + " that succeeded.", Value(task.successes));
  families.Counter(prefix + "_failures_total", what + " that failed.", Value(task.failures));
  if (!task.last_success) return;
  families.Gauge(prefix + "_last_success_timestamp_seconds", "When the last of them ended.",
                 Seconds(task.last_success->time_since_epoch()));
  families.Gauge(prefix + "_last_duration_seconds", "How long it took.",
                 Seconds(task.last_duration));
}

void AddPublication(const PublicationState& publication, Families& families) {
  AddTask("fieldcost_publication", "Publications", publication.task, families);
  if (!publication.task.last_success) return;
  families.Gauge("fieldcost_publication_version", "The version that is published.",
                 Value(publication.version));
  families.Gauge("fieldcost_publication_rows", "Rows in it.", Value(publication.rows));
  families.Gauge("fieldcost_publication_withheld_rows", "Rows with too few contributions for it.",
                 Value(publication.withheld));
  families.Gauge("fieldcost_publication_crowded_out_rows",
                 "Rows that their fragment had no room for.", Value(publication.crowded_out));
  families.Gauge("fieldcost_publication_fragments", "Files that they are in.",
                 Value(publication.fragments));
}

void AddProcess(Families& families) {
  const serve::ProcessFacts facts = serve::ReadProcessFacts();
  families.Counter("process_cpu_seconds_total", "Time on CPUs, of user and system.",
                   facts.cpu_seconds);
  families.Gauge("process_resident_memory_bytes", "Resident memory.", Value(facts.resident_bytes));
  families.Gauge("process_virtual_memory_bytes", "Virtual memory.", Value(facts.virtual_bytes));
  families.Gauge("process_open_fds", "Open file descriptors.", Value(facts.open_fds));
  families.Gauge("process_max_fds", "Limit of open file descriptors.", Value(facts.max_fds));
  families.Gauge("process_start_time_seconds", "When the process started, in Unix time.",
                 facts.start_seconds);
}

void AddService(const ServiceState& state, Families& families) {
  families.Begin("fieldcost_build_info", "Always 1; the label is the program's version.",
                 MetricType::Gauge);
  families.Add(1, {{"version", state.version}});
  families.Gauge("fieldcost_ready", "1 if batches are accepted, like /readyz.",
                 state.ready ? 1 : 0);
  if (state.free_bytes) {
    families.Gauge("fieldcost_disk_free_bytes", "Room on the disk of the data directory.",
                   Value(*state.free_bytes));
  }
  if (state.certificate_expiry) {
    families.Gauge("fieldcost_certificate_expiry_timestamp_seconds",
                   "When the certificate in force ends, in Unix time.",
                   Value(state.certificate_expiry->time_since_epoch().count()));
  }
  if (state.server) {
    families.Gauge("fieldcost_offline_keys_present",
                   "Files in keys/ with root or policy keys, which the service does not need.",
                   Value(state.offline_keys));
  }
  families.Counter("fieldcost_certificate_reload_failures_total",
                   "Times a changed certificate could not be used.",
                   Value(state.certificate_failures));
}

void AddBatchLatency(const Latency& latency, Families& families) {
  families.Begin("fieldcost_batch_duration_seconds",
                 "From a batch's last byte to its answer, waiting and disk included.",
                 MetricType::Histogram);
  families.Add(latency);
}

void AddScrub(const ScrubState& scrub, Families& families) {
  AddTask("fieldcost_scrub", "Times that all files of the store were read", scrub.rounds, families);
  families.Counter("fieldcost_scrub_bytes_total", "Bytes of the store's files read by the scrub.",
                   Value(scrub.bytes));
}

}  // namespace

std::string RenderMetrics(const ServiceState& state) {
  Families families;
  AddService(state, families);
  if (state.ingest != nullptr) AddIngest(*state.ingest, families);
  if (state.batch_latency != nullptr) AddBatchLatency(*state.batch_latency, families);
  if (state.server) AddServer(*state.server, families);
  if (state.store) AddStore(*state.store, families);
  if (state.stored_bytes) {
    families.Gauge("fieldcost_store_stored_bytes",
                   "What all files of the store take on the disk: tables, logs and others.",
                   Value(*state.stored_bytes));
  }
  if (state.publication) AddPublication(*state.publication, families);
  if (state.retention) {
    AddTask("fieldcost_retention", "Deletions of what is too old", *state.retention, families);
  }
  if (state.scrub) AddScrub(*state.scrub, families);
  if (state.damaged_files) {
    families.Gauge("fieldcost_damaged_files",
                   "Damaged files next to the store, in publish/ and keys/.",
                   Value(*state.damaged_files));
  }
  AddProcess(families);
  return families.Text();
}

}  // namespace fieldcost::admin
