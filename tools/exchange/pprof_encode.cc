// Encodes pprof profiles (PPROF.md has the grammar): a location for each function or piece of
// unnamed code, each with its own number, and a mapping for each module.
#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

#include "common/wire/wire_limits.h"
#include "common/wire/wire_message.h"
#include "tools/exchange/exchange_limits.h"
#include "tools/exchange/gzip.h"
#include "tools/exchange/pprof.h"
#include "tools/exchange/pprof.pb.h"
#include "tools/exchange/pprof_labels.h"

namespace fieldcost::exchange {
namespace {

constexpr std::uint64_t kMostValue{std::numeric_limits<std::int64_t>::max()};

class Writer {
 public:
  Writer() { String(""); }  // the first text is empty

  Status Write(const PprofContent& content) {
    for (const PprofValueType& type : content.types) {
      proto::PprofValueType& added = *profile_.add_sample_type();
      FIELDCOST_TRY(SetText(type.type, [&](std::int64_t text) { added.set_type(text); }));
      FIELDCOST_TRY(SetText(type.unit, [&](std::int64_t text) { added.set_unit(text); }));
    }
    if (content.default_type < content.types.size()) {
      profile_.set_default_sample_type(String(content.types[content.default_type].type));
    }
    if (content.period != 0) FIELDCOST_TRY(SetPeriod(content));
    for (const PprofFunction& function : content.functions) FIELDCOST_TRY(Add(function));
    for (const PprofSample& sample : content.samples) {
      FIELDCOST_TRY(Add(sample, content));
    }
    for (const std::string& comment : content.comments) {
      FIELDCOST_TRY(SetText(comment, [&](std::int64_t text) { profile_.add_comment(text); }));
    }
    for (const int entries : {profile_.sample_type_size(), profile_.sample_size(),
                              profile_.location_size(), profile_.string_table_size()}) {
      if (static_cast<std::size_t>(entries) > kMaxPprofEntries) {
        return Fail(ErrorCode::kTooLarge, "more than {} entries of one kind", kMaxPprofEntries);
      }
    }
    return {};
  }

  std::string Bytes() const { return wire::SerializeMessage(profile_); }

 private:
  std::int64_t String(const std::string& text) {
    const auto [place, is_new] = strings_.try_emplace(text, profile_.string_table_size());
    if (is_new) profile_.add_string_table(text);
    return place->second;
  }

  template <typename Set>
  Status SetText(const std::string& text, Set set) {
    if (text.size() > kMaxPprofTextBytes) {
      return Fail(ErrorCode::kTooLarge, "a text of {} bytes", text.size());
    }
    set(String(text));
    return {};
  }

  Status SetPeriod(const PprofContent& content) {
    if (content.period > kMostValue) {
      return Fail(ErrorCode::kTooLarge, "a value of {}", content.period);
    }
    profile_.set_period(static_cast<std::int64_t>(content.period));
    proto::PprofValueType& type = *profile_.mutable_period_type();
    FIELDCOST_TRY(
        SetText(content.period_type.type, [&](std::int64_t text) { type.set_type(text); }));
    return SetText(content.period_type.unit, [&](std::int64_t text) { type.set_unit(text); });
  }

  // Adds a location with the same number in its module; also a function, if it has a name.
  Status Add(const PprofFunction& function) {
    const auto id = static_cast<std::uint64_t>(profile_.location_size()) + 1;
    proto::PprofLocation& location = *profile_.add_location();
    location.set_id(id);
    if (function.name.empty()) {
      location.set_address(function.address);
    } else {
      proto::PprofFunction& added = *profile_.add_function();
      added.set_id(id);
      FIELDCOST_TRY(SetText(function.name, [&](std::int64_t text) { added.set_name(text); }));
      FIELDCOST_TRY(SetText(function.file, [&](std::int64_t text) { added.set_filename(text); }));
      location.add_line()->set_function_id(id);
    }
    if (function.module.empty() && function.build_id.empty()) return {};
    const auto [place, is_new] = modules_.try_emplace(
        {function.module, function.build_id}, static_cast<std::uint64_t>(modules_.size()) + 1);
    location.set_mapping_id(place->second);
    if (!is_new) return {};
    proto::PprofMapping& mapping = *profile_.add_mapping();
    mapping.set_id(place->second);
    mapping.set_has_functions(!function.name.empty());
    FIELDCOST_TRY(
        SetText(function.build_id, [&](std::int64_t text) { mapping.set_build_id(text); }));
    return SetText(function.module, [&](std::int64_t text) { mapping.set_filename(text); });
  }

  Status AddText(const char* key, const std::string& text, proto::PprofSample& sample) {
    if (text.empty()) return {};
    proto::PprofLabel& label = *sample.add_label();
    label.set_key(String(key));
    return SetText(text, [&](std::int64_t index) { label.set_str(index); });
  }

  void AddNumber(const char* key, std::uint32_t number, proto::PprofSample& sample) {
    if (number == 0) return;
    proto::PprofLabel& label = *sample.add_label();
    label.set_key(String(key));
    label.set_num(number);
  }

  Status AddThread(const PprofThread& thread, proto::PprofSample& sample) {
    FIELDCOST_TRY(AddText(kProcessLabel, thread.process, sample));
    AddNumber(kPidLabel, thread.pid, sample);
    FIELDCOST_TRY(AddText(kThreadLabel, thread.name, sample));
    AddNumber(kTidLabel, thread.tid, sample);
    return {};
  }

  Status Add(const PprofSample& sample, const PprofContent& content) {
    if (sample.values.size() != content.types.size()) {
      return Fail(ErrorCode::kInvalidArgument, "a sample of {} values, there are {} types",
                  sample.values.size(), content.types.size());
    }
    if (sample.thread > content.threads.size()) {
      return Fail(ErrorCode::kInvalidArgument, "no such thread");
    }
    if (sample.frames.size() > wire::kMaxStackFrames) {
      return Fail(ErrorCode::kTooLarge, "a stack of {} functions", sample.frames.size());
    }
    proto::PprofSample& added = *profile_.add_sample();
    for (auto frame = sample.frames.rbegin(); frame != sample.frames.rend(); ++frame) {
      if (*frame >= content.functions.size())
        return Fail(ErrorCode::kInvalidArgument, "no such function");
      added.add_location_id(std::uint64_t{*frame} + 1);
    }
    for (const std::uint64_t value : sample.values) {
      if (value > kMostValue) {
        return Fail(ErrorCode::kTooLarge, "a value of {}", value);
      }
      added.add_value(static_cast<std::int64_t>(value));
    }
    if (sample.thread != 0) return AddThread(content.threads[sample.thread - 1], added);
    return {};
  }

  proto::PprofProfile profile_;
  std::unordered_map<std::string, std::int64_t> strings_;
  std::map<std::pair<std::string, std::string>, std::uint64_t> modules_;  // by file and build-id
};

Result<std::string> Encode(const PprofContent& content) {
  Writer writer;
  FIELDCOST_TRY(writer.Write(content));
  const std::string bytes = writer.Bytes();
  if (bytes.size() > kMaxPprofDecodedBytes) {
    return Fail(ErrorCode::kTooLarge, "{} bytes, at most {} are accepted", bytes.size(),
                kMaxPprofDecodedBytes);
  }
  return Gzip(bytes);
}

}  // namespace

Result<std::string> EncodePprof(const PprofContent& content) {
  Result<std::string> bytes = Encode(content);
  if (!bytes) return Within(std::move(bytes).error(), "writing a pprof profile");
  return bytes;
}

}  // namespace fieldcost::exchange
