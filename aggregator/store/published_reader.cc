#include "aggregator/store/published_reader.h"

#include <algorithm>
#include <utility>

namespace fieldcost::store {
namespace {

// The bounds of a range of units among the entries with this prefix.
std::string BeginOf(char prefix, std::string_view begin) {
  return std::string(1, prefix).append(begin);
}
std::string EndOf(char prefix, std::string_view end) {
  return end.empty() ? std::string(1, static_cast<char>(prefix + 1)) : BeginOf(prefix, end);
}

}  // namespace

struct PublishedReader::State {
  // The records, or the marks; `entry` is the current one's key.
  struct Stream {
    Stream(const Database& database, char prefix, const Database::View* view,
           std::string_view begin, std::string_view end)
        : cursor(database, Table::kPublished, view, BeginOf(prefix, begin), EndOf(prefix, end)) {}
    // Moves to the next entry that belongs to this moment.
    Status Advance(std::uint64_t number) {
      do {
        FIELDCOST_ASSIGN(has_entry, cursor.Next());
        if (!has_entry) return {};
        FIELDCOST_ASSIGN(entry, SplitEntryKey(cursor.key()));
      } while (entry.withdrawal && *entry.withdrawal > number);
      return {};
    }
    Database::Cursor cursor;
    bool has_entry = false;
    PublishedEntryKey entry;
  };

  State(const Database& database, std::shared_ptr<Database::View> moment, std::uint64_t greatest,
        std::string_view begin, std::string_view end)
      : view(std::move(moment)),
        number(greatest),
        units(database, kUnitPrefix, view.get(), begin, end),
        marks(database, kMarkPrefix, view.get(), begin, end) {}

  const std::shared_ptr<Database::View> view;
  const std::uint64_t number;
  Stream units;
  Stream marks;
  bool started = false;
  PublishedEntry entry;
};

PublishedReader::PublishedReader(const Database& database, std::shared_ptr<Database::View> view,
                                 std::uint64_t number, std::string_view begin, std::string_view end)
    : state_(std::make_unique<State>(database, std::move(view), number, begin, end)) {}
PublishedReader::~PublishedReader() = default;
PublishedReader::PublishedReader(PublishedReader&&) noexcept = default;
PublishedReader& PublishedReader::operator=(PublishedReader&&) noexcept = default;

Result<const PublishedEntry*> PublishedReader::Next() {
  State::Stream& units = state_->units;
  State::Stream& marks = state_->marks;
  if (!std::exchange(state_->started, true)) {
    FIELDCOST_TRY(units.Advance(state_->number));
    FIELDCOST_TRY(marks.Advance(state_->number));
  }
  if (!units.has_entry && !marks.has_entry) return static_cast<const PublishedEntry*>(nullptr);
  PublishedEntry& entry = state_->entry;
  entry.unit.reset();
  entry.marks.clear();
  const bool marks_first =
      !units.has_entry || (marks.has_entry && marks.entry.unit_key < units.entry.unit_key);
  entry.unit_key = marks_first ? marks.entry.unit_key : units.entry.unit_key;
  FIELDCOST_TRY(DecodeUnitKey(entry.unit_key, entry.key));
  if (units.has_entry && units.entry.unit_key == entry.unit_key) {
    FIELDCOST_ASSIGN(entry.unit, DecodePublishedUnit(units.cursor.value()));
    FIELDCOST_TRY(units.Advance(state_->number));
  }
  while (marks.has_entry && marks.entry.unit_key == entry.unit_key) {
    FIELDCOST_ASSIGN(const WithdrawalMark mark,
                     DecodeMark(marks.cursor.value(), marks.entry.withdrawal.value_or(0)));
    entry.marks.push_back(mark);
    FIELDCOST_TRY(marks.Advance(state_->number));
  }
  return static_cast<const PublishedEntry*>(&entry);
}

}  // namespace fieldcost::store
