// Drawn operations on drawn shapes, types and shardings: scripts/bench sweep draws them, runs the
// same with NumPy, PyTorch and JAX, and prints the worst.
//   --cases=FILE   lines "NUMBER OP TYPE SPLIT ROWS COLUMNS MORE": `SPLIT` rows or columns is over
//                  the ranks, and operations along one dim take the other one
// Prints "time NUMBER MS", the median of five samples of a millisecond or more.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>

#include "paired.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct N : Index<"N"> {};
using Int = std::int64_t;
using Run = std::function<void()>;

struct Case {
  Int rows, columns, more;
};
using Make = std::function<Run(Mesh<X> const&, Case const&)>;

template <class T>
void use(T const& value) {
  asm volatile("" : : "g"(&value) : "memory");
}
double median_ms(Run const& run) {
  using Clock = std::chrono::steady_clock;
  auto const sample = [&](Int times) {
    MPI_Barrier(MPI_COMM_WORLD);
    auto const start = Clock::now();
    for (Int k = 0; k < times; ++k) run();
    MPI_Barrier(MPI_COMM_WORLD);
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count() /
           static_cast<double>(times);
  };
  for (int k = 0; k < 4; ++k) run();
  auto times = static_cast<Int>(1.0 / std::max(sample(1), 1e-4)) + 1;
  MPI_Bcast(&times, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
  std::vector<double> samples;
  for (int k = 0; k < 5; ++k) samples.push_back(sample(times));
  std::nth_element(samples.begin(), samples.begin() + 2, samples.end());
  return samples[2];
}

// What a loss is the sum of.
inline constexpr auto squares = [](auto const& y) { return all_reduce<X>(sum(y * y)); };
template <class D>
inline constexpr auto centred = [](auto const& a) {
  using T = typename std::remove_cvref_t<decltype(a)>::element;
  return (a - mean<D>(a)) * rsqrt(var<D>(a) + T(1e-5));
};
template <class D>
inline constexpr auto centred_loss = [](auto const& a) { return squares(centred<D>(a)); };
template <class D>
inline constexpr auto softmax_loss = [](auto const& a) { return squares(softmax<D>(a)); };
template <class D>
inline constexpr auto logsumexp_loss = [](auto const& a) { return squares(logsumexp<D>(a)); };
inline constexpr auto gelu_loss = [](auto const& a) { return squares(gelu_tanh(a)); };

/// Operations of matrices `[I@X, J]` along J, or of `[I, J@X]` along I.
template <class T, bool rows>
class Operations {
  using D = std::conditional_t<rows, J, I>;      // along which it works
  using Other = std::conditional_t<rows, I, J>;  // split
  using A = std::conditional_t<rows, Tensor<T, Dim<I, X>, Dim<J>>, Tensor<T, Dim<I>, Dim<J, X>>>;

  static A drawn(Mesh<X> const& mesh, Case const& c, std::uint64_t key = 1) {
    if constexpr (std::is_integral_v<T>) {
      return integers<A>(mesh, {c.rows, c.columns}, RandomKey{key}, 0, 1 << 20);
    } else if constexpr (std::is_same_v<T, bfloat16>) {
      return cast<bfloat16>(Operations<float, rows>::drawn(mesh, c, key)).tensor();
    } else {
      return normal<A>(mesh, {c.rows, c.columns}, RandomKey{key});
    }
  }
  static Int along(Case const& c) { return rows ? c.columns : c.rows; }
  static auto vector(Mesh<X> const& mesh, Case const& c) {
    if constexpr (std::is_same_v<T, bfloat16>) {
      return cast<bfloat16>(normal<float, Dim<D>>(mesh, {along(c)}, RandomKey{3})).tensor();
    } else {
      return normal<T, Dim<D>>(mesh, {along(c)}, RandomKey{3});
    }
  }
  template <class F>
  static Make of_one(F const& f) {
    return [f](Mesh<X> const& mesh, Case const& c) -> Run {
      return [f, a = drawn(mesh, c)] { use(f(a)); };
    };
  }
  template <class F>
  static Make of_two(F const& f) {
    return [f](Mesh<X> const& mesh, Case const& c) -> Run {
      return [f, a = drawn(mesh, c), b = drawn(mesh, c, 2)] { use(f(a, b)); };
    };
  }

 public:
  static std::map<std::string, Make> all() {
    std::map<std::string, Make> out;
    out["add"] = of_two([](auto const& a, auto const& b) { return (a + b).tensor(); });
    out["sum"] = of_one([](auto const& a) { return sum<D>(a); });
    out["sum_split"] = of_one([](auto const& a) { return all_reduce<X>(sum<Other>(a)); });
    out["max"] = of_one([](auto const& a) { return max<D>(a); });
    out["transpose"] = of_one([](auto const& a) { return transpose<J, I>(a); });
    out["flip"] = of_one([](auto const& a) { return flip<D>(a); });
    out["repeat"] = of_one([](auto const& a) { return repeat<D, N>(a, 2); });
    out["concat"] = of_two([](auto const& a, auto const& b) { return concat<D, N>(a, b); });
    out["slice"] = [](Mesh<X> const& mesh, Case const& c) -> Run {
      return [a = drawn(mesh, c), n = along(c)] { use(slice<D, N>(a, n / 4, n - n / 8)); };
    };
    if constexpr (!std::is_same_v<T, bfloat16>) {
      out["argmax"] = of_one([](auto const& a) { return argmax<D>(a); });
      out["cumsum"] = of_one([](auto const& a) { return cumsum<D>(a); });
      out["sort"] = of_one([](auto const& a) { return sort<D>(a); });
      out["take_along"] = [](Mesh<X> const& mesh, Case const& c) -> Run {
        using Ids = std::conditional_t<rows, Tensor<std::int32_t, Dim<I, X>, Dim<J>>,
                                       Tensor<std::int32_t, Dim<I>, Dim<J, X>>>;
        auto const ids = integers<Ids>(mesh, {c.rows, c.columns}, RandomKey{5}, 0, along(c));
        return [a = drawn(mesh, c), ids] { use(take_along<D>(a, ids)); };
      };
    }
    if constexpr (!std::is_integral_v<T>) {
      out["exp"] = of_one([](auto const& a) { return exp(a).tensor(); });
      out["tanh"] = of_one([](auto const& a) { return tanh(a).tensor(); });
      out["gelu"] = of_one([](auto const& a) { return gelu_tanh(a).tensor(); });
      out["sqrt_abs"] = of_one([](auto const& a) { return sqrt(abs(a)).tensor(); });
      out["axpy"] = of_two([](auto const& a, auto const& b) { return (a * T(3.0F) + b).tensor(); });
      out["larger"] =
          of_two([](auto const& a, auto const& b) { return where(a > b, a, b).tensor(); });
      out["softmax"] = of_one([](auto const& a) { return softmax<D>(a); });
      out["log_softmax"] = of_one([](auto const& a) { return log_softmax<D>(a); });
      out["logsumexp"] = of_one([](auto const& a) { return logsumexp<D>(a); });
      out["bias"] = [](Mesh<X> const& mesh, Case const& c) -> Run {
        return [a = drawn(mesh, c), b = vector(mesh, c)] { use((a + b).tensor()); };
      };
      out["matmul"] = [](Mesh<X> const& mesh, Case const& c) -> Run { return product(mesh, c); };
    }
    if constexpr (std::is_floating_point_v<T>) {
      out["var"] = of_one([](auto const& a) { return var<D>(a); });
      out["layer_norm"] = of_one([](auto const& a) { return centred<D>(a).tensor(); });
      out["back_layer_norm"] = of_one(value_and_grad<0>(centred_loss<D>));
      out["back_softmax"] = of_one(value_and_grad<0>(softmax_loss<D>));
      out["back_logsumexp"] = of_one(value_and_grad<0>(logsumexp_loss<D>));
      out["back_gelu"] = of_one(value_and_grad<0>(gelu_loss));
    }
    return out;
  }

 private:
  template <class, bool>
  friend class Operations;
  /// By a matrix of `more` columns.
  static Run product(Mesh<X> const& mesh, Case const& c) {
    if constexpr (rows) {
      auto const b = thin<Dim<J>>(mesh, c);
      return [a = drawn(mesh, c), b] { use(matmul(a, b)); };
    } else {
      auto const b = thin<Dim<J, X>>(mesh, c);
      return [a = drawn(mesh, c), b] { use(all_reduce<X>(matmul(a, b))); };
    }
  }
  template <class First>
  static auto thin(Mesh<X> const& mesh, Case const& c) {
    if constexpr (std::is_same_v<T, bfloat16>) {
      return cast<bfloat16>(normal<float, First, Dim<K>>(mesh, {c.columns, c.more}, RandomKey{4}))
          .tensor();
    } else {
      return normal<T, First, Dim<K>>(mesh, {c.columns, c.more}, RandomKey{4});
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  Mesh<X> const mesh(env.world(), {env.size()});
  std::string const path = option(argc, argv, "cases", std::string());
  std::map<std::string, std::map<std::string, Make>> const all = {
      {"float rows", Operations<float, true>::all()},
      {"float columns", Operations<float, false>::all()},
      {"double rows", Operations<double, true>::all()},
      {"bfloat16 rows", Operations<bfloat16, true>::all()},
      {"int32 rows", Operations<std::int32_t, true>::all()}};
  if (path.empty()) {  // what can be drawn
    if (env.rank() == 0)
      for (auto const& [kind, operations] : all)
        for (auto const& [name, make] : operations)
          std::printf("can %s %s\n", kind.c_str(), name.c_str());
    return 0;
  }
  std::ifstream in(path);
  std::string name, type, split;
  Int number = 0;
  Case c{};
  while (in >> number >> name >> type >> split >> c.rows >> c.columns >> c.more) {
    auto const kind = all.find(type + " " + split);
    if (kind == all.end() || !kind->second.contains(name))
      stop("no operation " + name + " of " + type + " " + split);
    double const ms = median_ms(kind->second.at(name)(mesh, c));
    if (env.rank() == 0) std::printf("time %lld %.6f\n", static_cast<long long>(number), ms);
  }
}
