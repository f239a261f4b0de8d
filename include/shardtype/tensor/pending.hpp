#pragma once
/// The result of a collective that is under way.

#include <array>
#include <cstdint>
#include <exception>
#include <source_location>
#include <string>
#include <utility>

#include <shardtype/check/sentences/access.hpp>
#include <shardtype/runtime/environment.hpp>
#include <shardtype/runtime/mesh.hpp>

namespace shardtype {

/// The `T` (a Tensor or a Local) that an operation will give which `start` started. It is no tensor:
///
///     auto pending = start(op::AllGather<X>{}, weights);   // sends from now on
///     auto h = matmul(a, b);                         // meanwhile
///     auto w = std::move(pending).wait();            // Tensor<...>
///
/// To wait is part of the program: a Pending that is dropped ends the job (E66; the compiler warns where
/// one is not even stored), and a second wait is an Error (E67). It cannot be copied, and no operation takes
/// it: refused A04. It holds on to the operand's memory, so writing to that is error E21 until then.
/// All ranks start their collectives in one order; they may wait in any.
///
/// MPI moves data within its calls: matmul and einsum let it (they cut a long product), `test` does, and so
/// does every other collective. Between these, nothing moves where the network needs the processor.
template <class T>
class [[nodiscard("a Pending must be waited for: auto a = std::move(pending).wait();")]] Pending {
 public:
  /// For the operations that start something.
  Pending(runtime::MeshRef mesh, std::array<std::int64_t, T::rank> const& extents,
          runtime::Started& started, std::source_location const& where)
      : mesh_(std::move(mesh)),
        extents_(extents),
        exchange_(started.release()),
        where_(where),
        exceptions_(std::uncaught_exceptions()),
        waiting_(true) {}
  Pending(Pending const&) = delete;
  Pending& operator=(Pending const&) = delete;
  Pending(Pending&& other) noexcept { swap(other); }
  /// What was under way here must have been waited for, as at the end.
  Pending& operator=(Pending&& other) noexcept {
    if (this == &other) return *this;
    Pending old(std::move(*this));
    swap(other);
    return *this;
  }
  /// Error E66, which ends the job, unless it was waited for; while an exception flies it waits instead.
  ~Pending() {
    if (!waiting_) return;
    if (std::uncaught_exceptions() > exceptions_) {
      static_cast<void>(finish());
      return;
    }
    detail::abort_job(std::string("[shardtype E66] a Pending was dropped: ") + where_.file_name() +
                          ":" + std::to_string(where_.line()) +
                          " started a collective and nobody waited for it; auto a = "
                          "std::move(pending).wait();",
                      FailedOn::every_rank);
  }

  /// For operations: `make` makes the T of what comes.
  void then(T (*make)(T)) { then_ = make; }

  /// Lets MPI work; whether the result has come, so that `wait` will not have to. Never waits.
  bool test() {
    check();
    return exchange_ == nullptr || exchange_->calls.requests.poke();
  }

  /// The result, when it has come. Error E67: this Pending was waited for, or moved from.
  [[nodiscard]] T wait() && {
    check();
    T out(mesh_, extents_, finish());
    return then_ == nullptr ? out : then_(std::move(out));
  }
  /// Refused A04: what was waited for is gone, so it says `std::move(pending).wait()`.
  template <class Self = Pending>
  T wait() & {
    return checking::refused<rules::Code::A04_under_way, false, Self>{};
  }

 private:
  void check() const {
    if (!waiting_)
      throw Error("E67",
                  "a Pending is used that was waited for already, or moved from; keep the tensor "
                  "that wait gave",
                  FailedOn::every_rank);
  }
  runtime::Buffer finish() {
    waiting_ = false;
    if (exchange_ == nullptr) return {};
    runtime::Exchange& e = *std::exchange(exchange_, nullptr);
    e.calls.requests.finish();
    if (e.rest != nullptr) e.rest(mesh_.state(), e);
    runtime::Buffer result = std::move(e.result);
    mesh_.state().exchanges().give_back(e);
    return result;
  }
  void swap(Pending& other) noexcept {
    std::swap(mesh_, other.mesh_);
    std::swap(extents_, other.extents_);
    std::swap(exchange_, other.exchange_);
    std::swap(where_, other.where_);
    std::swap(then_, other.then_);
    std::swap(exceptions_, other.exceptions_);
    std::swap(waiting_, other.waiting_);
  }

  runtime::MeshRef mesh_;
  std::array<std::int64_t, T::rank> extents_{};
  runtime::Exchange* exchange_ = nullptr;
  std::source_location where_;
  T (*then_)(T) = nullptr;
  int exceptions_ = 0;
  bool waiting_ = false;
};

}  // namespace shardtype
