#pragma once

// A function whose costs are planted.
enum BudgetMode {
  kBudgetPlain = 0,       // a few operations
  kBudgetSlow = 1,        // one call in 20 takes some ms
  kBudgetAllocating = 2,  // allocates 64 bytes, and frees them
  kBudgetLeaking = 3,     // allocates 48 bytes, and keeps them
  kBudgetAppending = 4,   // appends 8 bytes to an array that doubles when it is full
  kBudgetCaching = 5,     // the first five calls allocate 1,000 bytes, and keep them
};

unsigned long budget_work(enum BudgetMode mode);
