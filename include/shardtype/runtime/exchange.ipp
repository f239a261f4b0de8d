#pragma once
/// Definitions of exchange.hpp.

#include <shardtype/runtime/exchange.hpp>

namespace shardtype::runtime {

SHARDTYPE_INLINE void Exchange::clear() {
  while (!kept.empty()) kept.erase(kept.size() - 1);
  result = wire = host = {};
  ordered = false;
  calls.sum = {};
  calls.arrivals = nullptr;
  rest = nullptr;
}

SHARDTYPE_INLINE void Exchanges::give_back(Exchange& done) {
  done.clear();
  for (std::size_t k = 0; k < active_.size(); ++k) {
    if (&*active_[k] != &done) continue;
    idle_.push_back(std::move(active_[k]));
    active_.erase(k);
    return;
  }
}

SHARDTYPE_INLINE Exchange& Exchanges::next() {
  if (idle_.empty()) idle_.push_back(detail::Owned(new Exchange));
  active_.push_back(std::move(idle_[idle_.size() - 1]));
  idle_.erase(idle_.size() - 1);
  return *active_[active_.size() - 1];
}

SHARDTYPE_INLINE Started::~Started() {
  if (exchange_ == nullptr) return;
  exchange_->calls.requests.finish();
  of_->give_back(*exchange_);
}

}  // namespace shardtype::runtime
