#pragma once
/// The tensors of a structure without their types, to be written to files and read from them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <shardtype/checkpoint/namespace.hpp>
#include <shardtype/checkpoint/sums.hpp>
#include <shardtype/io/npy.hpp>
#include <shardtype/train/optimizers.hpp>
#include <shardtype/train/structures.hpp>

namespace shardtype::checkpoint::detail {

/// The name of an element type in a safetensors file. Complex numbers are pairs there, in one more
/// dim.
template <class T>
struct FileType {
  static constexpr bool pair = false;
  static constexpr char const* name = std::is_same_v<T, float>          ? "F32"
                                      : std::is_same_v<T, double>       ? "F64"
                                      : std::is_same_v<T, bfloat16>     ? "BF16"
                                      : std::is_same_v<T, bool>         ? "BOOL"
                                      : std::is_same_v<T, std::int32_t> ? "I32"
                                                                        : "I64";
};
template <class T>
struct FileType<Kokkos::complex<T>> : FileType<T> {
  static constexpr bool pair = true;
};

/// The description of a tensor on each rank, and its block there.
struct Entry {
  std::string part;  ///< of the checkpoint: "model"
  std::string name;  ///< in the file
  std::string dtype;
  BlockOfArray block;
  bool pair = false;
  bool transposed = false;    ///< the file has the dims in the reverse order
  std::vector<int> merged{};  ///< numbers of neighbouring dims that are one in the file; empty: 1
  bool first_holder = false;

  /// The file's shape.
  io::NpyInts file_shape() const;
};

/// Error E92, on every rank: `merged` does not count the dims of the tensor.
void check_merged(Entry const& e);

/// The one of this name; null: there is none.
template <class List>
auto const* find_named(List const& list, std::string_view name) {
  auto const found =
      std::find_if(list.begin(), list.end(), [&](auto const& e) { return e.name == name; });
  return found == list.end() ? nullptr : &*found;
}

/// A tensor that is saved.
struct SavedTensor : Entry {
  /// This rank's block where the host can read it, and what keeps it there.
  struct OnHost {
    std::byte const* data = nullptr;
    std::shared_ptr<void const> owner{};
  };
  std::function<OnHost()> read;
};

/// A tensor that is loaded.
struct LoadedTensor : Entry {
  std::function<std::byte*()> begin;  ///< host memory for this rank's block
  std::function<void()> end;          ///< the memory holds the block
};

template <class A>
void describe(Entry& e, A const& a, std::string_view part, std::string name) {
  static_assert(
      A::spec.unreduced.empty(),
      "a checkpoint holds complete values, and this tensor is an unreduced sum: all_reduce or "
      "reduce_scatter it first");
  using T = typename A::element;
  e.part = std::string(part);
  e.name = std::move(name);
  e.dtype = FileType<T>::name;
  e.pair = FileType<T>::pair;
  e.block.element_bytes = static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t const extent : a.extents()) e.block.shape.push_back(extent);
  e.first_holder = a.mesh().here() && shardtype::detail::first_holder(a);
}
template <class Rows>
void describe_rows(Entry& e, Rows const& rows) {
  for (auto const& r : rows) {
    e.block.begin.push_back(r.begin);
    e.block.count.push_back(r.size());
  }
}

template <class A>
SavedTensor::OnHost readable(A const& a) {
  using Block = decltype(shardtype::detail::readable_block(a));
  auto const block = std::make_shared<Block>(shardtype::detail::readable_block(a));
  return {reinterpret_cast<std::byte const*>(block->data()), block};
}

template <class A>
SavedTensor saved(A const& a, std::string_view part, std::string name,
                  std::source_location const& where) {
  SavedTensor out;
  detail::describe(out, a, part, std::move(name));
  if constexpr (A::spec.cyclic_dim() >= 0) {
    using Nested = typename shardtype::detail::InBlocks<A>::type;
    detail::describe_rows(out, Nested::local_rows(a.mesh(), a.extents()));
    out.read = [&a, where]() -> SavedTensor::OnHost {
      auto const nested = std::make_shared<Nested>(api::reshard<Nested>(a, where));
      auto block = detail::readable(*nested);
      return {
          block.data,
          std::make_shared<std::pair<std::shared_ptr<void const>, std::shared_ptr<Nested const>>>(
              block.owner, nested)};
    };
  } else {
    detail::describe_rows(out, a.rows());
    out.read = [&a] { return detail::readable(a); };
  }
  return out;
}

/// The memory of a tensor that is about to be overwritten, on the host.
template <class A>
class HostBlock {
 public:
  using T = typename A::element;

  /// A tensor that shares its memory gets memory of its own.
  explicit HostBlock(A& a, std::source_location const& where) {
    if (a.shared()) a = shardtype::detail::uninitialized<A>(a.mesh(), a.extents());
    view_.emplace(a.mutable_local(where));
    device_ = Device(view_->data(), static_cast<std::size_t>(a.local_size()));
    host_ = Kokkos::create_mirror_view(device_);
  }
  std::byte* data() const { return reinterpret_cast<std::byte*>(host_.data()); }
  void finish() const { Kokkos::deep_copy(device_, host_); }

 private:
  using Device =
      Kokkos::View<T*, typename A::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using View = decltype(std::declval<A&>().mutable_local());
  std::optional<View> view_;
  Device device_;
  decltype(Kokkos::create_mirror_view(std::declval<Device>())) host_;
};

template <class A>
LoadedTensor loaded(A& a, std::string_view part, std::string name,
                    std::source_location const& where) {
  LoadedTensor out;
  detail::describe(out, a, part, std::move(name));
  if constexpr (A::spec.cyclic_dim() >= 0) {
    using Nested = typename shardtype::detail::InBlocks<A>::type;
    detail::describe_rows(out, Nested::local_rows(a.mesh(), a.extents()));
    struct Both {
      Nested nested;
      std::optional<HostBlock<Nested>> host;
    };
    auto const both = std::make_shared<std::optional<Both>>();
    out.begin = [&a, both, where] {
      both->emplace(Both{shardtype::detail::uninitialized<Nested>(a.mesh(), a.extents()), {}});
      (*both)->host.emplace((*both)->nested, where);
      return (*both)->host->data();
    };
    out.end = [&a, both, where] {
      (*both)->host->finish();
      (*both)->host.reset();
      a = api::reshard<A>((*both)->nested, where);
      both->reset();
    };
  } else {
    detail::describe_rows(out, a.rows());
    auto const host = std::make_shared<std::optional<HostBlock<A>>>();
    out.begin = [&a, host, where] {
      host->emplace(a, where);
      return (*host)->data();
    };
    out.end = [host] {
      (*host)->finish();
      host->reset();
    };
  }
  return out;
}

/// The tensors collected from a structure, and their mesh.
template <class One>
struct Tensors {
  std::vector<One> list;
  std::optional<MeshRef> mesh;

  template <class Model>
  void add(std::string_view part, std::string const& prefix, Model& model,
           std::source_location const& where) {
    using Plain = std::remove_const_t<Model>;
    if constexpr (!train::detail::is_model<Plain>)
      checking::refused<rules::Code::X10_no_parameters, false, Plain>{};
    train::for_each_tensor(
        [&]<class A>(std::string_view path, A& a) {
          if constexpr (is_tensor<std::remove_const_t<A>>) {
            if (mesh) shardtype::detail::check_one_mesh(*mesh, a.mesh());
            mesh.emplace(a.mesh());
            std::string name = prefix.empty() ? std::string(path)
                               : path.empty() ? prefix
                                              : prefix + "." + std::string(path);
            if (name.empty()) name = "value";  // a model that is one tensor
            if constexpr (std::is_same_v<One, SavedTensor>) {
              list.push_back(detail::saved(a, part, std::move(name), where));
            } else {
              list.push_back(detail::loaded(a, part, std::move(name), where));
            }
          }
        },
        model);
  }
  /// The mesh, if the calling rank belongs to it.
  runtime::MeshState* here() const { return mesh && mesh->here() ? &mesh->state() : nullptr; }
  /// The tensors of an optimizer's state: "moments.0.blocks.3.wq".
  template <class State>
  void add_state(State& state, std::source_location const& where) {
    State::each_part(state,
                     [&](std::string const& name, auto& part) { add("state", name, part, where); });
  }
};

}  // namespace shardtype::checkpoint::detail

#ifndef SHARDTYPE_COMPILED
#include <shardtype/checkpoint/entries.ipp>
#endif
