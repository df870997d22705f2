#include "aggregator/store/published_update.h"

#include <utility>
#include <vector>

#include "aggregator/store/store_state.h"

namespace fieldcost::store {

struct PublishedUpdate::Part::State {
  explicit State(Database& database) : changes(database) {}
  Database::SortedSet changes;
};

struct PublishedUpdate::State {
  // Ends the update that has begun.
  State(Database& of_store, PublishedUnits& of_units, Store::Snapshot taken)
      : database(of_store), units(of_units), snapshot(std::move(taken)) {}

  Database& database;
  PublishedUnits& units;
  const Store::Snapshot snapshot;
  PublishedUnits::Moment moment;
  bool must_settle = false;
  std::vector<std::unique_ptr<Part>> parts;
};

PublishedUpdate::Part::Part(std::unique_ptr<State> state) : state_(std::move(state)) {}
PublishedUpdate::Part::~Part() = default;

Status PublishedUpdate::Part::Put(const PublishedKey& key, const PublishedUnit& unit) {
  if (unit.IsEmpty()) return Remove(key);
  FIELDCOST_ASSIGN(const std::string value, EncodePublishedUnit(unit));
  std::string unit_key;
  AppendUnitKey(key, unit_key);
  return state_->changes.Put(Table::kPublished, UnitEntryKey(unit_key), value);
}

Status PublishedUpdate::Part::Remove(const PublishedKey& key) {
  std::string unit_key;
  AppendUnitKey(key, unit_key);
  return state_->changes.Delete(Table::kPublished, UnitEntryKey(unit_key));
}

PublishedUpdate::PublishedUpdate(std::unique_ptr<State> state) : state_(std::move(state)) {}

PublishedUpdate::~PublishedUpdate() { state_->units.End(); }

const Store::Snapshot& PublishedUpdate::snapshot() const { return state_->snapshot; }

bool PublishedUpdate::must_settle() const { return state_->must_settle; }

PublishedUpdate::Part& PublishedUpdate::AddPart() {
  auto part = std::make_unique<Part::State>(state_->database);
  return *state_->parts.emplace_back(new Part(std::move(part)));
}

Status PublishedUpdate::Commit(const std::map<std::string, std::uint64_t>& numbers) {
  std::vector<Database::SortedSet*> sets;
  for (const std::unique_ptr<Part>& part : state_->parts) sets.push_back(&part->state_->changes);
  return state_->units.Write(state_->moment, sets, numbers);
}

Result<std::unique_ptr<PublishedUpdate>> Store::BeginPublishedUpdate() {
  if (state_->failure.has_happened()) return StoreFailed();
  {
    const LevelLock withdraw_lock(state_->withdraw_mutex, lock_order::kWithdrawal);
    FIELDCOST_TRY(state_->published.Begin());
  }
  auto snapshot = TakeSnapshot();
  if (!snapshot) {
    state_->published.End();
    return std::move(snapshot).error();
  }
  const Database::View* const view = snapshot->state_->view.get();
  const PublishedUnits::Moment moment{
      .view = view, .number = snapshot->sequence(), .first_week = snapshot->first_week()};
  auto state = std::make_unique<PublishedUpdate::State>(*state_->database, state_->published,
                                                        std::move(*snapshot));
  state->moment = moment;
  std::unique_ptr<PublishedUpdate> update(new PublishedUpdate(std::move(state)));
  FIELDCOST_ASSIGN(update->state_->must_settle, state_->published.MustSettle(view));
  return update;
}

}  // namespace fieldcost::store
