// Needs headers of tenon alone.
#include "tenon/status.hpp"

int main() {
  return tenon::Status() ? 0 : 1;
}
