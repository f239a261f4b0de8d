#pragma once
/// Expressions of automatic mode as types: the operations and their operands. They do not determine
/// how values are sharded; the member type `whole` is the type of a value with no dim split.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/check/elementwise.hpp>
#include <shardtype/check/reduction.hpp>
#include <shardtype/core/kept.hpp>
#include <shardtype/execute/fused.hpp>
#include <shardtype/plan/program.hpp>
#include <shardtype/tensor/operand.hpp>
#include <shardtype/tensor/tensor.hpp>

namespace shardtype {

namespace detail {

template <class A>
struct WholeSpec {
  static constexpr Spec value = [] {
    Spec out;
    Spec const s = Scope<A>::template spec<0>;
    for (int d = 0; d < s.rank; ++d) out.add(s.dims[d].label);
    return out;
  }();
};

/// Whether the type of an expression determines its value: it begins with numbered arguments, and
/// nothing in it is known at run time only, as a C++ number is.
template <class E>
inline constexpr bool is_determined = false;
template <>
inline constexpr bool is_determined<Number<op::Zero>> = true;
template <class E>
  requires is_lazy<E>
inline constexpr bool is_determined<E> = E::determined;

/// What writes the values of the first of these expressions that is one of a program under way;
/// void: the types of all are their programs.
template <class A>
struct RecorderIn {
  using type = void;
};
template <class A>
  requires is_lazy<A>
struct RecorderIn<A> {
  using type = typename A::recorder;
};
template <class... As>
struct RecorderOf {
  using type = void;
};
template <class A, class... As>
struct RecorderOf<A, As...> : std::conditional_t<std::is_void_v<typename RecorderIn<A>::type>,
                                                 RecorderOf<As...>, RecorderIn<A>> {};

/// The number of a kernel's value in the program under way, once it is recorded; the same of all
/// copies.
template <class Recorder>
struct RecordedOnce {
  std::shared_ptr<int> number = std::make_shared<int>(-1);
};
template <>
struct RecordedOnce<void> {};

/// Labels of an expression, by identity.
struct LabelSet {
  int size = 0;
  static constexpr int most = 32;
  Identity at[most]{};

  constexpr bool contains(Identity id) const {
    for (int k = 0; k < size; ++k)
      if (at[k] == id) return true;
    return false;
  }
  constexpr void add(Identity id) {
    if (!contains(id) && size < most) at[size++] = id;
  }
  constexpr void add(LabelSet const& other) {
    for (int k = 0; k < other.size; ++k) add(other.at[k]);
  }
  constexpr bool meets(LabelSet const& other) const {
    for (int k = 0; k < size; ++k)
      if (other.contains(at[k])) return true;
    return false;
  }
};
template <class A>
constexpr LabelSet labels_in() {
  LabelSet out;
  for (int l = 0; l < Scope<A>::names.labels; ++l) out.add(Scope<A>::names.label_id[l]);
  return out;
}

}  // namespace detail

}  // namespace shardtype

namespace shardtype::automatic_mode {

/// `A` with no dim split and nothing unreduced.
template <class A>
using whole_t = tensor_from_spec<Scope<A>, detail::WholeSpec<A>, element_t<A>, A>;

template <class A>
struct BlockOf;
template <class T, class... Parts>
struct BlockOf<Tensor<T, Parts...>> {
  using type = Local<T, Parts...>;
};
/// The type of one rank's block of a tensor whose dims are not split.
template <class A>
using block_t = typename BlockOf<A>::type;

/// Base of the expression `Self`, which has the labels of `Whole` and the operands `As`.
template <class Self, class Whole, class... As>
class LazyOf : public LazyNode, public core::Argument<Self> {
 public:
  using whole = Whole;
  using operands = detail::Pack<As...>;
  /// The Tensor type in whose sharding it is computed; void if the planner chooses the sharding.
  using pin = void;
  static constexpr bool determined = (detail::is_determined<As> && ...);
  /// Whether it is computed once if it stands twice in a program and is determined. Functions of
  /// elements are part of the kernels around them.
  static constexpr bool found_again = false;
  using recorder = typename detail::RecorderOf<As...>::type;

  explicit LazyOf(As... as) : arguments_{{std::move(as)}...} {}
  core::Kept<As...> const& arguments() const { return arguments_; }
  template <int K>
  auto const& argument() const {
    return numbered<K>(arguments_);
  }

 private:
  template <int K, class T>
  static T const& numbered(core::KeptAt<K, T> const& at) {
    return at.value;
  }

  core::Kept<As...> arguments_;
};

/// Base of the expression `Self`: a function `F` of the expressions `As`.
template <class Self, class Whole, class F, class... As>
class LazyFunction : public LazyOf<Self, Whole, As...> {
 public:
  static constexpr bool determined = std::is_empty_v<F> && LazyOf<Self, Whole, As...>::determined;

  explicit LazyFunction(F f, As... as)
      : LazyOf<Self, Whole, As...>(std::move(as)...), function_(std::move(f)) {}
  F const& function() const { return function_; }

 private:
  F function_;
};

/// Base of the expression `Self`, which is a tensor `A`, or stands for one.
template <class Self, class A>
struct LazyGiven : LazyOf<Self, whole_t<A>> {
  using pin = A;
};

/// Base of an expression that is a tensor; `Number`: of which argument of a function, or -1.
template <class Self, class A, int Number>
class LazyLeaf : public LazyGiven<Self, A> {
 public:
  static constexpr bool determined = Number >= 0;
  static constexpr int number = Number;

  explicit LazyLeaf(A tensor) : tensor_(std::move(tensor)) {}
  A const& tensor() const { return tensor_; }

 private:
  A tensor_;
};

/// A tensor as an operand of an expression.
template <class A>
struct LazyTensor : LazyLeaf<LazyTensor<A>, A, -1> {
  using LazyLeaf<LazyTensor<A>, A, -1>::LazyLeaf;
};
/// A tensor that a function of expressions gets as argument `Number`. Expressions of one type that
/// begin with these have one value, so the same one is found again by its type.
template <class A, int Number>
struct LazyInput : LazyLeaf<LazyInput<A, Number>, A, Number> {
  static constexpr bool found_again = true;
  using LazyLeaf<LazyInput<A, Number>, A, Number>::LazyLeaf;
};
/// The argument `Number` of a function of which only the type is known, for plan_traced.
template <class A, int Number = 0>
struct LazySymbol : LazyGiven<LazySymbol<A, Number>, A> {
  static constexpr bool found_again = true;
};

/// A product of two expressions, with the labels of `Whole`.
template <class A, class B, class Whole>
struct LazyProduct : LazyOf<LazyProduct<A, B, Whole>, Whole, A, B> {
  static constexpr bool found_again = true;
  using LazyOf<LazyProduct<A, B, Whole>, Whole, A, B>::LazyOf;
};

/// A value of a program that is written while its function runs (lazy/recorded_value.hpp).
template <class Whole, class Pin, class Varies, class Recorder>
class RecordedValue;

/// An elementwise function of expressions and numbers; one kernel computes it together with those
/// arguments that are elementwise functions.
template <class F, class... Args>
struct LazyMap
    : LazyFunction<LazyMap<F, Args...>,
                   typename Resolve<op::Map<F>, detail::argument_t<Args>...>::result, F, Args...>,
      detail::RecordedOnce<typename detail::RecorderOf<Args...>::type> {
  using LazyFunction<LazyMap<F, Args...>,
                     typename Resolve<op::Map<F>, detail::argument_t<Args>...>::result, F,
                     Args...>::LazyFunction;
  /// As in strict mode: the value, outside of the kernels of its readers.
  auto tensor() const;
};

/// The reduction `F` of an expression to the labels of `Whole`.
template <class F, class Whole, class A>
struct LazyReduction : LazyOf<LazyReduction<F, Whole, A>, Whole, A> {
  static constexpr bool found_again = true;
  using LazyOf<LazyReduction<F, Whole, A>, Whole, A>::LazyOf;
};

/// An expression with other labels, dim by dim.
template <class Whole, class A>
struct LazyRelabel : LazyOf<LazyRelabel<Whole, A>, Whole, A> {
  using LazyOf<LazyRelabel<Whole, A>, Whole, A>::LazyOf;
};

/// A transpose. Free for consumers, which match dims by label.
template <class Whole, class A>
struct LazyTranspose : LazyOf<LazyTranspose<Whole, A>, Whole, A> {
  using LazyOf<LazyTranspose<Whole, A>, Whole, A>::LazyOf;
};

/// Any other operation on expressions. Each rank runs it on blocks in which the dims that it works
/// on are not split.
template <class Op, class Whole, class... As>
struct LazyOperation : LazyFunction<LazyOperation<Op, Whole, As...>, Whole, Op, As...> {
  static constexpr bool found_again = true;
  using LazyFunction<LazyOperation<Op, Whole, As...>, Whole, Op, As...>::LazyFunction;
};

/// An operation that communicates by itself, as in strict mode: the shardings of its operands are
/// theirs, and those of its results follow. `Result`: the Tensor type of the first, `Results` a
/// std::tuple of all.
template <class Op, class Results, class Result, class... As>
struct LazyOwnCall
    : LazyFunction<LazyOwnCall<Op, Results, Result, As...>, whole_t<Result>, Op, As...> {
  using Base = LazyFunction<LazyOwnCall<Op, Results, Result, As...>, whole_t<Result>, Op, As...>;
  using pin = Result;
  using results = Results;
  static constexpr bool determined = (std::is_empty_v<Op> || requires {
                                       requires Op::determined_by_type;
                                     }) && (detail::is_determined<As> && ...);
  static constexpr bool found_again = true;
  using Base::Base;
};

/// The Tensor type in whose sharding result `K` of a recorded operation is computed, or void.
template <std::size_t K, class Node>
struct PinOfResult {
  using type = void;
};
template <std::size_t K, class Node>
  requires requires { typename Node::results; }
struct PinOfResult<K, Node> {
  using type = std::tuple_element_t<K, typename Node::results>;
};

/// Result `K` of the recorded operation `Node`, which its results share.
template <std::size_t K, class Whole, class Node>
class LazyResult : public LazyOf<LazyResult<K, Whole, Node>, Whole> {
 public:
  using pin = typename PinOfResult<K, Node>::type;
  static constexpr bool determined = detail::is_determined<Node>;

  explicit LazyResult(std::shared_ptr<Node const> node) : node_(std::move(node)) {}
  Node const& node() const { return *node_; }

 private:
  std::shared_ptr<Node const> node_;
};

/// A function of the blocks of expressions. The shardings of the operands are fixed, and so is that
/// of the result, the Tensor type `Result`.
template <class F, class Result, class... As>
struct LazyShardMap : LazyFunction<LazyShardMap<F, Result, As...>, whole_t<Result>, F, As...> {
  using pin = Result;
  static constexpr bool determined = false;
  using LazyFunction<LazyShardMap<F, Result, As...>, whole_t<Result>, F, As...>::LazyFunction;
};

/// An expression that is computed in the sharding of the Tensor type `Pin`, and read with its dims
/// in that order.
template <class Pin, class A>
struct LazyConstrained : LazyOf<LazyConstrained<Pin, A>, whole_t<Pin>, A> {
  using pin = Pin;
  using LazyOf<LazyConstrained<Pin, A>, whole_t<Pin>, A>::LazyOf;
};

/// A shared expression: it has several readers and is computed once. `Tag` distinguishes it from
/// others.
template <class Tag, class A>
class LazyShared : public LazyOf<LazyShared<Tag, A>, typename A::whole> {
 public:
  using pin = typename A::pin;
  static constexpr bool determined = detail::is_determined<A>;

  explicit LazyShared(A a) : a_(std::make_shared<A const>(std::move(a))) {}
  A const& a() const { return *a_; }

 private:
  std::shared_ptr<A const> a_;
};

}  // namespace shardtype::automatic_mode

namespace shardtype {

namespace detail {

/// Whether `E` is a tuple of expressions.
template <class E>
inline constexpr bool is_several = false;
template <class... Es>
inline constexpr bool is_several<std::tuple<Es...>> = true;

/// Whether `F` is a function of expressions: something callable that is no operand.
template <class F>
inline constexpr bool is_function_of_expressions =
    std::is_class_v<F> && !is_lazy<F> && !is_several<F> && !any_poisoned<F> && !is_pending<F> &&
    !is_tensor<operand_t<F>> && !std::is_base_of_v<core::GradientFunction, F>;

/// The Tensor type in whose sharding an expression is computed, or void.
template <class E>
using pin_t = typename E::pin;

template <class A>
inline constexpr bool is_lazy_map = false;
template <class F, class... Args>
inline constexpr bool is_lazy_map<LazyMap<F, Args...>> = true;

/// In a kernel an expression is an operand in memory or, if it is an elementwise function itself,
/// part of the kernel.
template <class A, int First, class T>
  requires is_lazy<A>
struct Lowered<A, First, T> {
  using types = kernels::Elements<element_t<typename A::whole>>;
  using expression = kernels::Leaf<element_t<typename A::whole>, First>;
  static expression make(A const&) { return {}; }
};
template <class F, class... Args>
inline constexpr int slots_of<LazyMap<F, Args...>> = (slots_of<Args> + ... + 0);
template <class F, class... Args, int First, class T>
struct Lowered<LazyMap<F, Args...>, First, T>
    : lowered_function<F, typename ElementFor<F, argument_t<Args>...>::type, First, Args...> {
  static auto make(LazyMap<F, Args...> const& m) {
    return lowered_function<F, typename ElementFor<F, argument_t<Args>...>::type, First,
                            Args...>::make(m.function(), m.arguments());
  }
};

// Chains of products: which factors of a product join its chain, so that the association of all of
// them can be chosen together. A factor joins only if the labels that it sums over do not occur in
// the others.
template <class A>
struct Chain {
  static constexpr bool product = false;
  static constexpr LabelSet hidden{};
};
template <class A, class B, class Whole>
struct Chain<LazyProduct<A, B, Whole>> {
  static constexpr bool product = true;
  static constexpr LabelSet labels_a = detail::labels_in<typename A::whole>();
  static constexpr LabelSet labels_b = detail::labels_in<typename B::whole>();
  static constexpr LabelSet labels = detail::labels_in<Whole>();
  static constexpr bool joins_a =
      Chain<A>::product && !Chain<A>::hidden.meets(labels_b) && !Chain<A>::hidden.meets(labels);
  static constexpr bool decide_b() {
    if (!Chain<B>::product || Chain<B>::hidden.meets(labels_a)) return false;
    if (Chain<B>::hidden.meets(labels)) return false;
    return !joins_a || !Chain<B>::hidden.meets(Chain<A>::hidden);
  }
  static constexpr bool joins_b = decide_b();
  /// Whether factor `K` joins.
  static constexpr bool joins(int k) { return k == 0 ? joins_a : joins_b; }
  static constexpr LabelSet find_hidden() {
    LabelSet out;
    for (LabelSet const* given : {&labels_a, &labels_b})
      for (int k = 0; k < given->size; ++k)
        if (!labels.contains(given->at[k])) out.add(given->at[k]);
    if (joins_a) out.add(Chain<A>::hidden);
    if (joins_b) out.add(Chain<B>::hidden);
    return out;
  }
  static constexpr LabelSet hidden = find_hidden();
};

}  // namespace detail

}  // namespace shardtype
