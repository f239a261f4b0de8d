// Random programs of manual mode, of up to ten collectives, casts and elementwise functions on
// blocks that are varying, invariant, unreduced and reduced, with the gradients of four arguments,
// against a dense reverse mode in which the rank is one more dim.
// CLANG_STEPS: 33554432
// RANKS: 1 2 4 8
// TIMEOUT: 300
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/dense_reverse.hpp"
#include "harness/gradients.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct B : Index<"B"> {};
template <class... Parts>
using T = Tensor<double, Parts...>;
using Int = std::int64_t;

enum State { V, N, U, R };  // varying, invariant, unreduced, reduced

// What an instruction does: from the states of its operands to that of its result.
enum Op {
  v_sin,
  v_rotate,
  v_permute,
  v_exchange,
  v_exchange_dims,
  v_broadcast,
  v_scatter,
  v_scatter_mean,
  v_stack,
  v_stack_exchange,
  v_stack_scatter,
  v_sum,
  v_mean,
  v_broadcast_whole,
  v_gather_rows,
  v_stack_whole,
  v_stack_reduced,
  v_unreduced,
  n_sin,
  n_shard_gather,
  n_varying,
  n_shard_varying,
  n_reduced,
  n_shard_reduced,
  r_sin,
  r_varying,
  u_scale,
  u_sum,
  u_scatter,
  vv_add,
  vv_multiply,
  vn_multiply,
  vr_multiply,
  nn_multiply,
  rr_multiply,
  rn_multiply,
  uu_add,
  ur_multiply,
  count_of_ops
};
struct Shape {
  int operands;
  State a, b, result;
};
constexpr Shape shapes[count_of_ops] = {
    {1, V, V, V}, {1, V, V, V}, {1, V, V, V}, {1, V, V, V}, {1, V, V, V}, {1, V, V, V},
    {1, V, V, V}, {1, V, V, V}, {1, V, V, V}, {1, V, V, V}, {1, V, V, V}, {1, V, V, N},
    {1, V, V, N}, {1, V, V, N}, {1, V, V, N}, {1, V, V, N}, {1, V, V, R}, {1, V, V, U},
    {1, N, N, N}, {1, N, N, N}, {1, N, N, V}, {1, N, N, V}, {1, N, N, R}, {1, N, N, R},
    {1, R, R, R}, {1, R, R, V}, {1, U, U, U}, {1, U, U, N}, {1, U, U, V}, {2, V, V, V},
    {2, V, V, V}, {2, V, N, V}, {2, V, R, V}, {2, N, N, N}, {2, R, R, R}, {2, R, N, R},
    {2, U, U, U}, {2, U, R, U},
};

struct Instruction {
  Op op;
  int a = 0, b = 0;  // numbers of values: the four arguments, then the results
  int k = 0;         // a rank, or a number of ranks or rows
  std::vector<SourceDestination> pairs{};
};
struct Program {
  std::vector<State> states{V, N, U, R};
  std::vector<Instruction> code{};
};

Program drawn(unsigned seed, int p) {
  std::mt19937 engine(seed);
  auto const below = [&](int n) { return static_cast<int>(engine() % static_cast<unsigned>(n)); };
  Program out;
  auto const of_state = [&](State s) {
    std::vector<int> found;
    for (std::size_t v = 0; v < out.states.size(); ++v)
      if (out.states[v] == s) found.push_back(static_cast<int>(v));
    // late values more often
    return below(2) == 0 ? found.back() : found[static_cast<std::size_t>(below(int(found.size())))];
  };
  int const length = 1 + below(10);
  for (int n = 0; n < length; ++n) {
    Instruction in{static_cast<Op>(below(count_of_ops))};
    Shape const& shape = shapes[in.op];
    in.a = of_state(shape.a);
    in.b = of_state(shape.b);
    in.k = below(p);
    std::vector<int> to;
    for (int r = 0; r < p; ++r) to.push_back(r);
    for (int r = p - 1; r > 0; --r)
      std::swap(to[static_cast<std::size_t>(r)], to[static_cast<std::size_t>(below(r + 1))]);
    for (int r = 0; r < p; ++r)
      if (below(3) > 0) in.pairs.push_back({r, to[static_cast<std::size_t>(r)]});
    out.code.push_back(in);
    out.states.push_back(shape.result);
  }
  return out;
}

// The first of n rows of the blocks of all ranks, one after the other: of two blocks, if k allows
// it.
Int first_row(Int k, Int n) { return k == 0 ? 0 : (k - 1) * n + 1; }

// The program on blocks; its loss.
struct Body {
  Program const* program;
  Int p;

  auto operator()(auto v, auto n, auto u, auto r) const {
    using Value = std::variant<decltype(v), decltype(n), decltype(u), decltype(r)>;
    std::vector<Value> values{Value(std::in_place_index<V>, v), Value(std::in_place_index<N>, n),
                              Value(std::in_place_index<U>, u), Value(std::in_place_index<R>, r)};
    for (Instruction const& in : program->code)
      values.push_back(run(in, values[std::size_t(in.a)], values[std::size_t(in.b)]));
    auto loss = sum(sin(n)).tensor();
    for (Value const& value : values) loss = (loss + number_of(value)).tensor();
    return loss;
  }

 private:
  template <class Value>
  auto number_of(Value const& value) const {
    switch (value.index()) {
      case V:
        return all_reduce<X>(sum(sin(std::get<V>(value))));
      case N:
        return sum(sin(std::get<N>(value)));
      case U:
        return sum(sin(all_reduce<X>(std::get<U>(value))));
      default:
        return all_reduce<X>(sum(sin(varying<X>(std::get<R>(value)))));
    }
  }
  template <class Value>
  Value run(Instruction const& in, Value const& a, Value const& b) const {
    double const part = 1 / static_cast<double>(p);
    auto const as = [](auto state, auto const& x) {
      return Value(std::in_place_index<decltype(state)::value>, x.tensor());
    };
    constexpr std::integral_constant<std::size_t, V> to_v{};
    constexpr std::integral_constant<std::size_t, N> to_n{};
    constexpr std::integral_constant<std::size_t, U> to_u{};
    constexpr std::integral_constant<std::size_t, R> to_r{};
    switch (in.op) {
      case v_sin:
        return as(to_v, sin(std::get<V>(a) * 0.7 + 0.2));
      case v_rotate:
        return as(to_v, rotate<X>(std::get<V>(a), in.k));
      case v_permute:
        return as(to_v, permute<X>(std::get<V>(a), std::span<SourceDestination const>(in.pairs)));
      case v_exchange:
        return as(to_v, all_to_all<X, I, I>(std::get<V>(a)));
      case v_exchange_dims:
        return as(to_v, all_to_all<X, J, I>(sin(all_to_all<X, I, J>(std::get<V>(a)))));
      case v_broadcast:
        return as(to_v, broadcast_from<X>(std::get<V>(a), in.k, to_varying));
      case v_scatter:
        return as(to_v, all_gather<X, I>(reduce_scatter<X, I>(std::get<V>(a) * part), to_varying));
      case v_scatter_mean:
        return as(to_v, all_gather<X, I>(reduce_scatter<Mean, X, I>(std::get<V>(a)), to_varying));
      case v_stack:
        return as(to_v, sum<K>(all_gather<X, K>(std::get<V>(a), to_varying)) * part);
      case v_stack_exchange:
        return as(
            to_v,
            sum<B>(all_to_all<X, K, B>(sin(all_gather<X, K>(std::get<V>(a), to_varying) * part))));
      case v_stack_scatter:
        return as(
            to_v,
            squeeze<K>(reduce_scatter<X, K>(all_gather<X, K>(std::get<V>(a), to_varying) * part)));
      case v_sum:
        return as(to_n, all_reduce<X>(std::get<V>(a)) * part);
      case v_mean:
        return as(to_n, all_reduce<Mean, X>(std::get<V>(a)));
      case v_broadcast_whole:
        return as(to_n, broadcast_from<X>(std::get<V>(a), in.k));
      case v_gather_rows: {
        auto const all = all_gather<X, I>(std::get<V>(a));
        std::int64_t const n = std::get<V>(a).extents()[0];
        return as(to_n,
                  relabel<B, I>(slice<I, B>(all, first_row(in.k, n), first_row(in.k, n) + n)));
      }
      case v_stack_whole:
        return as(to_n, sum<K>(all_gather<X, K>(std::get<V>(a))) * part);
      case v_stack_reduced:
        return as(to_r, sum<K>(sin(all_gather<X, K>(std::get<V>(a), to_reduced))) * part);
      case v_unreduced:
        return as(to_u, unreduced<X>(std::get<V>(a)) * part);
      case n_sin:
        return as(to_n, sin(std::get<N>(a) * 0.7 + 0.2));
      case n_shard_gather:
        return as(to_n, all_gather<X, I>(sin(shard<X, I>(std::get<N>(a)))));
      case n_varying:
        return as(to_v, varying<X>(std::get<N>(a)));
      case n_shard_varying:
        return as(to_v, all_gather<X, I>(rotate<X>(shard<X, I>(std::get<N>(a)), in.k), to_varying));
      case n_reduced:
        return as(to_r, reduced<X>(std::get<N>(a)));
      case n_shard_reduced:
        return as(to_r, all_gather<X, I>(shard<X, I>(std::get<N>(a)), to_reduced));
      case r_sin:
        return as(to_r, sin(std::get<R>(a) * 0.7 + 0.2));
      case r_varying:
        return as(to_v, varying<X>(std::get<R>(a)));
      case u_scale:
        return as(to_u, std::get<U>(a) * -0.5);
      case u_sum:
        return as(to_n, all_reduce<X>(std::get<U>(a)) * part);
      case u_scatter:
        return as(to_v, all_gather<X, I>(reduce_scatter<X, I>(std::get<U>(a)) * part, to_varying));
      case vv_add:
        return as(to_v, std::get<V>(a) + std::get<V>(b) * 0.5);
      case vv_multiply:
        return as(to_v, sin(std::get<V>(a) * std::get<V>(b)));
      case vn_multiply:
        return as(to_v, sin(std::get<V>(a) * varying<X>(std::get<N>(b))));
      case vr_multiply:
        return as(to_v, sin(std::get<V>(a) * std::get<R>(b)));
      case nn_multiply:
        return as(to_n, sin(std::get<N>(a) * std::get<N>(b)));
      case rr_multiply:
        return as(to_r, sin(std::get<R>(a) * std::get<R>(b)));
      case rn_multiply:
        return as(to_r, sin(std::get<R>(a) * reduced<X>(std::get<N>(b))));
      case uu_add:
        return as(to_u, (std::get<U>(a) + std::get<U>(b)) * 0.5);
      case ur_multiply:
        return as(to_u, std::get<U>(a) * sin(std::get<R>(b)));
      default:
        return a;
    }
  }
};

// The same on whole arrays: label 0 is the rank, which I and R values lack; 1 is I, 2 is J.
class Dense {
 public:
  Dense(Int ranks, Int rows, Int columns) : p_(ranks), n_(rows), d_({ranks, rows, columns}) {}
  dense::Reverse& reverse() { return d_; }

  int run(Instruction const& in, int a, int b) {
    double const part = 1 / static_cast<double>(p_);
    Int const k = in.k;
    switch (in.op) {
      case v_sin:
      case n_sin:
      case r_sin:
        return d_.map(
            a, [](double x) { return std::sin(0.7 * x + 0.2); },
            [](double x) { return 0.7 * std::cos(0.7 * x + 0.2); });
      case v_rotate:
        return from_rank(a, [k, p = p_](Int r) { return (r - k + p) % p; });
      case v_permute:
        return d_.linear(each_rank, [=](dense::At const& at, auto const& add) {
          for (SourceDestination const& pair : in.pairs)
            if (pair.destination == at[0]) add(a, on(pair.source, at), 1);
        });
      case v_exchange:
        return d_.linear(each_rank, [=, this](dense::At const& at, auto const& add) {
          Int const q = n_ / p_;
          dense::At from = on(at[1] / q, at);
          from[1] = at[0] * q + at[1] % q;
          add(a, from, 1);
        });
      case v_exchange_dims:
      case n_shard_gather:
        return sine(a);
      case v_broadcast:
        return from_rank(a, [k](Int) { return k; });
      case v_scatter:
      case v_scatter_mean:
      case v_stack:
      case u_scatter:
        return summed(a, each_rank, part);
      case v_stack_exchange: {
        int const shares =
            d_.linear(each_rank, [=](dense::At const& at, auto const& add) { add(a, at, part); });
        return d_.linear(each_rank,
                         [=, this, s = sine(shares)](dense::At const& at, auto const& add) {
                           // each rank receives its own row from all
                           add(s, at, static_cast<double>(p_));
                         });
      }
      case v_stack_scatter:
        return d_.linear(each_rank, [=](dense::At const& at, auto const& add) { add(a, at, 1); });
      case v_sum:
      case v_mean:
      case v_stack_whole:
      case u_sum:
        return summed(a, whole, part);
      case v_broadcast_whole:
        return d_.linear(whole,
                         [=](dense::At const& at, auto const& add) { add(a, on(k, at), 1); });
      case v_gather_rows:
        return d_.linear(whole, [=, this](dense::At const& at, auto const& add) {
          Int const row = first_row(k, n_) + at[1];
          dense::At from = on(row / n_, at);
          from[1] = row % n_;
          add(a, from, 1);
        });
      case v_stack_reduced:
        return summed(sine(a), whole, part);
      case v_unreduced:
        return scaled(a, part);
      case n_varying:
      case r_varying:
        return d_.linear(each_rank, [=](dense::At const& at, auto const& add) { add(a, at, 1); });
      case n_shard_varying:
        return d_.linear(each_rank, [=, this](dense::At const& at, auto const& add) {
          Int const q = n_ / p_;
          dense::At from = at;
          from[1] = (at[1] + (p_ - k) * q) % n_;
          add(a, from, 1);
        });
      case n_reduced:
      case n_shard_reduced:
        return scaled(a, 1);
      case u_scale:
        return scaled(a, -0.5);
      case vv_add:
        return d_.linear(each_rank, [=](dense::At const& at, auto const& add) {
          add(a, at, 1);
          add(b, at, 0.5);
        });
      case vv_multiply:
      case vn_multiply:
      case vr_multiply:
        return sine_of_product(a, b, each_rank);
      case nn_multiply:
      case rr_multiply:
      case rn_multiply:
        return sine_of_product(a, b, whole);
      case uu_add:
        return d_.linear(each_rank, [=](dense::At const& at, auto const& add) {
          add(a, at, 0.5);
          add(b, at, 0.5);
        });
      case ur_multiply:
        return d_.product(a, sine(b), each_rank);
      default:
        return a;
    }
  }
  // The loss of the values.
  int loss(Program const& program, std::vector<int> const& values) {
    std::vector<std::pair<int, double>> parts{{sine(values[N]), 1.0}};
    for (std::size_t v = 0; v < values.size(); ++v) {
      int const value = program.states[v] == U ? summed(values[v], whole, 1) : values[v];
      parts.push_back({sine(value), program.states[v] == R ? static_cast<double>(p_) : 1.0});
    }
    return d_.linear({}, [=, this](dense::At const& at, auto const& add) {
      for (std::pair<int, double> const& part : parts)
        dense::each(d_.value(part.first).labels, {p_, n_, d_.extent(2)}, at,
                    [&](dense::At const& in) { add(part.first, in, part.second); });
    });
  }

 private:
  std::vector<int> const each_rank{0, 1, 2};
  std::vector<int> const whole{1, 2};

  static dense::At on(Int rank, dense::At at) {
    at[0] = rank;
    return at;
  }
  template <class From>
  int from_rank(int a, From from) {
    return d_.linear(each_rank,
                     [=](dense::At const& at, auto const& add) { add(a, on(from(at[0]), at), 1); });
  }
  int summed(int a, std::vector<int> const& labels, double factor) {
    return d_.linear(labels, [=, this](dense::At const& at, auto const& add) {
      for (Int r = 0; r < p_; ++r) add(a, on(r, at), factor);
    });
  }
  int scaled(int a, double factor) {
    return d_.linear(d_.value(a).labels,
                     [=](dense::At const& at, auto const& add) { add(a, at, factor); });
  }
  int sine(int a) {
    return d_.map(a, [](double x) { return std::sin(x); }, [](double x) { return std::cos(x); });
  }
  int sine_of_product(int a, int b, std::vector<int> const& labels) {
    return sine(d_.product(a, b, labels));
  }

  Int p_, n_;
  dense::Reverse d_;
};

std::string text(Program const& program) {
  std::string out;
  for (Instruction const& in : program.code)
    out += "op " + std::to_string(in.op) + " of " + std::to_string(in.a) + ", " +
           std::to_string(in.b) + ", k " + std::to_string(in.k) + "\n";
  return out;
}

// The greatest difference of the gradients.
double difference(std::vector<double> const& got, std::vector<double> const& expected) {
  double most = 0;
  for (std::size_t k = 0; k < got.size(); ++k)
    most = std::max(most, std::abs(got[k] - expected[k]));
  return most;
}

void check_program(unsigned seed, Int rows_per_rank, Int columns) {
  Int const p = on_ranks::rank_total();
  Mesh<X> const mesh(MPI_COMM_WORLD, {p});
  Program const program = drawn(seed, static_cast<int>(p));
  INFO("seed " << seed << ", program\n" << text(program));
  Int const n = p * rows_per_rank;  // of each block
  auto const v = gradients::make<T<Dim<I, X>, Dim<J>>>(mesh, {p * n, columns}, 1);
  auto const w = gradients::make<T<Dim<I>, Dim<J>>>(mesh, {n, columns}, 2);
  auto const u = gradients::make<T<Dim<I>, Dim<J>, Unreduced<X>>>(mesh, {n, columns}, 3);
  auto const r = gradients::make<T<Dim<I>, Dim<J>, Reduced<X>>>(mesh, {n, columns}, 4);
  Body const body{&program, p};
  auto const both = value_and_grad<0, 1, 2, 3>(
      [&](auto const&... tensors) { return shard_map<>(body, tensors...); })(v, w, u, r);

  Dense dense(p, n, columns);
  auto const input = [&](bool each_rank, std::vector<double> values) {
    dense::Array a =
        each_rank ? dense::Array({0, 1, 2}, {p, n, columns}) : dense::Array({1, 2}, {n, columns});
    values.resize(a.values.size());  // summands of the other ranks are zeros
    a.values = values;
    return dense.reverse().input(a);
  };
  std::vector<int> values{input(true, gradients::whole(v)), input(false, gradients::whole(w)),
                          input(true, gradients::whole(u)), input(false, gradients::whole(r))};
  for (Instruction const& in : program.code)
    values.push_back(dense.run(in, values[static_cast<std::size_t>(in.a)],
                               values[static_cast<std::size_t>(in.b)]));
  int const loss = dense.loss(program, values);
  double const value = dense.reverse().value(loss).values[0];
  CHECK(std::abs(gradients::total(both.value) - value) < 1e-11 * (1 + std::abs(value)));
  auto const expected = dense.reverse().gradients(loss);
  auto const of = [&](int k) { return expected[static_cast<std::size_t>(k)].values; };
  CHECK(difference(gradients::whole(std::get<0>(both.grad)), of(0)) < 1e-11);
  CHECK(difference(gradients::whole(std::get<1>(both.grad)), of(1)) < 1e-11);
  // the gradient of a sum is that of each summand
  CHECK(difference(gradients::whole(std::get<2>(both.grad)), of(2)) < 1e-11);
  CHECK(difference(gradients::whole(std::get<3>(both.grad)), of(3)) < 1e-11);
}

}  // namespace

TEST_CASE("random programs of manual mode with gradients") {
  for (unsigned seed = 0; seed < 150; ++seed) check_program(seed, 1 + seed % 2, seed % 3);
}
