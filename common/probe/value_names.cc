#include "common/probe/value_names.h"

#include <cstddef>
#include <utility>

namespace fieldcost::probe {
namespace {

template <typename Value>
using Word = std::pair<Value, std::string_view>;

constexpr Word<HitKind> kHitKinds[] = {
    {HitKind::kPoint, "point"},
    {HitKind::kBegin, "begin"},
    {HitKind::kEnd, "end"},
    {HitKind::kJoin, "join"},
};
constexpr Word<Mark> kMarks[] = {
    {Mark::kNone, "none"},
    {Mark::kSetAside, "set_aside"},
    {Mark::kKept, "kept"},
};
constexpr Word<Why> kWhys[] = {
    {Why::kNot, "not"},
    {Why::kNotOver, "not_over"},
    {Why::kIncomplete, "incomplete"},
    {Why::kSuspended, "suspended"},
    {Why::kOutlier, "outlier"},
    {Why::kByHand, "by_hand"},
};
template <typename Value, std::size_t kCount>
std::string_view WordOf(const Word<Value> (&words)[kCount], Value value) {
  for (const auto& [known, word] : words) {
    if (known == value) return word;
  }
  return "";
}

}  // namespace

std::string_view Name(HitKind kind) { return WordOf(kHitKinds, kind); }
std::string_view Name(Mark mark) { return WordOf(kMarks, mark); }
std::string_view Name(Why why) { return WordOf(kWhys, why); }

}  // namespace fieldcost::probe
