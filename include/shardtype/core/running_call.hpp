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
/// own line. Every Error says the operation and the line.
class RunningCall {
 public:
  constexpr RunningCall(std::string_view operation, std::source_location const& where,
                        char const* element = nullptr, Spec const* spec = nullptr,
                        Names const* names = nullptr)
      : operation_(operation), where_(where), element_(element), spec_(spec), names_(names) {
    if (std::is_constant_evaluated()) return;
    outer_ = innermost_;
    innermost_ = this;
  }
  /// A tensor that no operation makes, or one whose operation is known already.
  constexpr RunningCall(char const* element, Spec const& spec, Names const& names)
      : RunningCall({}, {}, element, &spec, &names) {}
  /// What a call is called later, when its cotangent is taken back.
  struct Mark {
    std::string_view operation{};
    std::source_location where{};
  };
  /// Of the innermost call.
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
    if (!std::is_constant_evaluated()) innermost_ = outer_;
  }

  /// The program's line that runs: `where` if that is one, and not a line of the library; else that
  /// of the innermost call with one. Line 0: none is known.
  static std::source_location place(std::source_location const& where = {});
  /// "; in matmul (main.cpp:12)"; empty outside of calls.
  static std::string text();
  /// The outermost call that makes a tensor, or null.
  static RunningCall const* making();

  char const* element() const { return element_; }
  Spec const& spec() const { return *spec_; }
  Names const& names() const { return *names_; }

 private:
  static RunningCall const* named();

  static inline RunningCall const* innermost_ = nullptr;

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
#include <shardtype/core/running_call.ipp>
#endif
