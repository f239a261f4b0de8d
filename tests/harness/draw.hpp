// Random choices, the same on every rank.
#pragma once

#include <cstddef>
#include <random>
#include <utility>
#include <vector>

class Draw {
 public:
  explicit Draw(unsigned seed) : engine_(seed) {}
  int below(int n) { return static_cast<int>(engine_() % static_cast<unsigned>(n)); }
  bool one_in(int n) { return below(n) == 0; }
  template <class T>
  void shuffle(std::vector<T>& v) {
    for (std::size_t k = v.size(); k > 1; --k)
      std::swap(v[k - 1], v[static_cast<std::size_t>(below(static_cast<int>(k)))]);
  }

 private:
  std::mt19937 engine_;
};
