#pragma once
/// The operation of the program that runs, for the texts of Errors.

#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/namespaces.hpp>

namespace shardtype::core {

struct Names;
struct Spec;

/// " (main.cpp:12)"; nothing for a place that is not known.
std::string source_text(std::source_location const& where);

/// Records a call while it runs: the name of the operation, the line that calls it, and the tensor
/// that it makes. Calls that the library makes itself are nested; what is reported is the program's
/// own line. Every Error says the operation and the line. Error E08 in a second thread,
/// E09 after the end of MPI.
class RunningCall {
 public:
  constexpr RunningCall(std::string_view operation, std::source_location const& where,
                        char const* element = nullptr, Spec const* spec = nullptr,
                        Names const* names = nullptr)
      : operation_(operation), where_(where), element_(element), spec_(spec), names_(names) {
    if (std::is_constant_evaluated()) return;
    outer_ = innermost_;
    innermost_ = this;
    if (checks_thread_ && !own_thread_) refuse();
    if (listener_ != nullptr) listener_(*this, true);
  }
  /// A tensor that no operation makes, or one whose operation is known already.
  constexpr RunningCall(char const* element, Spec const& spec, Names const& names)
      : RunningCall({}, {}, element, &spec, &names) {}
  /// The name and the line of a call, by which Errors name it when its cotangent is taken back.
  struct Mark {
    std::string_view operation{};
    std::source_location where{};
  };
  /// The mark of the innermost call.
  static constexpr Mark mark() {
    if (std::is_constant_evaluated() || innermost_ == nullptr) return {};
    return {innermost_->operation_,
            innermost_->outer_ == nullptr ? innermost_->where_ : place(innermost_->where_)};
  }
  /// The cotangent of a call is taken back.
  constexpr explicit RunningCall(Mark const& of) : RunningCall(of.operation, of.where) {
    backward_ = true;
  }
  RunningCall(RunningCall const&) = delete;
  RunningCall& operator=(RunningCall const&) = delete;
  constexpr ~RunningCall() {
    if (std::is_constant_evaluated()) return;
    if (listener_ != nullptr) listener_(*this, false);
    innermost_ = outer_;
  }

  /// The program's line that runs: `where` if that is one, and not a line of the library; else that
  /// of the innermost call with one. Line 0: none is known.
  static std::source_location place(std::source_location const& where = {});
  /// "; in matmul (main.cpp:12)"; empty outside of calls.
  static std::string text();
  /// The operation and the program's line of `text`; line 0: none is known.
  struct Named : Mark {
    bool backward = false;
  };
  static Named named_now();
  /// This call, whether or not its line is the program's.
  Named named() const { return {{operation_, where_}, backward_}; }
  /// Whether it is an operation, called from a line of the program and not of the library.
  bool of_program() const { return !operation_.empty() && in_program(where_); }
  /// Is called when a call begins and ends: SHARDTYPE_TRACE. Null: nobody listens.
  using Listener = void (*)(RunningCall const& call, bool begins);
  static void listen(Listener listener) { listener_ = listener; }
  /// An Environment begins: from now on calls in other threads than the calling one are Error E08.
  static void keep_to_this_thread() { own_thread_ = checks_thread_ = true; }
  /// Error E08 or E09, as of a call, where MPI is called: by what is no operation too.
  static void check_thread(std::string_view operation = {}) {
    if (checks_thread_ && !own_thread_) RunningCall const refused(operation, {});
  }
  /// It ends; if it `ends_mpi`, calls are Error E09 from now on.
  static void leave_thread(bool ends_mpi) {
    own_thread_ = false;
    checks_thread_ = ended_ = ends_mpi;
  }
  /// Whether calls in this thread are Error E08.
  static bool in_other_thread() { return checks_thread_ && !own_thread_ && !ended_; }
  /// The outermost call that makes a tensor, or null.
  static RunningCall const* making();

  char const* element() const { return element_; }
  Spec const& spec() const { return *spec_; }
  Names const& names() const { return *names_; }

 private:
  /// Whether a place is known and in the program, not in the library.
  static bool in_program(std::source_location const& where);
  static RunningCall const* innermost_named();

  [[noreturn]] void refuse() const;

  // NOLINTBEGIN(readability-identifier-naming): as members that are not static
  static inline thread_local RunningCall const* innermost_ = nullptr;
  static inline Listener listener_ = nullptr;
  static inline bool checks_thread_ = false;
  static inline bool ended_ = false;
  static inline thread_local bool own_thread_ = false;
  /// This header's path; no constant, so that a compiled part reads that of the program.
  static inline char const* header_ = __FILE__;
  // NOLINTEND(readability-identifier-naming)

  std::string_view operation_;
  std::source_location where_;
  char const* element_;
  Spec const* spec_;
  Names const* names_;
  RunningCall const* outer_ = nullptr;
  bool backward_ = false;
};

}  // namespace shardtype::core

#ifndef SHARDTYPE_COMPILED
#include <shardtype/core/error.hpp>
#include <shardtype/core/running_call.ipp>
#endif
