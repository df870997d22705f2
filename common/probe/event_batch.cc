// The body in which batches are sent (probe.proto, README.md):
//
//   body  := zstd frame of a message Batch     ; at most 256 KiB, decompressed at most 2 MiB
//   Batch := tables of runs, sites, frames, stacks and events; hits as columns that refer to them
//            by index, with times and sequences as differences to the previous hit
#include "common/probe/event_batch.h"

#include <map>

#include "common/probe/probe_batch.pb.h"
#include "common/probe/probe_limits.h"
#include "common/wire/wire_message.h"
#include "common/wire/zstd_frame.h"

namespace fieldcost::probe {
namespace {

constexpr int kCompressionLevel = 6;
constexpr wire::DecompressionLimits kLimits = {.max_compressed_bytes = kMaxBatchBodyBytes,
                                               .max_decoded_bytes = kMaxBatchDecodedBytes};
enum EventFlag : std::uint32_t { kIncomplete = 1, kSuspended = 2 };
enum HitExtra : std::uint32_t { kHasValue = 1, kHasParent = 2 };

void WriteTables(const Batch& batch, proto::Batch& message) {
  for (const Run& run : batch.runs) {
    proto::Run& out = *message.add_runs();
    out.set_id(run.id);
    out.set_session(run.session);
    out.set_program(run.program);
    out.set_build(run.build);
    for (const std::string& tag : run.tags) out.add_tags(tag);
    out.set_start_ns(run.start_ns);
    out.set_disk_read_bytes(run.disk_read_bytes);
    out.set_lost_hits(run.lost_hits);
    out.set_waited_ns(run.waited_ns);
    out.set_observed_ns(run.observed_ns);
  }
  for (const Site& site : batch.sites) {
    proto::Site& out = *message.add_sites();
    out.set_label(site.label);
    out.set_function(site.function);
    out.set_file(site.file);
    out.set_line(site.line);
    out.set_kind(static_cast<std::uint32_t>(site.kind));
  }
  for (const Frame& frame : batch.frames) {
    proto::Frame& out = *message.add_frames();
    out.set_function(frame.function);
    out.set_module(frame.module);
    out.set_file(frame.file);
    out.set_line(frame.line);
  }
  for (const Stack& stack : batch.stacks) {
    proto::Stack& out = *message.add_stacks();
    out.mutable_frames()->Add(stack.frames.begin(), stack.frames.end());
    out.set_is_cut(stack.is_cut);
  }
}

void WriteEvents(const Batch& batch, proto::Batch& message,
                 std::map<EventId, std::uint32_t>& index) {
  for (const EventInfo& event : batch.events) {
    index.emplace(event.id, static_cast<std::uint32_t>(index.size()));
    proto::Event& out = *message.add_events();
    out.set_id_run(event.id.run);
    out.set_id_number(event.id.number);
    out.set_run(event.run);
    out.set_label(event.label);
    out.set_begin_ns(event.begin_ns);
    out.set_end_ns(event.end_ns);
    out.set_flags((event.is_incomplete ? kIncomplete : 0U) |
                  (event.is_suspended ? kSuspended : 0U));
  }
}

void WriteHits(const Batch& batch, const std::map<EventId, std::uint32_t>& events,
               proto::Hits& out) {
  std::uint64_t ns = 0;
  std::uint64_t sequence = 0;
  for (const Hit& hit : batch.hits) {
    out.add_event(events.at(hit.event));
    out.add_run(hit.run);
    out.add_site(hit.site);
    out.add_stack(hit.stack == kNoStack ? 0 : hit.stack + 1);
    out.add_kind(static_cast<std::uint32_t>(hit.kind));
    out.add_ns(static_cast<std::int64_t>(hit.ns - ns));
    out.add_thread(hit.thread);
    out.add_sequence(static_cast<std::int64_t>(hit.sequence - sequence));
    out.add_extra((hit.value ? kHasValue : 0U) | (hit.parent != 0 ? kHasParent : 0U));
    if (hit.value) out.add_value(*hit.value);
    if (hit.parent != 0) out.add_parent(hit.parent);
    ns = hit.ns;
    sequence = hit.sequence;
  }
}

// Checked before anything is copied, so that a small body cannot cause large allocations.
bool IsWithinLimits(const proto::Batch& message) {
  const auto is_at_most = [](int count, std::size_t most) {
    return static_cast<std::size_t>(count) <= most;
  };
  return is_at_most(message.runs_size(), kMaxRuns) && is_at_most(message.sites_size(), kMaxSites) &&
         is_at_most(message.frames_size(), kMaxFrames) &&
         is_at_most(message.stacks_size(), kMaxStacks) &&
         is_at_most(message.events_size(), kMaxEvents) &&
         is_at_most(message.hits().event_size(), kMaxHits);
}

void ReadTables(const proto::Batch& message, Batch& untrusted_batch) {
  for (const proto::Run& run : message.runs()) {
    untrusted_batch.runs.push_back({.id = run.id(),
                                    .session = run.session(),
                                    .program = run.program(),
                                    .build = run.build(),
                                    .tags = {run.tags().begin(), run.tags().end()},
                                    .start_ns = run.start_ns(),
                                    .disk_read_bytes = run.disk_read_bytes(),
                                    .lost_hits = run.lost_hits(),
                                    .waited_ns = run.waited_ns(),
                                    .observed_ns = run.observed_ns()});
  }
  for (const proto::Site& site : message.sites()) {
    untrusted_batch.sites.push_back({.label = site.label(),
                                     .function = site.function(),
                                     .file = site.file(),
                                     .line = site.line(),
                                     .kind = static_cast<SiteKind>(site.kind() & 0xff)});
  }
  for (const proto::Frame& frame : message.frames()) {
    untrusted_batch.frames.push_back({.function = frame.function(),
                                      .module = frame.module(),
                                      .file = frame.file(),
                                      .line = frame.line()});
  }
  for (const proto::Stack& stack : message.stacks()) {
    untrusted_batch.stacks.push_back(
        {.frames = {stack.frames().begin(), stack.frames().end()}, .is_cut = stack.is_cut()});
  }
  for (const proto::Event& event : message.events()) {
    untrusted_batch.events.push_back({.id = {event.id_run(), event.id_number()},
                                      .run = event.run(),
                                      .label = event.label(),
                                      .begin_ns = event.begin_ns(),
                                      .end_ns = event.end_ns(),
                                      .is_incomplete = (event.flags() & kIncomplete) != 0,
                                      .is_suspended = (event.flags() & kSuspended) != 0});
  }
}

Error NotHits(const char* why) {
  return Fail(ErrorCode::kCorrupt, "the batch's hits are inconsistent: {}", why);
}

Status ReadHits(const proto::Hits& hits, Batch& untrusted_batch) {
  const int count = hits.event_size();
  for (const int size :
       {hits.run_size(), hits.site_size(), hits.stack_size(), hits.kind_size(), hits.ns_size(),
        hits.thread_size(), hits.sequence_size(), hits.extra_size()}) {
    if (size != count) return NotHits("columns have different lengths");
  }
  int values = 0;
  int parents = 0;
  std::uint64_t ns = 0;
  std::uint64_t sequence = 0;
  for (int i = 0; i < count; ++i) {
    if (hits.event(i) >= untrusted_batch.events.size())
      return NotHits("an event is not in the batch");
    ns += static_cast<std::uint64_t>(hits.ns(i));
    sequence += static_cast<std::uint64_t>(hits.sequence(i));
    Hit& hit = untrusted_batch.hits.emplace_back();
    hit = {.event = untrusted_batch.events[hits.event(i)].id,
           .run = hits.run(i),
           .site = hits.site(i),
           .stack = hits.stack(i) == 0 ? kNoStack : hits.stack(i) - 1,
           .kind = static_cast<HitKind>(hits.kind(i) & 0xff),
           .ns = ns,
           .thread = hits.thread(i),
           .sequence = sequence};
    if ((hits.extra(i) & kHasValue) != 0) {
      if (values == hits.value_size()) return NotHits("values are missing");
      hit.value = hits.value(values++);
    }
    if ((hits.extra(i) & kHasParent) != 0) {
      if (parents == hits.parent_size()) return NotHits("parents are missing");
      hit.parent = hits.parent(parents++);
    }
  }
  if (values != hits.value_size() || parents != hits.parent_size()) {
    return NotHits("there are more values or parents than hits with one");
  }
  return {};
}

}  // namespace

Result<std::string> EncodeBatch(const Batch& batch) {
  FIELDCOST_TRY(CheckBatch(batch));
  proto::Batch message;
  message.set_format_version(kBatchFormatVersion);
  message.set_sequence(batch.sequence);
  WriteTables(batch, message);
  std::map<EventId, std::uint32_t> events;
  WriteEvents(batch, message, events);
  WriteHits(batch, events, *message.mutable_hits());
  const std::string bytes = wire::SerializeMessage(message);
  if (bytes.size() > kMaxBatchDecodedBytes) {
    return Fail(ErrorCode::kTooLarge,
                "encode a batch of probe points: {} bytes, at most {} are accepted", bytes.size(),
                kMaxBatchDecodedBytes);
  }
  FIELDCOST_ASSIGN(std::string body, wire::Compress(bytes, kCompressionLevel));
  if (body.size() > kMaxBatchBodyBytes) {
    return Fail(ErrorCode::kTooLarge,
                "encode a batch of probe points: {} bytes compressed, at most {} are accepted",
                body.size(), kMaxBatchBodyBytes);
  }
  return body;
}

Result<Batch> DecodeBatch(std::string_view untrusted_body) {
  wire::Decompressor decompressor;
  FIELDCOST_ASSIGN(const std::string_view bytes, decompressor.Decompress(untrusted_body, kLimits));
  proto::Batch message;
  FIELDCOST_TRY(wire::ParseMessage(bytes, message));
  if (message.format_version() != kBatchFormatVersion) {
    return Fail(ErrorCode::kUnsupported,
                "a batch of probe points has format {}, this program reads {}",
                message.format_version(), kBatchFormatVersion);
  }
  if (!IsWithinLimits(message)) {
    return Fail(ErrorCode::kTooLarge, "the batch has more entries than are allowed");
  }
  Batch untrusted_batch;
  untrusted_batch.sequence = message.sequence();
  ReadTables(message, untrusted_batch);
  FIELDCOST_TRY(ReadHits(message.hits(), untrusted_batch));
  FIELDCOST_TRY(CheckBatch(untrusted_batch));
  return untrusted_batch;
}

}  // namespace fieldcost::probe
