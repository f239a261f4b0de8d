#pragma once
/// Expressions of automatic mode as types: the operations and their operands. They do not determine
/// how values are sharded; the member type `whole` is the type of a value with no dim split.

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

/// A function and its arguments.
template <class F, class... Args>
class Expression {
 public:
  explicit Expression(F f, Args const&... args) : function_(std::move(f)), args_{{args}...} {}

  F const& function() const { return function_; }
  core::Kept<Args...> const& arguments() const { return args_; }
  template <int K>
  auto const& argument() const {
    return numbered<K>(args_);
  }

 private:
  template <int K, class T>
  static T const& numbered(core::KeptAt<K, T> const& at) {
    return at.value;
  }

  F function_;
  core::Kept<Args...> args_;
};

template <class A>
struct WholeSpec {
  static constexpr Spec value = [] {
    Spec out;
    Spec const s = Scope<A>::template spec<0>;
    for (int d = 0; d < s.rank; ++d) out.add(s.dims[d].label);
    return out;
  }();
};

/// Labels of an expression, by identity.
struct LabelSet {
  int size = 0;
  Identity at[max_program_labels]{};

  constexpr bool contains(Identity id) const {
    for (int k = 0; k < size; ++k)
      if (at[k] == id) return true;
    return false;
  }
  constexpr void add(Identity id) {
    if (!contains(id) && size < max_program_labels) at[size++] = id;
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

/// An expression that is a tensor.
template <class A>
class LazyLeaf : public LazyNode {
 public:
  using whole = whole_t<A>;
  using tensor_type = A;
  explicit LazyLeaf(A tensor) : tensor_(std::move(tensor)) {}
  A const& tensor() const { return tensor_; }

 private:
  A tensor_;
};
/// A tensor as an operand of an expression.
template <class A>
class LazyTensor : public LazyLeaf<A>, public core::Argument<LazyTensor<A>> {
 public:
  using LazyLeaf<A>::LazyLeaf;
};

/// A tensor that a function of expressions gets as argument `Number`. Expressions of one type that begin with these
/// have one value, so the same one is found again by its type.
template <class A, int Number>
class LazyInput : public LazyLeaf<A>, public core::Argument<LazyInput<A, Number>> {
 public:
  using LazyLeaf<A>::LazyLeaf;
};

/// The argument `Number` of a function of which only the type is known, for plan_traced.
template <class A, int Number = 0>
class LazySymbol : public LazyNode, public core::Argument<LazySymbol<A, Number>> {
 public:
  using whole = whole_t<A>;
  using tensor_type = A;
};

/// A product of two expressions, with the labels of `Whole`.
template <class A, class B, class Whole>
class LazyProduct : public LazyNode, public core::Argument<LazyProduct<A, B, Whole>> {
 public:
  using whole = Whole;
  LazyProduct(A a, B b) : a_(std::move(a)), b_(std::move(b)) {}
  A const& a() const { return a_; }
  B const& b() const { return b_; }

 private:
  A a_;
  B b_;
};

/// An elementwise function of expressions and numbers; one kernel computes it together with those
/// arguments that are elementwise functions.
template <class F, class... Args>
class LazyMap : public LazyNode,
                public core::Argument<LazyMap<F, Args...>>,
                public detail::Expression<F, Args...> {
 public:
  using whole = typename Resolve<op::Map<F>, detail::argument_t<Args>...>::result;
  using detail::Expression<F, Args...>::Expression;
};

/// The reduction `F` of an expression to the labels of `Whole`.
template <class F, class Whole, class A>
class LazyReduction : public LazyNode, public core::Argument<LazyReduction<F, Whole, A>> {
 public:
  using whole = Whole;
  explicit LazyReduction(A a) : a_(std::move(a)) {}
  A const& a() const { return a_; }

 private:
  A a_;
};

/// An expression with other labels, dim by dim.
template <class Whole, class A>
class LazyRelabel : public LazyNode, public core::Argument<LazyRelabel<Whole, A>> {
 public:
  using whole = Whole;
  explicit LazyRelabel(A a) : a_(std::move(a)) {}
  A const& a() const { return a_; }

 private:
  A a_;
};

/// A transpose. Free for consumers, which match dims by label.
template <class Whole, class A>
class LazyTranspose : public LazyNode, public core::Argument<LazyTranspose<Whole, A>> {
 public:
  using whole = Whole;
  explicit LazyTranspose(A a) : a_(std::move(a)) {}
  A const& a() const { return a_; }

 private:
  A a_;
};

/// Any other operation on expressions. Each rank runs it on blocks in which the dims that it works
/// on are not split.
template <class Op, class Whole, class... As>
class LazyOperation : public LazyNode,
                      public core::Argument<LazyOperation<Op, Whole, As...>>,
                      public detail::Expression<Op, As...> {
 public:
  using whole = Whole;
  using detail::Expression<Op, As...>::Expression;
};

/// A function of the blocks of expressions. The shardings of the operands are fixed, and so is that
/// of the result, the Tensor type `Result`.
template <class F, class Result, class... As>
class LazyShardMap : public LazyNode,
                     public core::Argument<LazyShardMap<F, Result, As...>>,
                     public detail::Expression<F, As...> {
 public:
  using whole = whole_t<Result>;
  using detail::Expression<F, As...>::Expression;
};

/// An expression that is computed in the sharding of the Tensor type `Pin`, and read with its dims in that order.
template <class Pin, class A>
class LazyConstrained : public LazyNode, public core::Argument<LazyConstrained<Pin, A>> {
 public:
  using whole = whole_t<Pin>;
  explicit LazyConstrained(A a) : a_(std::move(a)) {}
  A const& a() const { return a_; }

 private:
  A a_;
};

/// A shared expression: it has several readers and is computed once. `Tag` distinguishes it from
/// others.
template <class Tag, class A>
class LazyShared : public LazyNode, public core::Argument<LazyShared<Tag, A>> {
 public:
  using whole = typename A::whole;
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
    !is_tensor<operand_t<F>>;

/// The Tensor type in whose sharding an expression is computed; void if the planner chooses the
/// sharding.
template <class E>
struct PinOf {
  using type = void;
};
template <class A>
struct PinOf<LazyTensor<A>> {
  using type = A;
};
template <class A, int Number>
struct PinOf<LazyInput<A, Number>> {
  using type = A;
};
template <class A, int Number>
struct PinOf<LazySymbol<A, Number>> {
  using type = A;
};
template <class F, class Result, class... As>
struct PinOf<LazyShardMap<F, Result, As...>> {
  using type = Result;
};
template <class Pin, class A>
struct PinOf<LazyConstrained<Pin, A>> {
  using type = Pin;
};
template <class Tag, class A>
struct PinOf<LazyShared<Tag, A>> : PinOf<A> {};
template <class E>
using pin_t = typename PinOf<E>::type;

template <class A>
inline constexpr bool is_lazy_map = false;
template <class F, class... Args>
inline constexpr bool is_lazy_map<LazyMap<F, Args...>> = true;

/// Whether the type of an expression settles its value: it begins with numbered arguments, and nothing in it is known
/// at run time only, as a C++ number is.
template <class E>
inline constexpr bool is_settled = false;
template <class A, int Number>
inline constexpr bool is_settled<LazyInput<A, Number>> = true;
template <class A, int Number>
inline constexpr bool is_settled<LazySymbol<A, Number>> = true;
template <>
inline constexpr bool is_settled<Number<op::Zero>> = true;
template <class A, class B, class Whole>
inline constexpr bool is_settled<LazyProduct<A, B, Whole>> = is_settled<A> && is_settled<B>;
template <class F, class... Args>
inline constexpr bool is_settled<LazyMap<F, Args...>> =
    std::is_empty_v<F> && (is_settled<Args> && ...);
template <class Op, class Whole, class... As>
inline constexpr bool is_settled<LazyOperation<Op, Whole, As...>> =
    std::is_empty_v<Op> && (is_settled<As> && ...);
template <class F, class Whole, class A>
inline constexpr bool is_settled<LazyReduction<F, Whole, A>> = is_settled<A>;
template <class Whole, class A>
inline constexpr bool is_settled<LazyRelabel<Whole, A>> = is_settled<A>;
template <class Whole, class A>
inline constexpr bool is_settled<LazyTranspose<Whole, A>> = is_settled<A>;
template <class Pin, class A>
inline constexpr bool is_settled<LazyConstrained<Pin, A>> = is_settled<A>;
template <class Tag, class A>
inline constexpr bool is_settled<LazyShared<Tag, A>> = is_settled<A>;

/// Whether an expression that stands twice in a program is computed once: products, reductions and operations whose
/// types settle their values. Functions of elements are part of the kernels around them.
template <class E>
inline constexpr bool is_found_again = false;
template <class A, class B, class Whole>
inline constexpr bool is_found_again<LazyProduct<A, B, Whole>> =
    is_settled<LazyProduct<A, B, Whole>>;
template <class Op, class Whole, class... As>
inline constexpr bool is_found_again<LazyOperation<Op, Whole, As...>> =
    is_settled<LazyOperation<Op, Whole, As...>>;
template <class F, class Whole, class A>
inline constexpr bool is_found_again<LazyReduction<F, Whole, A>> = is_settled<A>;

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

/// Number of operands of the kernel of a map.
template <class A>
inline constexpr int kernel_operands = slots_of<A>;

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
  static constexpr LabelSet labels_a = labels_in<typename A::whole>();
  static constexpr LabelSet labels_b = labels_in<typename B::whole>();
  static constexpr LabelSet labels = labels_in<Whole>();
  static constexpr bool joins_a =
      Chain<A>::product && !Chain<A>::hidden.meets(labels_b) && !Chain<A>::hidden.meets(labels);
  static constexpr bool decide_b() {
    if (!Chain<B>::product || Chain<B>::hidden.meets(labels_a)) return false;
    if (Chain<B>::hidden.meets(labels)) return false;
    return !joins_a || !Chain<B>::hidden.meets(Chain<A>::hidden);
  }
  static constexpr bool joins_b = decide_b();
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
