/* Functions that named points stand before and after. */
long named_add(long a, long b) { return a + b; }
long named_outer(long a) { return named_add(a, 1) + named_add(a, 2); }
void named_begin(int number) { (void)number; }
void named_step(void) {}
void named_end(void) {}
double named_real(double a, int n, double b) { return a * n + b; }
struct named_large {
  long values[5];
};
struct named_large named_structure(long first) {
  struct named_large made = {{first, 2, 3, 4, 5}};
  return made;
}
void named_callback(void (*call)(void)) { call(); }
