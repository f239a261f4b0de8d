#pragma once
/// The result of a pending collective.

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

/// The result of an operation that `start` started: a `T` (a Tensor or a Local) once it is
/// complete. It is not a tensor:
///
///     auto pending = start(op::AllGather<X>{}, weights);   // sends from now on
///     auto h = matmul(a, b);                         // meanwhile
///     auto w = std::move(pending).wait();            // Tensor<...>
///
/// The wait is part of the program: destroying a Pending without it ends the job (E66; the compiler
/// warns if it is not even stored), and a second wait is an Error (E67). A Pending cannot be
/// copied, and no operation takes one: refused A04. It shares the operand's memory, so writing to
/// the operand is error E21 until the wait. All ranks must start their collectives in the same
/// order; they may wait for them in any.
///
/// MPI moves data only inside its calls: in matmul and einsum (which cut a long product), in
/// `test`, and in every other collective. Between these, nothing moves if the network needs the
/// processor.
template <class T>
class [[nodiscard("a Pending must be waited for: auto a = std::move(pending).wait();")]] Pending
    : public core::Argument<Pending<T>> {
 public:
  /// For operations that start a collective.
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
  /// The Pending that is overwritten must have been waited for, as at its end.
  Pending& operator=(Pending&& other) noexcept {
    if (this == &other) return *this;
    Pending old(std::move(*this));
    swap(other);
    return *this;
  }
  /// Error E66, which ends the job, unless it was waited for; during stack unwinding it waits
  /// instead.
  ~Pending() {
    if (!waiting_) return;
    if (std::uncaught_exceptions() > exceptions_) {
      // in another thread, which may not wait, the mesh keeps what is under way
      if (!core::RunningCall::in_other_thread()) static_cast<void>(finish());
      return;
    }
    detail::abort_job(std::string("[shardtype E66] a Pending was dropped: ") + where_.file_name() +
                          ":" + std::to_string(where_.line()) +
                          " started a collective and nobody waited for it; auto a = "
                          "std::move(pending).wait();",
                      FailedOn::every_rank);
  }

  /// For operations: `make` converts the result that arrives.
  void then(T (*make)(T)) { then_ = make; }

  /// Lets MPI make progress; true if the result has arrived, so that `wait` returns at once. Never
  /// blocks.
  bool test(std::source_location const& where = std::source_location::current()) {
    core::RunningCall const running("test", where);
    check();
    return exchange_ == nullptr || exchange_->calls.requests.poke();
  }

  /// Waits for the result. Error E67: this Pending was already waited for, or moved from.
  [[nodiscard]] T wait(std::source_location const& where = std::source_location::current()) && {
    core::RunningCall const running("wait", where);
    check();
    T out(mesh_, extents_, finish());
    return then_ == nullptr ? out : then_(std::move(out));
  }
  /// Refused A04: waiting consumes the Pending, so it must be written `std::move(pending).wait()`.
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
    return mesh_.state().complete(*std::exchange(exchange_, nullptr));
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
