"""Tests that clang checks the order of the store's locks, and what its parts require: violations do not compile.

Usage: lock_order_test.py SOURCE_ROOT FLAG...

The flags are those with which clang compiles the product (see wrong_code.py).
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
import wrong_code  # noqa: E402

CODE = """#include "aggregator/store/held_batches.h"
using namespace fieldcost;
using namespace fieldcost::store;
class Caller {
 public:
  Caller(DeliveryLedger&, HeldBatches&, KeptBatches&, ExpiryBounds&, StoredSums&, Database::WriteSet&);
  void Right(std::string_view agent_id, const AcceptedBatch& batch) {
    const LevelLock expire_lock(mutex_, lock_order::kExpiry);
    const LevelLock backup_lock(next_mutex_, lock_order::kBackup);
    const AgentLock agent_lock(ledger_.agent_locks(), agent_id);
    const HeldBatches::Access access(held_);
    static_cast<void>(held_.Step(batch, key_, changes_));
    static_cast<void>(sums_.Commit(changes_));
    static_cast<void>(sums_.Checkpoint());
  }
  void Wrong(std::string_view agent_id, const AcceptedBatch& batch) { WRONG }

 private:
  Mutex mutex_;
  Mutex next_mutex_;
  Gate gate_;
  DeliveryLedger& ledger_;
  HeldBatches& held_;
  KeptBatches& kept_;
  ExpiryBounds& bounds_;
  StoredSums& sums_;
  Database::WriteSet& changes_;
  std::string key_;
};
"""

# The wrong use, and what clang must report.
WRONG = {
    # Order of locks.
    "const HeldBatches::Access access(held_); const AgentLock lock(ledger_.agent_locks(), agent_id);":
        "mutex 'kAgent' must be acquired before 'kHeld'",
    "const LevelLock lock(mutex_, lock_order::kWithdrawal); const HeldBatches::Access access(held_);":
        "mutex 'kHeld' must be acquired before 'kWithdrawal'",
    "const InsideGate inside(gate_, lock_order::kCommit); const LevelLock lock(mutex_, lock_order::kCheckpoint);":
        "mutex 'kCheckpoint' must be acquired before 'kCommit'",
    "const InsideGate inside(gate_, lock_order::kCommit); const LevelLock lock(mutex_, lock_order::kExpiry);":
        "mutex 'kExpiry' must be acquired before 'kCommit'",
    "const AgentLock one(ledger_.agent_locks(), agent_id); const AgentLock two(ledger_.agent_locks(), agent_id);":
        "acquiring mutex 'kAgent' that is already held",
    # Locks that a call acquires.
    "const InsideGate inside(gate_, lock_order::kCommit); static_cast<void>(sums_.Commit(changes_));":
        "cannot call function 'Commit' while mutex 'kCommit' is held",
    "const LevelLock lock(mutex_, lock_order::kCheckpoint); static_cast<void>(sums_.Checkpoint());":
        "cannot call function 'Checkpoint' while mutex 'kCheckpoint' is held",
    "const AgentLock lock(ledger_.agent_locks(), agent_id); ledger_.agent_locks().AwaitHolders();":
        "cannot call function 'AwaitHolders' while mutex 'kAgent' is held",
    # Locks that a call requires.
    "const HeldBatches::Access access(held_); static_cast<void>(held_.Step(batch, key_, changes_));":
        "calling function 'Step' requires holding mutex 'kAgent'",
    "const AgentLock lock(ledger_.agent_locks(), agent_id); static_cast<void>(held_.Step(batch, key_, changes_));":
        "calling function 'Step' requires holding mutex 'kHeld'",
    "ledger_.PutWithdrawal(key_, 1, 1, changes_);": "calling function 'PutWithdrawal' requires holding mutex 'kAgent'",
    "const AgentLock lock(ledger_.agent_locks(), agent_id);"
    "static_cast<void>(sums_.CommitWithdrawal(changes_, {}, {}, {}));":
        "calling function 'CommitWithdrawal' requires holding mutex 'kWithdrawal'",
    "static_cast<void>(bounds_.Raise(1, 1));": "calling function 'Raise' requires holding mutex 'kWithdrawal'",
    "static_cast<void>(kept_.Forget(1));": "calling function 'Forget' requires holding mutex 'kBackup'",
}

if __name__ == "__main__":
    sys.exit(wrong_code.check("store.lock_order", CODE, WRONG))
