#include <vector>

namespace shop {
class Item {
  int price_;
};
}

int Item::total(int n) {
  return n * price_;
}
