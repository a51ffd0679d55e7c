// Needs headers of tenon alone; COMPILED: its layouts too.
#ifdef COMPILED
#include "tenon/fragment/catalogue.hpp"
#endif
#include "tenon/fragment/layout.hpp"
#include "tenon/status.hpp"

int main() {
#ifdef COMPILED
  if (tenon::find_layout("m16n8k16", "f16", "a") == nullptr) return 1;
#endif
  return tenon::Status() ? 0 : 1;
}
