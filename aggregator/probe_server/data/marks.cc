#include "aggregator/probe_server/data/marks.h"

#include <algorithm>

#include "aggregator/probe_server/data/judged.h"
#include "common/base/check.h"
#include "common/base/clean_text.h"
#include "common/base/clock.h"

namespace fieldcost::probe_server {
namespace {

Status Note(Data& data, const Actor& actor, std::string_view what, std::string_view event,
            std::string_view reason, WallTime now) {
  return data.database()
      .Prepare("INSERT INTO action (time, user, what, event, reason) VALUES (?, ?, ?, ?, ?)")
      .Int(MicrosOf(now))
      .Int(actor.user.value())
      .Text(what)
      .Text(event)
      .Text(reason)
      .Run();
}

bool MayChange(const Actor& actor, const probe::EventRow& row) {
  return !actor.is_device || row.owner == actor.user.value();
}

std::string_view NameOf(probe::Mark mark) {
  switch (mark) {
    case probe::Mark::kSetAside:
      return "set aside";
    case probe::Mark::kKept:
      return "kept";
    case probe::Mark::kNone:
      break;
  }
  return "mark removed";
}

}  // namespace

Status MarkEvent(Data& data, const Actor& actor, const probe::EventKey& event, probe::Mark mark,
                 std::string_view untrusted_reason, WallTime now) {
  FIELDCOST_CHECK(data.database().InTransaction());
  FIELDCOST_ASSIGN(const probe::EventRow row, data.events().Row(event));
  if (!MayChange(actor, row)) {
    return Fail(ErrorCode::kPermissionDenied, "mark event {}: it is another user's", event.Text());
  }
  const std::string reason = CleanText(untrusted_reason, kMaxReasonBytes);
  FIELDCOST_TRY(data.events().SetMark(event, mark, reason));
  return Note(data, actor, NameOf(mark), event.Text(), reason, now);
}

Result<std::uint64_t> PurgeEvents(Data& data, const Actor& actor,
                                  const std::vector<probe::EventKey>& events, WallTime now) {
  FIELDCOST_CHECK(data.database().InTransaction());
  std::vector<probe::EventRow> rows;
  for (const probe::EventKey& event : events) {
    auto row = data.events().Row(event);
    if (!row && row.error().code == ErrorCode::kNotFound) continue;
    if (!row) return row.error();
    if (!MayChange(actor, *row)) {
      return Fail(ErrorCode::kPermissionDenied, "purge event {}: it is another user's",
                  event.Text());
    }
    rows.push_back(std::move(*row));
  }
  FIELDCOST_ASSIGN(const std::vector<probe::Judgement> verdicts, JudgeRows(data.events(), rows));
  std::vector<probe::EventKey> gone;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (verdicts[i].IsSetAside()) gone.push_back(rows[i].key());
  }
  for (const probe::EventKey& event : gone) {
    FIELDCOST_TRY(Note(data, actor, "purged", event.Text(), "", now));
  }
  return data.events().Remove(gone);
}

}  // namespace fieldcost::probe_server
