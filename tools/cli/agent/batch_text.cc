#include "tools/cli/agent/batch_text.h"

#include <algorithm>

#include "common/base/text.h"
#include "common/draw/numbers.h"
#include "common/draw/text_table.h"
#include "tools/cli/agent/batch_row_text.h"

namespace fieldcost::cli {
namespace {

constexpr std::size_t kShortDigest = 12;
constexpr std::size_t kMaxReasonWidth = 60;
constexpr std::size_t kLeastNoteWidth = 12;

std::string OrDash(const std::string& text) { return text.empty() ? "-" : EscapeControl(text); }

std::string Batches(std::uint64_t count) { return Counted(count, "batch", "batches"); }
std::string Rows(std::uint64_t count) { return Counted(count, "row"); }

// For people, followed by the form in which it is sent.
std::string HardwareLine(const stats::HardwareClass& hardware) {
  return fmt::format("{} ({})", draw::HardwareText(hardware), stats::DisplayName(hardware));
}

std::string ContentText(const wire::BatchContent& content, const draw::Style& style) {
  std::string text =
      fmt::format("policy version {}\nhardware       {}\n\n", content.field_policy_version,
                  EscapeControl(HardwareLine(content.hardware)));
  for (const wire::BatchRow& row : content.rows) {
    text += fmt::format(
        "{}\n"
        "  exactly: {}  version {}  symbol version {}  build-id {}\n"
        "    {}  week {}  {}  n {}  sum {}  sum of squares {}\n",
        RowSentence(row, style), EscapeControl(stats::DisplayName(row.api)),
        OrDash(row.api.package_version), OrDash(row.api.symbol_version), OrDash(row.api.build_id),
        stats::Name(row.metric), row.week, row.first_contribution ? "first" : "again",
        row.histogram.count(), draw::Decimal(row.histogram.sum()),
        draw::Decimal(row.histogram.sum_of_squares()));
  }
  text +=
      "\nWeeks begin on Thursdays (UTC), counted from 1970-01-01; n is the number of values in a\n"
      "row's sum. Each row also holds n, sum and sum of squares of its log2 buckets: see --json.\n"
      "For the bytes themselves: --raw.\n";
  return text;
}

std::string TimeOrDash(WallTime time) { return time == WallTime{} ? "-" : draw::FormatTime(time); }

// When the batch was sent; empty for other states, in which it was not or no longer counts as sent.
std::string SentText(const spool::LoggedBatch& batch) {
  return batch.state == spool::SpoolState::kSent ? TimeOrDash(batch.sent) : "-";
}

std::string NoteText(const spool::LoggedBatch& batch) {
  std::string note;
  const auto add = [&note](const std::string& text) { note += (note.empty() ? "" : "; ") + text; };
  if (batch.rejected_rows != 0) add(Rows(batch.rejected_rows) + " refused");
  if (batch.state == spool::SpoolState::kWithdrawn && batch.sent != WallTime{}) {
    add(draw::FormatTime(batch.sent));
  }
  if (batch.state == spool::SpoolState::kSent && !batch.can_withdraw) add("bytes not kept");
  if (!batch.reason.empty()) add(draw::Shorten(batch.reason, kMaxReasonWidth, {}));
  return note;
}

}  // namespace

StateName NameOf(spool::SpoolState state) {
  switch (state) {
    case spool::SpoolState::kQueued:
      return {"queued", "queued"};
    case spool::SpoolState::kSent:
      return {"sent", "sent"};
    case spool::SpoolState::kQuarantined:
      return {"quarantined", "refused"};
    case spool::SpoolState::kWithdrawn:
      return {"withdrawn", "taken back"};
    case spool::SpoolState::kDropped:
      return {"dropped", "dropped"};
  }
  return {"unknown", "?"};
}

std::string PreviewText(const volunteer::BatchDetails& batch, const std::string& agent_public_key,
                        const draw::Style& style) {
  return fmt::format(
             "The next batch: {}, {} as sent.\n\n"
             "agent key      {}\nsequence       {}\n",
             Rows(batch.content.rows.size()), Counted(batch.raw.size(), "byte"),
             agent_public_key.empty() ? "made with the first batch" : agent_public_key,
             batch.sequence) +
         ContentText(batch.content, style);
}

std::string LoggedBatchText(const spool::LoggedBatch& logged, const volunteer::BatchDetails& batch,
                            const draw::Style& style) {
  std::string text = fmt::format(
      "Batch {}: {}, {} as sent.\n\n"
      "state          {}\nmade           {}\nsent           {}\nsha256         {}\n"
      "epoch          {}\nsequence       {}\n",
      logged.id, Rows(batch.content.rows.size()), Counted(batch.raw.size(), "byte"),
      NameOf(logged.state).phrase, TimeOrDash(logged.created), SentText(logged), logged.sha256,
      logged.epoch.value(), logged.sequence);
  const std::string note = NoteText(logged);
  if (!note.empty()) text += fmt::format("note           {}\n", note);
  return text + ContentText(batch.content, style);
}

std::string LogText(const std::vector<spool::LoggedBatch>& log, const draw::Style& style) {
  const std::vector<draw::TextColumn> columns = {{"ID", true},
                                                 {"MADE", false, 3},
                                                 {"SENT"},
                                                 {"STATE"},
                                                 {"ROWS", true},
                                                 {"BYTES", true, 1},
                                                 {"SHA256", false, 2},
                                                 {"NOTE", false, 0, kLeastNoteWidth}};
  std::vector<draw::TextLine> lines;
  for (const spool::LoggedBatch& batch : log) {
    lines.push_back({std::to_string(batch.id), TimeOrDash(batch.created), SentText(batch),
                     std::string(NameOf(batch.state).phrase), draw::FormatCount(batch.rows),
                     draw::FormatCount(batch.size_bytes), batch.sha256.substr(0, kShortDigest),
                     NoteText(batch)});
  }
  return draw::TextTable(columns, lines, style);
}

ForgetPlan MakeForgetPlan(const std::vector<spool::LoggedBatch>& log,
                          const volunteer::AgentStatus& status) {
  ForgetPlan plan{.pending_rows = status.outbox.pending_rows};
  for (const spool::LoggedBatch& batch : log) {
    if (batch.can_withdraw) {
      ++plan.sent;
      plan.sent_rows += batch.rows;
    } else if (batch.state == spool::SpoolState::kQueued) {
      ++plan.unsent;
    } else if (batch.state == spool::SpoolState::kSent) {
      ++plan.too_old;
    }
  }
  return plan;
}

std::string ForgetPlanText(const ForgetPlan& plan, const std::string& server) {
  std::string text = "This takes back what this agent has contributed:\n";
  if (plan.sent != 0) {
    text += fmt::format("  {} ({}) will be subtracted from the sums of {}\n", Batches(plan.sent),
                        Rows(plan.sent_rows), server.empty() ? "the service" : server);
  }
  if (plan.unsent != 0 || plan.pending_rows != 0) {
    text += fmt::format("  {} and {} not yet sent will be deleted\n", Batches(plan.unsent),
                        Rows(plan.pending_rows));
  }
  if (plan.too_old != 0) {
    text += fmt::format("  {} cannot be taken back: the bytes are no longer kept here\n",
                        Batches(plan.too_old));
  }
  return text +
         "Published numbers remain in other people's copies. The next publication omits yours, "
         "and each copy drops the old numbers with its next sync.\n"
         "What was measured stays on this machine; the mode does not change.\n";
}

std::string ForgetText(const upload::ForgetReport& report, const ForgetPlan& plan) {
  std::string text;
  const auto line = [&text](std::uint64_t count, const std::string& what) {
    if (count != 0) text += Batches(count) + what + "\n";
  };
  line(report.batches_withdrawn,
       fmt::format(" ({}) subtracted from the service's sums", Rows(report.rows_withdrawn)));
  line(report.batches_deleted, " deleted before being sent");
  if (plan.pending_rows != 0) {
    text += Rows(plan.pending_rows) + " deleted that were not in a batch yet\n";
  }
  line(report.batches_refused,
       fmt::format(" not taken back: {}", EscapeControl(report.refused_reason)));
  line(report.batches_too_old, " not taken back: the bytes are no longer kept here");
  line(report.batches_left, " left; run again to continue");
  return text.empty() ? "nothing to take back\n" : text;
}

}  // namespace fieldcost::cli
