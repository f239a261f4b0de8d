#pragma once
/// The parts of an expression of automatic mode as C++ text.

#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/members.hpp>
#include <shardtype/autodiff/program_gradient.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/freeze/text.hpp>
#include <shardtype/lazy/program_names.hpp>

namespace shardtype::freeze {

/// The part of an expression that a value comes from.
class PartText {
 public:
  using Texts = shardtype::detail::List<std::string>;

  PartText() = default;
  PartText(PartText const&) = delete;
  PartText& operator=(PartText const&) = delete;
  virtual ~PartText() = default;

  /// The element type of its value.
  virtual std::string element() const = 0;
  /// Of an operand of the program: its Tensor type, and whether that is reduced over an axis.
  virtual std::string type() const { return {}; }
  virtual bool is_reduced() const { return false; }
  /// A function of elements of these operands.
  virtual ArgumentText made(TextOf const&, Texts const&) const { return {}; }
  /// The cotangent of operand `k` of such a function, of what the derivative reads.
  virtual ArgumentText pulled(TextOf const&, int, Texts const&) const { return {}; }
  /// What is called to compute the value: `sum`, `call(op::Cumsum<I>{}, `.
  virtual std::string callee(TextOf const&) const { return {}; }
  /// The same of an operation whose rows ranks split; `named`: the sharding of its result. Empty:
  /// it has no such call.
  virtual std::string callee_of_split_rows(TextOf const&, std::string const&) const { return {}; }
  /// The operation whose gradient the pulls of operands are: `op::Softmax<J>{}`.
  virtual std::string operation(TextOf const&) const { return {}; }
  /// What they read.
  virtual planning::PartGradient gradient() const = 0;
  /// The same of an operation that makes dims which ranks split. Empty: its result has no name.
  virtual std::string named_callee(TextOf const&, std::string const&) const { return {}; }
  /// Of the node that reads results: the indices of result `k`, in the order of its type.
  virtual shardtype::detail::List<core::Identity> indices_of_result(int) const { return {}; }
  /// Whether it is a mean, whose cotangent is divided by the number of terms; a sum's is not.
  virtual bool is_mean() const { return false; }
  virtual bool is_sum() const { return false; }
  /// The name of its operation.
  virtual std::string_view name() const { return {}; }
};

template <class E>
class TextOfPart : public PartText {
 public:
  using Whole = typename E::whole;
  explicit TextOfPart(E const* e) : e_(e) {}
  std::string element() const override { return freeze::type_text<element_t<Whole>>(); }
  planning::PartGradient gradient() const override { return autodiff::part_gradient<E>(); }

 protected:
  E const& part() const { return *e_; }

 private:
  E const* e_;  ///< null: only the type is known
};

template <class E>
class PartTextOf : public TextOfPart<E> {
  using TextOfPart<E>::TextOfPart;
};
/// A tensor.
template <class E, class A>
class GivenText : public TextOfPart<E> {
 public:
  using TextOfPart<E>::TextOfPart;
  std::string type() const override { return freeze::type_text<A>(); }
  bool is_reduced() const override { return !Scope<A>::template spec<0>.reduced.empty(); }
};
template <class A>
class PartTextOf<automatic_mode::LazyTensor<A>>
    : public GivenText<automatic_mode::LazyTensor<A>, A> {
  using GivenText<automatic_mode::LazyTensor<A>, A>::GivenText;
};
template <class A, int Number>
class PartTextOf<automatic_mode::LazyInput<A, Number>>
    : public GivenText<automatic_mode::LazyInput<A, Number>, A> {
  using GivenText<automatic_mode::LazyInput<A, Number>, A>::GivenText;
};
template <class A, int Number>
class PartTextOf<automatic_mode::LazySymbol<A, Number>>
    : public GivenText<automatic_mode::LazySymbol<A, Number>, A> {
  using GivenText<automatic_mode::LazySymbol<A, Number>, A>::GivenText;
};

template <class F, class... Args>
class PartTextOf<automatic_mode::LazyMap<F, Args...>>
    : public TextOfPart<automatic_mode::LazyMap<F, Args...>> {
  using M = automatic_mode::LazyMap<F, Args...>;
  using Tree = autodiff::TreeIn<0, M>;
  using E = typename Tree::type;
  using Order = std::make_integer_sequence<int, E::inputs>;
  using Texts = PartText::Texts;

 public:
  using TextOfPart<M>::TextOfPart;
  ArgumentText made(TextOf const& of, Texts const& in) const override {
    return [&]<int... K>(std::integer_sequence<int, K...>) {
      return autodiff::value_of(
                 Tree::make(this->part()),
                 autodiff::keep(
                     autodiff::Text<typename autodiff::ElementOfInput<K, E>::type>(of, {in[K]})...))
          .is;
    }(Order{});
  }
  ArgumentText pulled(TextOf const& of, int k, Texts const& in) const override {
    ArgumentText out;
    [&]<int... K>(std::integer_sequence<int, K...>) {
      ((k == K ? void(out = pulled_one<K>(of, in)) : void()), ...);
    }(Order{});
    return out;
  }

 private:
  template <int K>
  ArgumentText pulled_one(TextOf const& of, Texts const& in) const {
    if constexpr (autodiff::way_to<K, E> == autodiff::WayTo::differentiable) {
      using Numbers = typename autodiff::Reads<K, E>::Numbers;
      return pulled_one<K>(of, in, Numbers{},
                           std::make_integer_sequence<std::size_t, Numbers::size()>{});
    } else {
      return {};
    }
  }
  template <int K, int... N, std::size_t... I>
  ArgumentText pulled_one(TextOf const& of, Texts const& in, std::integer_sequence<int, N...>,
                          std::index_sequence<I...>) const {
    return autodiff::pulled<K>(
               Tree::make(this->part()), std::integer_sequence<int, N...>{},
               autodiff::Text<element_t<typename M::whole>>(of, {in[0]}),
               autodiff::Text<typename autodiff::ReadElement<N, E>::type>(of, {in[I + 1]})...)
        .is;
  }
};

template <class F, class Whole, class A>
class PartTextOf<automatic_mode::LazyReduction<F, Whole, A>>
    : public TextOfPart<automatic_mode::LazyReduction<F, Whole, A>> {
 public:
  using TextOfPart<automatic_mode::LazyReduction<F, Whole, A>>::TextOfPart;
  std::string callee(TextOf const&) const override { return std::string(F::name); }
  std::string operation(TextOf const&) const override {
    return freeze::type_text<shardtype::detail::reduction_to<F, typename A::whole, Whole>>() + "{}";
  }
  bool is_mean() const override { return std::is_same_v<F, reductions::Mean>; }
  bool is_sum() const override { return std::is_same_v<F, reductions::Sum>; }
  std::string_view name() const override { return F::name; }
};

template <class Values>
std::string state_texts(Values const& values);
/// Converts to any member of `S`, and to no base of it.
template <class S>
struct NoBase {
  template <class T>
    requires(!std::is_base_of_v<T, S>)
  constexpr operator T() const;
};
template <class S, std::size_t... K>
constexpr bool has_members_alone(std::index_sequence<K...>) {
  return requires { S{((void)K, NoBase<S>{})...}; };
}
/// The values of a state as an initializer: `{true, 0.5}`. Empty: it has others than numbers.
template <class T>
std::string state_text(T const& value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return freeze::number_in_text(value);
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    return freeze::state_texts(value);
  } else if constexpr (std::is_aggregate_v<T> && !std::is_array_v<T>) {
    if constexpr (std::is_empty_v<T>) {
      return "{}";
    } else if constexpr (freeze::has_members_alone<T>(
                             std::make_index_sequence<autodiff::members<T>()>{})) {
      return autodiff::with_members(
          value, [](auto const&... m) { return freeze::state_texts(std::tie(m...)); });
    } else if constexpr (requires { value.options; }) {
      // of its base alone
      if constexpr (sizeof(value.options) == sizeof(T))
        if (std::string const text = freeze::state_text(value.options); !text.empty())
          return "{{" + text + "}}";
      return {};
    } else {
      return {};
    }
  } else {
    return {};
  }
}
template <class Values>
std::string state_texts(Values const& values) {
  std::string out;
  bool known = true;
  std::apply(
      [&](auto const&... m) {
        auto const one = [&](std::string const& text) {
          known = known && !text.empty();
          out += (out.empty() ? "" : ", ") + text;
        };
        (one(freeze::state_text(m)), ...);
      },
      values);
  return known ? "{" + out + "}" : std::string();
}
/// The initializer of an operation; `{}` of its default. Empty: it has no text.
template <class Op>
std::string initializer_text(Op const& op) {
  if constexpr (std::is_empty_v<Op>) {
    return "{}";
  } else {
    std::string text = freeze::state_text(op);
    if constexpr (std::is_default_constructible_v<Op>)
      if (!text.empty() && text == freeze::state_text(Op{})) text = "{}";
    return text;
  }
}
/// An operation by its type and its arguments, or else as a parameter of the printed function.
template <class Op>
std::string operation_text(Op const* op, TextOf const& of) {
  constexpr std::string_view name = freeze::compiler_name<Op>();
  std::string const type = freeze::spelled(name);
  if (std::string const state = op == nullptr ? "" : freeze::initializer_text(*op);
      !type.empty() && !state.empty())
    return type + state;
  return of.names->parameter(core::identity<Op>, name, nullptr, 0, of.part);
}
/// The call of an operation on rows that ranks split, where its named form exchanges their totals.
template <class Op>
std::string split_rows_text(Op const&, std::string const&) {
  return {};
}
template <bool Log, class... Ls>
std::string split_rows_text(op::Normalize<Log, Ls...> const&, std::string const& named) {
  return "call(op::Named<" + freeze::type_text<op::Normalize<Log, Ls...>>() + ", " + named +
         ">{}, std::source_location::current(), ";
}
template <class F, class... Ls>
std::string split_rows_text(op::Reduce<F, Ls...> const& op, std::string const& named) {
  std::string const state = freeze::initializer_text(op);
  return state.empty() ? state
                       : "call(op::Reduce<" + freeze::type_text<F>() + ", " + named + ">" + state +
                             ", std::source_location::current(), ";
}
template <class E, class Op>
class OperationText : public TextOfPart<E> {
 public:
  explicit OperationText(E const* e)
      : TextOfPart<E>(e), op_(e == nullptr ? nullptr : &e->function()) {}
  std::string callee(TextOf const& of) const override {
    return "call(" + operation(of) + ", std::source_location::current(), ";
  }
  std::string operation(TextOf const& of) const override {
    return freeze::operation_text<Op>(op_, of);
  }
  std::string callee_of_split_rows(TextOf const&, std::string const& named) const override {
    return op_ == nullptr ? std::string() : freeze::split_rows_text(*op_, named);
  }
  std::string named_callee(TextOf const& of, std::string const& named) const override {
    if constexpr (shardtype::detail::has_named_form<Op>) {
      return "call(op::Named<" + freeze::type_text<Op>() + ", " + named + ">{" + operation(of) +
             "}, std::source_location::current(), ";
    } else {
      return {};
    }
  }
  std::string_view name() const override { return Op::name; }

 private:
  Op const* op_;
};
template <class Op, class Whole, class... As>
class PartTextOf<automatic_mode::LazyOperation<Op, Whole, As...>>
    : public OperationText<automatic_mode::LazyOperation<Op, Whole, As...>, Op> {
  using OperationText<automatic_mode::LazyOperation<Op, Whole, As...>, Op>::OperationText;
};
template <class Op, class Results, class Result, class... As>
class PartTextOf<automatic_mode::LazyOwnCall<Op, Results, Result, As...>>
    : public OperationText<automatic_mode::LazyOwnCall<Op, Results, Result, As...>, Op> {
  using OperationText<automatic_mode::LazyOwnCall<Op, Results, Result, As...>, Op>::OperationText;
};
template <class F, class Result, class... As>
class PartTextOf<automatic_mode::LazyShardMap<F, Result, As...>>
    : public TextOfPart<automatic_mode::LazyShardMap<F, Result, As...>> {
 public:
  using TextOfPart<automatic_mode::LazyShardMap<F, Result, As...>>::TextOfPart;
  std::string callee(TextOf const& of) const override {
    if constexpr (requires { F::program_name; }) {
      return {};  // of results
    } else {
      return "shard_map<" + freeze::type_text<Result>() + ">(" +
             freeze::function_text(this->part().function(), of) + ", ";
    }
  }
  shardtype::detail::List<core::Identity> indices_of_result(int k) const override {
    shardtype::detail::List<core::Identity> out;
    if constexpr (requires { F::keeps; }) {
      int at = 0;
      ((at++ == k ? add_indices<typename As::pin>(out) : void()), ...);
    }
    return out;
  }

 private:
  template <class A>
  static void add_indices(shardtype::detail::List<core::Identity>& to) {
    using S = Scope<A>;
    for (int d = 0; d < S::parsed[0].spec.rank; ++d)
      to.push_back(S::names.label_id[S::parsed[0].spec.dims[d].label]);
  }
};

/// How C++ names the indices and mesh axes of a program.
class SpelledNames {
 public:
  template <class I>
  void add() {
    if (find(core::identity<I>) == nullptr)
      all_.push_back({core::identity<I>, freeze::type_text<I>()});
  }
  template <class... Xs>
  void add_axes(automatic_mode::Axes<Xs...>) {
    (add<Xs>(), ...);
  }
  /// Those of a Tensor type.
  template <class A>
  void add_of() {
    add_of(static_cast<A const*>(nullptr));
  }
  /// Whether an index or an axis is called so.
  bool has(std::string const& text) const {
    for (Spelled const& s : all_)
      if (s.text == text) return true;
    return false;
  }
  /// Null: it was not added.
  std::string const* find(core::Identity id) const {
    for (Spelled const& s : all_)
      if (s.id == id) return &s.text;
    return nullptr;
  }

 private:
  struct Spelled {
    core::Identity id = nullptr;
    std::string text;
  };
  template <class T, class... Parts>
  void add_of(Tensor<T, Parts...> const*) {
    (add_part(static_cast<Parts*>(nullptr)), ...);
  }
  template <class Part>
  void add_part(Part*) {}
  template <class I, class... Xs>
  void add_part(Dim<I, Xs...>*) {
    add<I>();
    (add<typename shardtype::detail::AxisOf<Xs>::type>(), ...);
  }

  shardtype::detail::List<Spelled> all_;
};

/// Collects the parts of an expression as text beside what `Finder` collects.
template <class Finder>
class TextFinder : public Finder {
 public:
  SpelledNames spelled;
  shardtype::detail::List<shardtype::detail::Owned<PartText const>> texts;

  template <class E>
  int visit(E const* e, shardtype::detail::WalkedOperands const& operands) {
    Finder::visit(e, operands);
    spelled.template add_of<typename E::whole>();
    if constexpr (!std::is_void_v<typename E::pin>) spelled.template add_of<typename E::pin>();
    texts.push_back(shardtype::detail::Owned<PartText const>(new PartTextOf<E>(e)));
    return 0;
  }
  template <class Pin, class A>
  int visit(automatic_mode::LazyConstrained<Pin, A> const*,
            shardtype::detail::WalkedOperands const&) {
    spelled.template add_of<Pin>();
    return 0;
  }
  template <class A>
  void symbol() {
    Finder::template symbol<A>();
    spelled.template add_of<A>();
    texts.push_back(shardtype::detail::Owned<PartText const>(
        new PartTextOf<automatic_mode::LazySymbol<A>>(nullptr)));
  }
};

}  // namespace shardtype::freeze
