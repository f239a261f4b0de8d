#pragma once
/// A bucket of gradients with data: packs their blocks, reduces them, and keeps the sums until all
/// are taken.

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <utility>

#include <shardtype/autodiff/tape.hpp>
#include <shardtype/core/running_call.hpp>
#include <shardtype/core/scope.hpp>
#include <shardtype/execute/executor.hpp>
#include <shardtype/kernels/fill.hpp>
#include <shardtype/plan/bucket.hpp>
#include <shardtype/runtime/copy_bytes.hpp>
#include <shardtype/runtime/exchange.hpp>
#include <shardtype/runtime/instance.hpp>
#include <shardtype/runtime/mesh.hpp>

namespace shardtype::autodiff {

/// One gradient in a bucket: its block, and where its sum begins in a member's part.
struct InBucket {
  InBucket* next = nullptr;
  Buffer block{};
  std::int64_t at = 0;
  /// The elements before, along and behind the dim that is scattered.
  std::int64_t outer = 1, rows = 1, inner = 1;
};

/// The bucket of gradients of some element type and memory, which `act` knows. Not a template, so
/// that all types share its code.
struct GradientBucket : Bucket {
  MeshRef mesh;
  core::Names const* names;  ///< of the axes of `move`
  planning::BucketMove move;
  InBucket* first = nullptr;
  std::int64_t room = 0;  ///< elements of a member's part
  int untaken = 0;
  runtime::Exchange* exchange = nullptr;
  Buffer sums{};

  GradientBucket(void (*by)(Bucket*, BucketAct), MeshRef const& on, core::Names const& of,
                 planning::BucketMove const& how)
      : Bucket{nullptr, by}, mesh(on), names(&of), move(how) {}
  GradientBucket(GradientBucket const&) = delete;
  GradientBucket& operator=(GradientBucket const&) = delete;
  ~GradientBucket() {
    forget_blocks();
    if (exchange != nullptr) mesh.state().abandon(*exchange);
  }

  /// The bucket for gradients that move so; a new one if none takes them.
  static GradientBucket& among(Buckets& all, void (*by)(Bucket*, BucketAct), MeshRef const& on,
                               core::Names const& of, planning::BucketMove const& how) {
    for (Bucket* b = all.last(); b != nullptr; b = b->before) {
      auto* const one = static_cast<GradientBucket*>(b);
      if (one->takes(by, on, of, how)) return *one;
    }
    auto* const made = autodiff::make_small<GradientBucket>(by, on, of, how);
    all.push(made);
    return *made;
  }
  /// Whether it takes gradients that move so.
  bool takes(void (*by)(Bucket*, BucketAct), MeshRef const& on, core::Names const& of,
             planning::BucketMove const& how) const {
    return open && act == by && mesh == on && planning::same_groups(move, *names, how, of);
  }
  void add(InBucket const& gradient, std::int64_t takes_room) {
    auto* const g = autodiff::make_small<InBucket>(gradient);
    g->at = room;
    g->next = first;
    first = g;
    room += takes_room;
    ++untaken;
  }
  /// The sum of a gradient was taken, or is not wanted any more.
  void taken() {
    if (--untaken == 0) sums = {};
  }
  void complete() {
    if (open) act(this, BucketAct::begin);
    if (exchange != nullptr) sums = mesh.state().complete(*std::exchange(exchange, nullptr));
  }
  void forget_blocks() {
    while (first != nullptr) {
      InBucket* const g = first;
      first = g->next;
      autodiff::drop_small(g);
    }
  }
};

/// Copies the blocks of `b` into `flat`: the parts of the group's members one after the other.
template <class T, class Space>
void pack_bucket(GradientBucket const& b, T* flat, Sizes const& sizes) {
  std::int64_t const parts = b.move.parts(sizes);
  for (InBucket const* g = b.first; g != nullptr; g = g->next) {
    auto const* const block = static_cast<T const*>(g->block.data());
    for (std::int64_t p = 0; p < parts; ++p) {
      Range const own = b.move.scatters()
                            ? core::block({0, g->rows}, b.move.axes, sizes,
                                          core::member(b.move.axes, sizes, Coords{}, p))
                            : Range{0, g->rows};
      std::int64_t const run = own.size() * g->inner;
      T* to = flat + p * b.room + g->at;
      for (std::int64_t o = 0; o < g->outer && run > 0; ++o, to += run)
        runtime::copy_bytes<Space, Space>(to, block + (o * g->rows + own.begin) * g->inner,
                                          static_cast<std::size_t>(run) * sizeof(T));
    }
  }
}

/// Begins the reduction of a bucket of elements `T`.
template <class T, class Space>
void begin_bucket(GradientBucket& b) {
  b.open = false;
  if (!b.mesh.here()) return b.forget_blocks();
  runtime::MeshState& mesh = b.mesh.state();
  auto const where = std::source_location::current();
  runtime::AxisMap const axes = runtime::map_axes(mesh, *b.names);
  Step const s = planning::bucket_step(b.move);
  auto constexpr width = static_cast<std::int64_t>(sizeof(T));
  planning::Sizing const z = planning::bucket_sizing(b.move, b.room, width, axes.sizes);
  Buffer flat = mesh.pool().template take<Space>(static_cast<std::size_t>(z.extents[0] * width));
  auto* const to = static_cast<T*>(flat.data());
  auto const& exec = runtime::instance<typename Space::execution_space>();
  // blocks may be smaller than their room
  kernels::fill(exec, to, z.extents[0], T{});
  runtime::fence(exec);
  autodiff::pack_bucket<T, Space>(b, to, axes.sizes);
  b.forget_blocks();
  core::RunningCall const running("joined gradients", where);
  runtime::Started begun = mesh.start();
  begun.get()->ordered = true;
  execute::Executor<T, Space>(mesh, axes, z, where)
      .run(s, execute::whole_value<T>(s.before, z, axes.coords, std::move(flat)), begun.get());
  b.exchange = begun.release();
}
template <class T, class Space>
void act_on_bucket(Bucket* self, BucketAct what) {
  auto* const b = static_cast<GradientBucket*>(self);
  if (what == BucketAct::begin) {
    autodiff::begin_bucket<T, Space>(*b);
  } else if (what == BucketAct::complete) {
    b->complete();
  } else {
    autodiff::drop_small(b);
  }
}

}  // namespace shardtype::autodiff
