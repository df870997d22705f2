// POST /v1/probes: accepts a batch from a device.
#include <memory>
#include <utility>

#include "aggregator/probe_server/web/guard.h"
#include "aggregator/probe_server/web/web_handlers.h"
#include "common/base/json_writer.h"
#include "common/crypto/sha256.h"
#include "common/http/answers.h"
#include "common/probe/event_batch.h"

namespace fieldcost::probe_server {
namespace {

constexpr int kInsufficientStorage = 507;

Result<Arrival> ReadArrival(const Visit& visit) {
  if (!visit.viewer->device) {
    return Fail(ErrorCode::kPermissionDenied,
                "batches are accepted from devices only, with their token");
  }
  const std::string& untrusted_body = visit.untrusted_request.body;
  FIELDCOST_ASSIGN(probe::Batch batch, probe::DecodeBatch(untrusted_body));
  return Arrival{.device = *visit.viewer->device,
                 .user = visit.viewer->user,
                 .body_hash = crypto::Sha256(untrusted_body),
                 .batch = std::move(batch)};
}

http::Response NoRoom(std::string_view message) {
  http::Response response =
      http::JsonError(kInsufficientStorage, Name(ErrorCode::kTooLarge), message);
  response.headers.emplace_back("Retry-After", "3600");
  return response;
}

void Refuse(const Visit& visit, const http::Respond& respond, http::Response response) {
  ++visit.site.counters.refused_batches;
  respond(Guarded(std::move(response)));
}

struct Acceptance {
  Arrival arrival;
  bool is_duplicate = false;
};

// The response to the device once the writer is done; also updates the counters.
http::Response AnswerTo(const Acceptance& work, const Status& status, SiteCounters& counters) {
  if (!status) {
    ++counters.refused_batches;
    return status.error().code == ErrorCode::kTooLarge ? NoRoom(status.error().message)
                                                       : http::ErrorAnswer(status.error());
  }
  ++(work.is_duplicate ? counters.duplicates : counters.batches);
  if (!work.is_duplicate) counters.points += work.arrival.batch.hits.size();
  JsonWriter answer;
  answer.Object().Member("sequence", work.arrival.batch.sequence);
  answer.Member("duplicate", work.is_duplicate).EndObject();
  return http::JsonAnswer(200, answer.TakeValue());
}

}  // namespace

void Ingest(const Visit& visit, const http::Respond& respond) {
  if (visit.site.is_disk_full()) {
    Refuse(visit, respond, NoRoom("the server's disk is full"));
    return;
  }
  auto read = ReadArrival(visit);
  if (!read) {
    Refuse(visit, respond, http::ErrorAnswer(read.error()));
    return;
  }
  auto work = std::make_shared<Acceptance>(Acceptance{.arrival = std::move(*read)});
  const SiteParts& site = visit.site;
  const bool taken = site.writer.Post(
      [work, &site](Data& data) -> Status {
        FIELDCOST_ASSIGN(work->is_duplicate,
                         AcceptBatch(data, work->arrival, site.quota, site.clock.Now()));
        return {};
      },
      [work, &site, respond](const Status& status) {
        respond(Guarded(AnswerTo(*work, status, site.counters)));
      });
  if (taken) return;
  ++site.counters.overloads;
  Refuse(visit, respond,
         http::ErrorAnswer(
             Fail(ErrorCode::kUnavailable, "too many writes are waiting; try again later")));
}

}  // namespace fieldcost::probe_server
