#include "aggregator/admin/metrics.h"

#include <string>

#include "common/serve/metrics_text.h"

namespace fieldcost::admin {
namespace {

using serve::MetricsText;

double Seconds(std::chrono::microseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

void AddIngest(const ingest::Counters& counters, MetricsText& metrics) {
  for (const ingest::CounterInfo& info : ingest::AllCounters()) {
    if (info.refusal) continue;
    metrics.Counter("fieldcost_ingest_" + std::string(info.name) + "_total",
                    std::string(info.help) + ".", (counters.*info.value).load());
  }
  metrics.BeginCounters("fieldcost_ingest_refusals_total",
                        "Requests of agents that were refused, by reason.");
  for (const ingest::CounterInfo& info : ingest::AllCounters()) {
    if (info.refusal) metrics.Add((counters.*info.value).load(), {"reason", info.name});
  }
}

void AddServer(const http::ServerCounters& server, MetricsText& metrics) {
  metrics.Counter("fieldcost_http_connections_total", "Connections that were accepted.",
                  server.connections);
  metrics.Gauge("fieldcost_http_open_connections", "Connections now.", server.open_connections);
  metrics.Counter("fieldcost_http_requests_total", "Requests that passed the front door.",
                  server.requests);
  metrics.BeginCounters("fieldcost_http_refusals_total",
                        "Connections and requests turned away at the front door, by reason.");
  metrics.Add(server.handshake_failures, {"reason", "handshake"});
  metrics.Add(server.refused_heads, {"reason", "malformed"});
  metrics.Add(server.deadlines, {"reason", "too_slow"});
  metrics.Add(server.over_capacity, {"reason", "over_capacity"});
  metrics.Add(server.over_address_limit, {"reason", "over_address_limit"});
  metrics.Add(server.evicted, {"reason", "silent_in_full_house"});
}

void AddStore(const store::StoreGauges& store, MetricsText& metrics) {
  metrics.Gauge("fieldcost_store_sequence",
                "Batches taken and withdrawn in the store's whole life.", store.sequence);
  metrics.Gauge("fieldcost_store_dirty_rows", "Rows in memory that the next checkpoint writes.",
                store.dirty_rows);
  metrics.Gauge("fieldcost_store_dirty_bytes", "Memory of these rows.", store.dirty_bytes);
  metrics.Counter("fieldcost_store_checkpoints_total", "Checkpoints.", store.checkpoints);
  metrics.Counter("fieldcost_store_checkpoint_seconds_total", "Time that checkpoints took.",
                  static_cast<double>(store.checkpoint_microseconds) * 1e-6);
  metrics.Gauge("fieldcost_store_held_batches", "Batches of new agents kept aside.",
                store.held_batches);
  metrics.Gauge("fieldcost_store_held_bytes", "The room that they take.", store.held_bytes);
  metrics.Gauge("fieldcost_store_held_honest_bytes",
                "Of it, that of agents which sent nothing implausible.", store.honest_held_bytes);
  metrics.Gauge("fieldcost_store_held_room_bytes", "The room for them, ingest.held_mib.",
                store.held_room_bytes);
  metrics.Counter("fieldcost_store_evicted_batches_total",
                  "Batches of new agents that were dropped to make room for others.",
                  store.evicted_batches);
  metrics.Gauge("fieldcost_store_kept_bytes",
                "Batches as they came, kept until none of their quarter is taken, estimated.",
                store.kept_bytes);
  metrics.Gauge("fieldcost_store_damages", "Damaged places in the store that were met or found.",
                store.damages);
}

// Adds the metrics of a task, named `prefix` plus a suffix.
void AddTask(const std::string& prefix, const std::string& what, const aggregator::TaskState& task,
             MetricsText& metrics) {
  metrics.Counter(prefix + "_runs_total", what + " that succeeded.", task.successes);
  metrics.Counter(prefix + "_failures_total", what + " that failed.", task.failures);
  if (!task.last_success) return;
  metrics.Gauge(prefix + "_last_success_timestamp_seconds", "When the last of them ended.",
                Seconds(task.last_success->time_since_epoch()));
  metrics.Gauge(prefix + "_last_duration_seconds", "How long it took.",
                Seconds(task.last_duration));
}

void AddPublication(const PublicationState& publication, MetricsText& metrics) {
  AddTask("fieldcost_publication", "Publications", publication.task, metrics);
  if (!publication.task.last_success) return;
  metrics.Gauge("fieldcost_publication_version", "The version that is published.",
                publication.version);
  metrics.Gauge("fieldcost_publication_rows", "Rows in it.", publication.rows);
  metrics.Gauge("fieldcost_publication_withheld_rows", "Rows with too few contributions for it.",
                publication.withheld);
  metrics.Gauge("fieldcost_publication_crowded_out_rows",
                "Rows that their fragment had no room for.", publication.crowded_out);
  metrics.Gauge("fieldcost_publication_fragments", "Files that they are in.",
                publication.fragments);
}

void AddService(const ServiceState& state, MetricsText& metrics) {
  metrics.BeginGauges("fieldcost_build_info", "Always 1; the label is the program's version.");
  metrics.Add(1, {"version", state.version});
  metrics.Gauge("fieldcost_ready", "1 if batches are accepted, like /readyz.", state.ready ? 1 : 0);
  if (state.free_bytes) {
    metrics.Gauge("fieldcost_disk_free_bytes", "Room on the disk of the data directory.",
                  *state.free_bytes);
  }
  if (state.certificate_expiry) {
    metrics.Gauge("fieldcost_certificate_expiry_timestamp_seconds",
                  "When the certificate in force ends, in Unix time.",
                  state.certificate_expiry->time_since_epoch().count());
  }
  if (state.server) {
    metrics.Gauge("fieldcost_offline_keys_present",
                  "Files in keys/ with root or policy keys, which the service does not need.",
                  state.offline_keys);
  }
  metrics.Counter("fieldcost_certificate_reload_failures_total",
                  "Times a changed certificate could not be used.", state.certificate_failures);
}

void AddBatchLatency(const Latency& latency, MetricsText& metrics) {
  metrics.Histogram("fieldcost_batch_duration_seconds",
                    "From a batch's last byte to its answer, waiting and disk included.",
                    Latency::kBounds, latency.Counts(), latency.SumSeconds());
}

void AddBatchStages(const BatchStageLatency& stages, MetricsText& metrics) {
  metrics.BeginHistograms(
      "fieldcost_batch_stage_duration_seconds",
      "Time of each stage of a batch, from its first byte to its answer, by stage.");
  for (std::size_t i = 0; i < store::kBatchStages; ++i) {
    const auto stage = static_cast<store::BatchStage>(i);
    const StageLatency& latency = stages.of(stage);
    metrics.AddHistogram(StageLatency::kBounds, latency.Counts(), latency.SumSeconds(),
                         {"stage", store::Name(stage)});
  }
  metrics.Histogram("fieldcost_store_log_sync_duration_seconds",
                    "Time of each sync of the log; a part of the stage log of the batches in it.",
                    StageLatency::kBounds, stages.syncs().Counts(), stages.syncs().SumSeconds());
}

void AddScrub(const aggregator::ScrubState& scrub, MetricsText& metrics) {
  AddTask("fieldcost_scrub", "Times that all files of the store were read", scrub.rounds, metrics);
  metrics.Counter("fieldcost_scrub_bytes_total", "Bytes of the store's files read by the scrub.",
                  scrub.bytes);
}

}  // namespace

std::string RenderMetrics(const ServiceState& state) {
  MetricsText metrics;
  AddService(state, metrics);
  if (state.ingest != nullptr) AddIngest(*state.ingest, metrics);
  if (state.batch_latency != nullptr) AddBatchLatency(*state.batch_latency, metrics);
  if (state.batch_stages != nullptr) AddBatchStages(*state.batch_stages, metrics);
  if (state.server) AddServer(*state.server, metrics);
  if (state.store) AddStore(*state.store, metrics);
  if (state.stored_bytes) {
    metrics.Gauge("fieldcost_store_stored_bytes",
                  "What all files of the store take on the disk: tables, logs and others.",
                  *state.stored_bytes);
  }
  if (state.publication) AddPublication(*state.publication, metrics);
  if (state.retention) {
    AddTask("fieldcost_retention", "Deletions of what is too old", *state.retention, metrics);
  }
  if (state.scrub) AddScrub(*state.scrub, metrics);
  if (state.damaged_files) {
    metrics.Gauge("fieldcost_damaged_files",
                  "Damaged files next to the store, in publish/ and keys/.", *state.damaged_files);
  }
  serve::AddProcessMetrics(metrics);
  return metrics.Text();
}

}  // namespace fieldcost::admin
