#pragma once

#include <compare>

namespace fieldcost {

// A number that cannot be mixed up with another kind of number:
//   using Epoch = StrongId<struct EpochTag, std::uint64_t>;
template <typename Tag, typename Value>
class StrongId {
 public:
  constexpr StrongId() = default;
  constexpr explicit StrongId(Value value) : value_(value) {}
  constexpr Value value() const { return value_; }
  constexpr auto operator<=>(const StrongId&) const = default;

 private:
  Value value_{};
};

}  // namespace fieldcost
