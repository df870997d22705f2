#pragma once

#include "common/base/mutex.h"

namespace fieldcost::store {

// Stands for a lock in annotations, so that classes can name each other's locks. Has no state.
class FIELDCOST_LOCK LockLevel {};

// The order in which a thread acquires the locks of a store. Builds with clang check it in every
// function: while a thread holds a lock, it acquires only later ones. A function that acquires a
// level excludes it and all later ones. The locks without a level (those of RecentRows,
// KeptBatches, HeldIndex, Gate and Store::Bind()) come last: a thread acquires no other while it
// holds one.
namespace lock_order {

// One Expire() or Verify() at a time.
inline constexpr LockLevel kExpiry;
// One Backup() at a time, and none during Expire().
inline constexpr LockLevel kBackup FIELDCOST_ACQUIRED_AFTER(kExpiry);
// One batch of an agent at a time (AgentLocks).
inline constexpr LockLevel kAgent FIELDCOST_ACQUIRED_AFTER(kBackup);
// Held batches: many threads, each for its own agent, or one that evicts (HeldBatches::Access).
inline constexpr LockLevel kHeld FIELDCOST_ACQUIRED_AFTER(kAgent);
// Held from checking a withdrawal's rows until they are subtracted.
inline constexpr LockLevel kWithdrawal FIELDCOST_ACQUIRED_AFTER(kHeld);
// One checkpoint at a time (StoredSums).
inline constexpr LockLevel kCheckpoint FIELDCOST_ACQUIRED_AFTER(kWithdrawal);
// One change of an invitation at a time.
inline constexpr LockLevel kInvitation FIELDCOST_ACQUIRED_AFTER(kBackup);
// Many writers of numbered records, or the checkpoint that sets their rows aside (StoredSums).
inline constexpr LockLevel kCommit FIELDCOST_ACQUIRED_AFTER(kCheckpoint, kInvitation);

}  // namespace lock_order

// Holds a mutex of the given level during its lifetime.
class FIELDCOST_SCOPED_LOCK LevelLock {
 public:
  LevelLock(Mutex& mutex, const LockLevel& level)
      FIELDCOST_ACQUIRE(mutex, level) FIELDCOST_NO_THREAD_SAFETY_ANALYSIS : mutex_(mutex) {
    static_cast<void>(level);
    mutex_.Lock();
  }
  ~LevelLock() FIELDCOST_RELEASE() FIELDCOST_NO_THREAD_SAFETY_ANALYSIS { mutex_.Unlock(); }
  LevelLock(const LevelLock&) = delete;
  LevelLock& operator=(const LevelLock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace fieldcost::store
