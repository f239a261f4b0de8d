// Files, random tensors, text and pictures, which the other programs of scripts/check_nvcc leave out; nothing
// runs.
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

#if __has_include(<Random123/philox.h>)
void numbers(Mesh<X> const& mesh) {
  auto const a = normal<float, Dim<I, X>, Dim<J>>(mesh, {6, 4}, Key{1});
  print(a * uniform<float, Dim<I, X>, Dim<J>>(mesh, {6, 4}, Key{2}));
}
#endif
