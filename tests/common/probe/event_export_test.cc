#include "common/probe/event_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "common/base/file.h"
#include "common/base/units.h"
#include "common/sqlite/sqlite.h"
#include "tests/common/probe/sample_batch.h"
#include "tests/common/probe/some_events.h"

namespace fieldcost::probe {
namespace {

namespace json = boost::json;

using namespace std::string_literals;

// The events that a store returns for a batch, oldest first.
std::vector<Event> EventsOf(const std::vector<Batch>& batches) {
  auto database = *sqlite::Database::Open(":memory:", sqlite::Database::Access::kCreate);
  EventStore store = *EventStore::Create(database);
  for (const Batch& batch : batches) {
    auto transaction = *sqlite::Transaction::Begin(database);
    EXPECT_TRUE(store.Add(batch, 0));
    EXPECT_TRUE(transaction.Commit());
  }
  std::vector<Event> events;
  const EventPage page = *store.List({}, {}, 10'000);
  for (const EventRow& row : page.events) {
    events.insert(events.begin(), *store.Get(row.key()));
  }
  return events;
}

// After an intended change: run once with FIELDCOST_WRITE_GOLDEN=1, review the diff.
void ExpectGolden(const std::string& name, const std::string& text) {
  const std::string path = std::string(FIELDCOST_GOLDEN_DIR) + "/" + name;
  if (std::getenv("FIELDCOST_WRITE_GOLDEN") != nullptr) {
    ASSERT_TRUE(WriteFileAtomically(path, text, 0644));
  }
  const auto golden = ReadFile(path, kMiB);
  ASSERT_TRUE(golden.has_value()) << golden.error().message;
  EXPECT_EQ(text, *golden);
}

std::uint64_t Number(const json::value& text) { return std::stoull(text.as_string().c_str()); }

// The spans of all resources.
std::vector<json::object> SpansOf(const std::string& otlp) {
  std::vector<json::object> spans;
  const json::value request = json::parse(otlp);
  for (const json::value& resource : request.at("resourceSpans").as_array()) {
    for (const json::value& scope : resource.at("scopeSpans").as_array()) {
      for (const json::value& span : scope.at("spans").as_array())
        spans.push_back(span.as_object());
    }
  }
  return spans;
}

std::uint64_t LengthOf(const json::object& span) {
  return Number(span.at("endTimeUnixNano")) - Number(span.at("startTimeUnixNano"));
}

// The exact value in ns; a double could not represent it.
std::uint64_t Ns(const json::value& us) {
  return static_cast<std::uint64_t>(std::llround(us.to_number<double>() * 1000));
}

TEST(OtlpTest, TheSampleIsTheGoldenFile) {
  ExpectGolden("sample.otlp.json", ToOtlpJson(EventsOf({SampleBatch()})));
  EXPECT_EQ(ToOtlpJson({}), "{\"resourceSpans\":[]}\n");
}

TEST(ChromeTest, TheSampleIsTheGoldenFile) {
  ExpectGolden("sample.chrome.json", ToChromeJson(EventsOf({SampleBatch()})));
  EXPECT_EQ(ToChromeJson({}),
            "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"begin_unix_ns\":\"0\"},"
            "\"traceEvents\":[]}\n");
}

TEST(ExportTest, DistinguishesEventsOfTwoOwnersWithOneId) {
  std::vector<Event> events = EventsOf({SampleBatch()});
  const std::size_t alone = SpansOf(ToOtlpJson(events)).size();
  for (Event other : std::vector<Event>(events)) {
    other.row.owner = 2;
    other.row.program = "other";
    for (EventHit& hit : other.hits) hit.program = "other";
    events.push_back(std::move(other));
  }
  const std::string otlp = ToOtlpJson(events);
  std::set<std::string> ids;
  for (const json::object& span : SpansOf(otlp)) {
    ids.insert(std::string(span.at("spanId").as_string()));
  }
  EXPECT_EQ(ids.size(), 2 * alone);
  EXPECT_THAT(otlp,
              ::testing::AllOf(::testing::HasSubstr("editor"), ::testing::HasSubstr("other")));
  const auto processes = [](const std::string& chrome) {
    std::set<std::int64_t> found;
    const json::value trace = json::parse(chrome);
    for (const json::value& entry : trace.at("traceEvents").as_array()) {
      found.insert(entry.at("pid").as_int64());
    }
    return found.size();
  };
  EXPECT_EQ(processes(ToChromeJson(events)),
            2 * processes(ToChromeJson(EventsOf({SampleBatch()}))));
}

TEST(OtlpTest, StepsAddUpToEachEventToTheNanosecond) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 20; ++round) {
    const std::vector<Event> events = EventsOf({RandomBatch(random), RandomBatch(random)});
    std::map<std::string, std::uint64_t> sums;  // by trace
    std::set<std::string> ids;
    std::map<std::string, std::size_t> roots;
    std::map<std::string, std::set<std::string>> spans_of;
    std::map<std::string, std::uint64_t> hits;
    const std::vector<json::object> spans = SpansOf(ToOtlpJson(events));
    for (const json::object& span : spans) {
      const std::string trace(span.at("traceId").as_string());
      EXPECT_TRUE(spans_of[trace].insert(std::string(span.at("spanId").as_string())).second);
      EXPECT_LE(Number(span.at("startTimeUnixNano")), Number(span.at("endTimeUnixNano")));
      const json::array& attributes =
          span.contains("attributes") ? span.at("attributes").as_array() : json::array();
      const bool is_step = std::ranges::any_of(attributes, [](const json::value& attribute) {
        return attribute.at("key") == "thread.id";
      });
      if (is_step) sums[trace] += LengthOf(span);
      if (span.contains("events")) hits[trace] += span.at("events").as_array().size();
    }
    for (const json::object& span : spans) {  // each is below one of its trace, or the root
      const std::string trace(span.at("traceId").as_string());
      const auto* const parent = span.if_contains("parentSpanId");
      const bool is_below =
          parent != nullptr && spans_of[trace].contains(std::string(parent->as_string()));
      if (!is_below) ++roots[trace];
    }
    for (const Event& event : events) {
      const std::string trace = event.row.id.Hex();
      EXPECT_EQ(roots[trace], 1u);
      EXPECT_EQ(hits[trace], event.hits.size());
      if (!event.hits.empty()) {
        EXPECT_EQ(sums[trace], event.hits.back().ns - event.hits.front().ns);
      }
    }
  }
}

TEST(ChromeTest, StepsAddUpToEachEventToTheNanosecondAndNoTwoOverlapOnALine) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 20; ++round) {
    const std::vector<Event> events = EventsOf({RandomBatch(random), RandomBatch(random)});
    const json::value trace = json::parse(ToChromeJson(events));
    const std::uint64_t begin = Number(trace.at("otherData").at("begin_unix_ns"));
    std::map<std::string, std::uint64_t> sums;
    std::map<std::string, std::size_t> hits;
    std::map<std::pair<std::int64_t, std::int64_t>, std::uint64_t> reached;
    for (const json::value& each : trace.at("traceEvents").as_array()) {
      const std::string phase(each.at("ph").as_string());
      if (phase == "M") continue;
      const std::string id(each.at("args").at("event").as_string());
      if (phase == "i") {
        ++hits[id];
        continue;
      }
      ASSERT_EQ(phase, "X");
      std::uint64_t& line = reached[{each.at("pid").as_int64(), each.at("tid").as_int64()}];
      EXPECT_GE(Ns(each.at("ts")), line);
      line = Ns(each.at("ts")) + Ns(each.at("dur"));
      if (each.at("cat") == "step") sums[id] += Ns(each.at("dur"));
    }
    for (const Event& event : events) {
      const std::string id = event.row.id.Hex();
      EXPECT_EQ(hits[id], event.hits.size());
      if (event.hits.empty()) continue;
      EXPECT_EQ(sums[id], event.hits.back().ns - event.hits.front().ns);
      EXPECT_GE(event.hits.front().ns, begin);
    }
  }
}

TEST(OtlpTest, AnEventThatBeganElsewhereIsBelowWhatItsFirstJoinBrought) {
  const std::vector<json::object> spans = SpansOf(ToOtlpJson(EventsOf({SampleBatch()})));
  const auto root = std::ranges::find_if(spans, [](const json::object& span) {
    return span.at("traceId") == "00000000000011110000000000002222" && span.at("name") == "event";
  });
  ASSERT_NE(root, spans.end());
  EXPECT_EQ(root->at("parentSpanId"), "0000000000000099");
}

TEST(OtlpTest, AValueThatTheirIntegersDoNotHoldIsAText) {
  std::vector<Event> events = {EventOfSteps(1, {5})};
  events[0].hits[1].value = ~std::uint64_t{0};
  EXPECT_THAT(
      ToOtlpJson(events),
      ::testing::HasSubstr(R"("fieldcost.value","value":{"stringValue":"18446744073709551615"})"));
  events[0].hits[1].value = 7;
  EXPECT_THAT(ToOtlpJson(events),
              ::testing::HasSubstr(R"("fieldcost.value","value":{"intValue":"7"})"));
}

TEST(ExportTest, EscapesTextAndReplacesInvalidUtf8) {
  const std::string hostile = "\"}],\n\x1b[31m</script>\\\x00\xff\xc3"s + "é";
  Event event = EventOfSteps(1, {5, 6});
  event.row.label = event.row.program = event.row.build = hostile;
  event.row.tags = {hostile};
  for (EventHit& hit : event.hits) {
    hit.site = {hostile, hostile, hostile, 3};
    hit.program = hostile;
    hit.stack = {{hostile, hostile, hostile, 4}};
    hit.has_stack = true;
  }
  const std::vector<Event> events = {event};
  for (const std::string& text : {ToOtlpJson(events), ToChromeJson(events)}) {
    std::error_code wrong;
    const json::value parsed = json::parse(text, wrong);
    EXPECT_FALSE(wrong) << wrong.message();
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_EQ(text.find('\xff'), std::string::npos);
    EXPECT_EQ(text.find('\n'), text.size() - 1);
  }
}

}  // namespace
}  // namespace fieldcost::probe
