// Finds a layout by its name, and compares it with the one of the headers.
#include "tenon/fragment/catalogue.hpp"
#include "tenon/fragment/layout.hpp"

int main() {
  const tenon::NamedLayout* layout = tenon::find_layout("m16n8k16", "f16", "a");
  return layout != nullptr && layout->coord(1, 2).row == 8 && layout->coord(1, 2).col == 2 ? 0 : 1;
}
