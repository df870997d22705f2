// Reads speedscope's file format: frames that all profiles share; profiles of samples with weights,
// or of events that open and close frames. https://www.speedscope.app/file-format-schema.json
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tools/exchange/event_stacks.h"
#include "tools/exchange/exchange_numbers.h"
#include "tools/exchange/frame_text.h"
#include "tools/exchange/importers.h"
#include "tools/exchange/json_reader.h"

namespace fieldcost::exchange {
namespace {

constexpr std::uint64_t kMostIndex = UINT32_MAX;

struct FileFrame {
  std::string name;
  std::string file;
};

struct FileEvent {
  bool is_open = false;
  bool is_close = false;
  std::uint32_t frame = 0;
  std::string_view untrusted_at;
};

struct Profile {
  std::string type;
  std::string name;
  std::string unit;
  std::optional<std::string> metric;                // only in files that we write
  recording::Thread thread;                         // likewise
  std::vector<std::uint32_t> samples;               // frames of all stacks
  std::vector<std::size_t> ends;                    // of each stack in `samples`
  std::vector<std::string_view> untrusted_weights;  // references to the text
  std::vector<FileEvent> events;
};

class Speedscope : public JsonEvents {
 public:
  explicit Speedscope(Remarks& remarks) : remarks_(remarks) {}

  Status BeginObject() override { return Begin(); }
  Status EndObject() override { return End(); }
  Status BeginArray() override { return Begin(); }
  Status EndArray() override { return End(); }
  Status Key(std::string_view untrusted_name) override {
    if (keys_.empty()) return {};
    keys_.back() = untrusted_name;
    return {};
  }
  Status String(std::string_view untrusted_text) override;
  Status Number(std::string_view untrusted_digits) override;
  Status Other() override { return {}; }

  Result<Built> Build();

 private:
  bool At(std::initializer_list<std::string_view> keys, std::size_t deeper) const {
    if (keys_.size() != keys.size() + deeper) return false;
    auto key = keys_.begin();
    for (const std::string_view wanted : keys) {
      if (*key++ != wanted) return false;
    }
    return true;
  }
  // shared.frames[].X, profiles[].X, profiles[].samples[][], profiles[].weights[],
  // profiles[].events[].X, profiles[].thread.X: arrays have an empty key.
  bool InFrame() const { return At({"shared", "frames", ""}, 1); }
  bool InProfile() const { return At({"profiles", ""}, 1); }
  bool InThread() const { return At({"profiles", "", "thread"}, 1); }
  bool InSample() const { return At({"profiles", "", "samples", ""}, 1); }
  bool InWeights() const { return At({"profiles", "", "weights"}, 1); }
  bool InEvent() const { return At({"profiles", "", "events", ""}, 1); }

  Status Begin() {
    keys_.emplace_back();
    if (InFrame()) frames_.emplace_back();
    if (InProfile()) profiles_.emplace_back();
    if (InEvent()) profiles_.back().events.emplace_back();
    return {};
  }
  Status End() {
    if (InSample()) profiles_.back().ends.push_back(profiles_.back().samples.size());
    keys_.pop_back();
    return {};
  }

  Status AddFrames(bool is_own);
  Result<tree::FrameId> FrameAt(std::uint32_t index) const {
    if (index < ids_.size()) return ids_[index];
    return Fail(ErrorCode::kCorrupt, "frame {}, there are {}", index, ids_.size());
  }
  Status Add(const Profile& profile, const std::string& number);
  Status AddSamples(const Profile& profile, std::size_t metric, unsigned decimals, bool is_own);
  Status AddEvents(const Profile& profile, std::size_t metric, unsigned decimals,
                   const std::string& number);

  Remarks& remarks_;
  TreeBuilder builder_;
  std::vector<std::string> keys_;  // the current key in each open object or array
  std::vector<FileFrame> frames_;
  std::vector<tree::FrameId> ids_;
  std::vector<Profile> profiles_;
};

Result<std::uint32_t> Index(std::string_view untrusted_digits) {
  const auto value = ScaledNumber(untrusted_digits, 0);
  if (value && *value <= kMostIndex) return static_cast<std::uint32_t>(*value);
  return Fail(ErrorCode::kCorrupt, "{} is not the index of a frame",
              untrusted_digits.substr(0, 32));
}

// The number of decimal places by which to shift a number in units of `factor` ns to get ns.
unsigned DecimalsOf(std::uint64_t factor) {
  unsigned decimals = 0;
  for (; factor >= 10; factor /= 10) ++decimals;
  return decimals;
}

Status Speedscope::String(std::string_view untrusted_text) {
  if (keys_.empty()) return {};
  const std::string& key = keys_.back();
  if (InFrame()) {
    if (key == "name") frames_.back().name = untrusted_text;
    if (key == "file") frames_.back().file = untrusted_text;
  } else if (InProfile()) {
    if (key == "type") profiles_.back().type = untrusted_text;
    if (key == "name") profiles_.back().name = untrusted_text;
    if (key == "unit") profiles_.back().unit = untrusted_text;
    if (key == "metric") profiles_.back().metric = untrusted_text;
  } else if (InThread()) {
    if (key == "process") profiles_.back().thread.process = NameOfText(untrusted_text);
    if (key == "name") profiles_.back().thread.name = NameOfText(untrusted_text);
  } else if (InEvent() && key == "type") {
    profiles_.back().events.back().is_open = untrusted_text == "O";
    profiles_.back().events.back().is_close = untrusted_text == "C";
  }
  return {};
}

Status Speedscope::Number(std::string_view untrusted_digits) {
  if (InSample()) {
    FIELDCOST_ASSIGN(const std::uint32_t frame, Index(untrusted_digits));
    profiles_.back().samples.push_back(frame);
  } else if (InThread()) {
    const auto number = static_cast<std::uint32_t>(
        std::min(ScaledNumber(untrusted_digits, 0).value_or(0), kMostIndex));
    if (keys_.back() == "pid") profiles_.back().thread.pid = number;
    if (keys_.back() == "tid") profiles_.back().thread.tid = number;
  } else if (InWeights()) {
    profiles_.back().untrusted_weights.push_back(untrusted_digits);
  } else if (InEvent() && keys_.back() == "frame") {
    FIELDCOST_ASSIGN(profiles_.back().events.back().frame, Index(untrusted_digits));
  } else if (InEvent() && keys_.back() == "at") {
    profiles_.back().events.back().untrusted_at = untrusted_digits;
  }
  return {};
}

Status Speedscope::AddFrames(bool is_own) {
  for (const FileFrame& file_frame : frames_) {
    tree::Frame frame = is_own ? FrameOfOwnText(file_frame.name) : FrameOfText(file_frame.name);
    // Other programs record the source file of every function.
    if (is_own && frame.kind == tree::FrameKind::kFunction)
      frame.file = NameOfText(file_frame.file);
    FIELDCOST_ASSIGN(const tree::FrameId id, builder_.AddFrame(frame));
    ids_.push_back(id);
  }
  return {};
}

Status Speedscope::AddSamples(const Profile& profile, std::size_t metric, unsigned decimals,
                              bool is_own) {
  if (profile.ends.size() != profile.untrusted_weights.size()) {
    return Fail(ErrorCode::kCorrupt, "{} samples and {} weights", profile.ends.size(),
                profile.untrusted_weights.size());
  }
  const bool has_thread = is_own && profile.metric.has_value();
  std::uint32_t thread = 0;
  if (has_thread) {
    FIELDCOST_ASSIGN(thread, builder_.timed().ThreadOf(profile.thread));
  }
  std::size_t next = 0;
  for (std::size_t i = 0; i < profile.ends.size(); ++i) {
    tree::PathId path = tree::kRootPath;
    for (; next < profile.ends[i]; ++next) {
      FIELDCOST_ASSIGN(const tree::FrameId frame, FrameAt(profile.samples[next]));
      FIELDCOST_ASSIGN(path, builder_.AddPath(path, frame));
    }
    const auto weight = ScaledValue(profile.untrusted_weights[i], decimals);
    if (!weight) {
      return Fail(ErrorCode::kTooLarge, "a weight of {}",
                  profile.untrusted_weights[i].substr(0, 32));
    }
    if (weight->is_negative) {
      remarks_.Count("samples with a negative weight, left out");
      continue;
    }
    if (weight->is_cut) remarks_.Count("weights whose last decimals were cut off");
    FIELDCOST_TRY(is_own ? builder_.Add(metric, path, weight->magnitude)
                         : builder_.AddSample(metric, path, weight->magnitude));
    if (has_thread) builder_.timed().AddUntimed(metric, path, thread, weight->magnitude);
  }
  return {};
}

Status Speedscope::AddEvents(const Profile& profile, std::size_t metric, unsigned decimals,
                             const std::string& number) {
  FIELDCOST_ASSIGN(
      const std::uint32_t thread,
      builder_.timed().ThreadOf(number, {.pid = 0, .tid = 0, .process = "", .name = profile.name}));
  FIELDCOST_ASSIGN(const std::size_t calls,
                   builder_.AddMetric({.name = "calls", .unit = tree::Unit::kCount}));
  std::vector<Scaled> times;
  ZeroShift shift;
  for (const FileEvent& event : profile.events) {
    const auto at = ScaledValue(event.untrusted_at, decimals);
    if (!at || event.is_open == event.is_close) {
      return Fail(ErrorCode::kCorrupt, "an event that neither opens nor closes, or has no time");
    }
    shift.Look(*at);
    times.push_back(*at);
  }
  EventStacks stacks(builder_, remarks_, metric, calls);
  for (std::size_t i = 0; i < times.size(); ++i) {
    const FileEvent& event = profile.events[i];
    FIELDCOST_ASSIGN(const tree::FrameId frame, FrameAt(event.frame));
    FIELDCOST_ASSIGN(const std::uint64_t at, shift.At(times[i]));
    FIELDCOST_TRY(event.is_open ? stacks.Enter(thread, at, frame) : stacks.Exit(thread, at, frame));
  }
  stacks.End();
  return {};
}

// The text of the metric in a profile that fieldcost wrote.
const std::string& OwnText(const Profile& profile) {
  return profile.metric ? *profile.metric : profile.name;
}

// The decimals of the weights, or of the events' positions, in a profile of counts.
unsigned CountDecimals(const Profile& profile) {
  CountScale scale;
  for (const std::string_view untrusted_weight : profile.untrusted_weights) {
    scale.Look(untrusted_weight);
  }
  for (const FileEvent& event : profile.events) scale.Look(event.untrusted_at);
  return scale.decimals();
}

Status Speedscope::Add(const Profile& profile, const std::string& number) {
  const UnitScale scale = UnitOf(profile.unit);
  unsigned decimals = scale.unit == tree::Unit::kNanoseconds ? DecimalsOf(scale.factor) : 0;
  tree::Metric metric;
  const bool is_own = TakeMetricText(OwnText(profile), metric) && metric.unit == scale.unit;
  if (!is_own) {
    metric = {.name = "samples", .unit = scale.unit};
    if (scale.unit == tree::Unit::kNanoseconds) metric.name = "wall";
    if (scale.unit == tree::Unit::kBytes) metric.name = "bytes";
    if (scale.unit == tree::Unit::kCount) {
      decimals = CountDecimals(profile);
      metric = CountScale::MetricOf(metric, decimals);
      if (decimals != 0) {
        remarks_.Say(fmt::format("{}: weights have fractions: they are in units of 10^-{}, as {}",
                                 number, decimals, metric.name));
      }
    }
  }
  FIELDCOST_ASSIGN(const std::size_t column, builder_.AddMetric(std::move(metric)));
  const bool is_evented = profile.type == "evented";
  // Times for only some profiles would be misleading.
  const bool has_threads =
      is_evented ? scale.unit == tree::Unit::kNanoseconds : is_own && profile.metric.has_value();
  if (!has_threads) builder_.timed().LeaveOut();
  if (is_evented) return AddEvents(profile, column, decimals, number);
  if (profile.type == "sampled") return AddSamples(profile, column, decimals, is_own);
  return Fail(ErrorCode::kCorrupt, "neither sampled nor evented");
}

Result<Built> Speedscope::Build() {
  bool is_own = !profiles_.empty();
  for (const Profile& profile : profiles_) {
    tree::Metric metric;
    is_own = is_own && TakeMetricText(OwnText(profile), metric);
  }
  if (profiles_.empty()) return Fail(ErrorCode::kCorrupt, "no profiles");
  FIELDCOST_TRY(AddFrames(is_own));
  for (std::size_t i = 0; i < profiles_.size(); ++i) {
    const std::string number = fmt::format("profile {}", i + 1);
    if (const Status added = Add(profiles_[i], number); !added) {
      return Within(added.error(), number);
    }
  }
  return builder_.BuildTimed(remarks_);
}

}  // namespace

Result<Built> ImportSpeedscope(std::string_view untrusted_json, Remarks& remarks) {
  Speedscope speedscope(remarks);
  FIELDCOST_TRY(ReadJson(untrusted_json, speedscope));
  return speedscope.Build();
}

}  // namespace fieldcost::exchange
