// Writes plans as JSON and as HTML to the folder that its argument names, and the numbers of the
// plans themselves; check_explained.py compares them.
#include <cstdio>
#include <string>

#include <shardtype/shardtype.hpp>
#include <shardtype/visualize/program_page.hpp>

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct Odd : Axis<"a \"b\" <c> & \\d\n\x01"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct L : Index<"L"> {};
struct M : Index<"<M> & \"N\""> {};
struct S;

void write(std::string const& path, std::string const& text) {
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (file == nullptr) throw Error("TEST", "cannot write " + path);
  std::fputs(text.c_str(), file);
  std::fclose(file);
}

void save(PlannedProgram const& p, std::string const& folder, std::string const& name) {
  write(folder + "/" + name + ".json", to_json(p));
  write_html(p, folder + "/" + name + ".html");
  write(folder + "/" + name + ".txt", explain(p));
  std::printf("%s %d %d %lld %lld %lld %lld %.12g\n", name.c_str(), p.plan.size,
              p.plan.collectives(), static_cast<long long>(p.plan.bytes_per_rank()),
              static_cast<long long>(p.plan.messages()), static_cast<long long>(p.plan.flops()),
              static_cast<long long>(p.plan.peak_bytes()), p.seconds());
}

}  // namespace

int main(int argc, char** argv) {
  Environment env(argc, argv);
  std::string const folder = argc > 1 ? argv[1] : ".";

  using A = Tensor<float, Dim<I, X>, Dim<J, Y>>;
  using B = Tensor<float, Dim<J, Y>, Dim<K>>;
  using C = Tensor<float, Dim<K>, Dim<L, Y>>;
  auto chain = dry_run<A, B, C>(
      [](auto a, auto b, auto c) { return evaluate<Dim<I, X>, Dim<L, Y>>(exp(a * b * c)); });
  chain.extent<I>(8193).extent<J>(4096).extent<K>(512).extent<L>(4096).ranks<X>(2).ranks<Y>(4);
  save(chain.on(Machine{}.with<Y>(1e-5, 1e9)).planned(), folder, "chain");
  save(chain.within(1000).planned(), folder, "impossible");

  // one product, whose lower bound of bytes is known
  auto product = dry_run<Tensor<float, Dim<I, X>, Dim<J>>, Tensor<float, Dim<J, X>, Dim<K>>>(
      [](auto a, auto b) { return evaluate<Dim<I, X>, Dim<K>>(a * b); });
  save(product.extent<I>(64).extent<J>(60).extent<K>(40).ranks<X>(64).planned(), folder, "product");

  // values with several readers, other labels, maxima, more than two dims, names with special
  // characters
  using D = Tensor<double, Dim<I, X>, Dim<J, Odd>, Dim<M>>;
  auto tree = dry_run<D, Tensor<double, Dim<M, Odd>, Dim<K>>>([](auto d, auto e) {
    auto const s = share<S>(sum<I>(d) * e);
    return evaluate<Dim<J, Odd>, Dim<L>>(relabel<K, L>(tanh(s) + s / max(s * s)));
  });
  tree.extent<I>(100).extent<J>(17).extent<K>(30).extent<M>(3).ranks<X>(3).ranks<Odd>(1000);
  save(tree.planned(), folder, "tree");

  // no steps, on a tensor without dims
  save(dry_run<Tensor<float>>([](auto a) { return evaluate<>(a); }).planned(), folder, "scalar");

  std::printf("%s\n", "came to its end");
  if (argc > 2) write_html(chain.planned(), argv[2]);
}
