#pragma once
/// The order of a file's rows in the epochs of a training.

#include <cstdint>
#include <vector>

#include <shardtype/random/random.hpp>
#include <shardtype/random/shuffle.hpp>

namespace shardtype::train {

namespace detail {

/// The numbers below `n` in an order that the key gives.
class Order {
 public:
  Order(RandomKey const& key, std::int64_t n) : network_(key.bits(), n) {
    if (n <= random::Feistel<std::int64_t>::least) whole_ = random::shuffled(key.bits(), n);
  }
  std::int64_t operator[](std::int64_t k) const {
    return whole_.empty() ? network_(k) : whole_[static_cast<std::size_t>(k)];
  }

 private:
  random::Feistel<std::int64_t> network_;
  std::vector<std::int64_t> whole_;
};

/// The numbers of the rows of batch `step`, of `all` rows: shuffled by the key anew in each epoch,
/// in which each comes once.
inline std::vector<std::int64_t> rows_of_batch(std::int64_t step, RandomKey const& key,
                                               std::int64_t rows, std::int64_t all) {
  std::vector<std::int64_t> out;
  std::int64_t epoch = step * rows / all;
  Order order(key.fold_in(static_cast<std::uint64_t>(epoch)), all);
  for (std::int64_t r = 0; r < rows; ++r) {
    std::int64_t const n = step * rows + r;
    if (n / all != epoch) {
      epoch = n / all;
      order = Order(key.fold_in(static_cast<std::uint64_t>(epoch)), all);
    }
    out.push_back(order[n % all]);
  }
  return out;
}

}  // namespace detail

}  // namespace shardtype::train
