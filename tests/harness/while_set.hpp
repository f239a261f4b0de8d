// Other values of variables, for a time.
#pragma once

#include <utility>

namespace harness {

// While it exists, a variable has another value.
template <class T>
class WhileSet {
 public:
  WhileSet(T& variable, T value)
      : variable_(variable), was_(std::exchange(variable, std::move(value))) {}
  WhileSet(WhileSet const&) = delete;
  WhileSet& operator=(WhileSet const&) = delete;
  ~WhileSet() { variable_ = std::move(was_); }

 private:
  T& variable_;
  T was_;
};

}  // namespace harness
