// Files, random tensors, text, pictures and a plan over two axes, which the other programs of
// scripts/check_nvcc do not use; nothing runs.
#include <shardtype/shardtype.hpp>
#include <shardtype/visualize/program_page.hpp>
#if __has_include(<Random123/philox.h>)
#include <shardtype/random/random.hpp>
#endif

using namespace shardtype;

struct X : Axis<"X"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;

void files(Mesh<X> const& mesh) {
  auto const a = load_npy<float, Dim<I, X>, Dim<J>>(mesh, "a.npy");
  save_npy(transpose<J, I>(a), "b.npy");
}

void pictures(Mesh<X> const& mesh) {
  A const a = full<A>(mesh, {6, 4}, 1.0F);
  visualize(a, "a");
  print(max(a, 0.0F));
  auto const program = dry_run<A>([](auto x) { return evaluate<Dim<I>, Dim<J, X>>(x * 2.0F); });
  write_html(program.planned(), "plan.html");
}

// Counts bytes over two axes in a constant expression: an array of Lists would not be destroyed.
struct X2 : Axis<"X2", 2> {};
struct Y3 : Axis<"Y3", 3> {};
struct I9 : Index<"I9", 9> {};
struct J8 : Index<"J8", 8> {};
using Split = Tensor<float, Dim<I9, X2>, Dim<J8, Y3>>;
static_assert(plan_traced<Split>([](auto a) {
                return evaluate<Dim<I9, Y3>, Dim<J8, X2>>(a * 2.0F);
              }).bytes_per_rank() > 0);

#if __has_include(<Random123/philox.h>)
void numbers(Mesh<X> const& mesh) {
  auto const a = normal<float, Dim<I, X>, Dim<J>>(mesh, {6, 4}, RandomKey{1});
  print(a * uniform<float, Dim<I, X>, Dim<J>>(mesh, {6, 4}, RandomKey{2}));
}
#endif
