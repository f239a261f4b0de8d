// What surprises newcomers, each as a check: the program of docs/sharp_bits.md.
// RANKS: 1 4
#include <cstdint>
#include <cstdio>
#include <type_traits>

#include <shardtype/shardtype.hpp>

using namespace shardtype;

struct X : Axis<"X"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct N : Index<"N", 6> {};  // an extent known to the compiler

// A function of the program's own, with a name that the library has too.
namespace mine {
auto relu(auto const& a) { return a * 2.0F; }
auto twice(auto const& a) { return relu(a); }
}  // namespace mine

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  Mesh<X> const mesh(env.world());
  int wrong = 0;
  auto const holds = [&](bool fact, char const* what) {
    if (fact) return;
    ++wrong;
    std::printf("does not hold: %s\n", what);
  };
  auto const a = from_function<float, Dim<I, X>, Dim<J>>(
      mesh, {8, 3}, [](std::int64_t i, std::int64_t j) { return static_cast<float>(10 * i + j); });

  // 1. An expression is computed where it is used, not where it is written.
  auto const expression = a + 1.0F;
  using E = std::remove_const_t<decltype(expression)>;
  holds(!is_tensor<E>, "a + 1 is an expression");
  // docs: computed
  Tensor<float, Dim<I, X>, Dim<J>> const computed = expression;
  auto const also = expression.tensor();
  // docs: end
  holds(array_equal(computed, also), "a type or .tensor() computes it");

  // 2. sum<J> sums over J; sum<Dim<J>> names the dims that are left.
  auto const over = sum<J>(a);
  auto const left = sum<Dim<J>>(a);
  holds(over.extents()[0] == 8 && left.extents()[0] == 3, "a label goes, a Dim stays");

  // 3. A sum along a split dim is unreduced until something reduces it.
  auto const pending = sum<I>(a);
  static_assert(
      std::is_same_v<std::remove_const_t<decltype(pending)>, Tensor<float, Dim<J>, Unreduced<X>>>);
  auto const total = all_reduce<X>(pending);
  static_assert(std::is_same_v<std::remove_const_t<decltype(total)>, Tensor<float, Dim<J>>>);

  // 4. item, print, to_host and save_npy are calls of all ranks.
  // docs: item
  float const first = item(at<J>(total, 0));
  if (env.rank() == 0)
    std::printf("the sum of the first column is %g\n", static_cast<double>(first));
  // docs: end
  holds(first == 280.0F, "every rank has the number");

  // 5. An assignment shares nothing with another variable: tensors are values.
  auto b = a.clone();
  b += 1.0F;
  holds(!array_equal(a, b), "a is as it was");

  // 6. Extents of an Index without one are known at run time.
  auto const with_extent = zeros<float, Dim<N>>(mesh);
  auto const without = zeros<float, Dim<I>>(mesh, {6});
  holds(with_extent.extents()[0] == without.extents()[0], "both have 6");

  // 7. A function of the program's own is called, not the library's.
  holds(item(sum<Tensor<float>>(mine::twice(a))) == 2 * item(sum<Tensor<float>>(a)), "mine::relu");

  // 8. A parameter is used whole and reduced, so that its gradient is reduced once.
  auto const w = full<float, Dim<J>>(mesh, {3}, 0.5F);
  auto const gradient = grad<0>([](auto const& p, auto const& x) {
    return sum<Tensor<float>>(x * used_as<Tensor<float, Dim<J>, Reduced<X>>>(p));
  })(w, a);
  static_assert(std::is_same_v<std::remove_const_t<decltype(gradient)>, Tensor<float, Dim<J>>>);
  holds(allclose(gradient, total), "the gradient is the sum of the columns");

  return wrong;
}
