// The launches of some operations on n x n floats, one rank: operation, label, functor, how often,
// parallel length, the most MiB of device memory that one touches, and "few" where these are more
// than 2^20 elements and the length is below 65,536.
//
// usage: guard_launches [n]     4096 without n
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <cxxabi.h>

#include <shardtype/nn/nn.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct S : Index<"S"> {};
struct T : Index<"T"> {};
struct H : Index<"H"> {};
struct D : Index<"D"> {};

/// Launches of one kernel of one length.
struct Launches {
  std::string label, functor;
  std::int64_t length = 0, times = 0;
  double mebibytes = 0;  ///< at most
};
std::vector<Launches> launches;

/// The functor's name without its namespaces and arguments.
std::string short_name(char const* type) {
  int status = 0;
  char* const text = abi::__cxa_demangle(type, nullptr, nullptr, &status);
  std::string name = status == 0 ? text : type;
  std::free(text);
  name = name.substr(0, name.find('<'));
  auto const colon = name.rfind("::");
  return colon == std::string::npos ? name : name.substr(colon + 2);
}

void note(guard::Launch const& l) {
  std::string const functor = short_name(l.type);
  auto const same = std::find_if(launches.begin(), launches.end(), [&](Launches const& k) {
    return k.functor == functor && k.length == l.length;
  });
  Launches& k = same != launches.end() ? *same : launches.emplace_back();
  k.label = l.label;
  k.functor = functor;
  k.length = l.length;
  ++k.times;
  k.mebibytes = std::max(k.mebibytes, static_cast<double>(l.bytes) / 1048576.0);
}

/// Prints the launches of `run`.
template <class Run>
void of(char const* operation, Run run) {
  launches.clear();
  guard::on_launch(note);
  static_cast<void>(run());
  guard::on_launch(nullptr);
  for (Launches const& k : launches)
    std::printf("%-22s %-24s %-18s %6lld %10lld %8.1f%s\n", operation, k.label.c_str(),
                k.functor.c_str(), static_cast<long long>(k.times),
                static_cast<long long>(k.length), k.mebibytes,
                k.length < 65'536 && k.mebibytes > 4 ? "  few" : "");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  Environment env(argc, argv);
  Mesh<X> const mesh(env.world(), {1});
  std::int64_t const n = argc > 1 ? std::atoll(argv[1]) : 4096;
  auto const a = full<float, Dim<I>, Dim<J>>(mesh, {n, n}, 1.0F);
  auto const b = full<float, Dim<J>, Dim<K>>(mesh, {n, n / 8}, 1.0F);
  auto const all = full<float, Dim<I>>(mesh, {n * n}, 1.0F);
  auto const gain = full<float, Dim<J>>(mesh, {n}, 1.0F);
  auto const ids = zeros<std::int64_t, Dim<S>>(mesh, {n});
  auto const along = zeros<std::int64_t, Dim<I>, Dim<J>>(mesh, {n, n});
  std::printf("%-22s %-24s %-18s %6s %10s %8s\n", "operation", "label", "functor", "times",
              "length", "MiB");
  of("a * 3 + a", [&] { return (a * 3.0F + a).tensor(); });
  of("slice, outer dim", [&] { return slice<I, K>(a, 0, n / 2); });
  of("slice, inner dim", [&] { return slice<J, K>(a, 0, n / 2); });
  of("transpose", [&] { return (transpose<J, I>(a) + 0.0F).tensor(); });
  of("sum", [&] { return sum(a); });
  of("sum of rows", [&] { return sum<J>(a); });
  of("sum of columns", [&] { return sum<I>(a); });
  of("argmax of rows", [&] { return argmax<J>(a); });
  of("var of rows", [&] { return var<J>(a); });
  of("softmax of rows", [&] { return softmax<J>(a); });
  of("cumsum of rows", [&] { return cumsum<J>(a); });
  of("cumsum, 1-D", [&] { return cumsum<I>(all); });
  of("cummax gradient, 1-D",
     [&] { return grad([](auto const& v) { return sum(cummax<I>(v)); })(all); });
  of("sort of rows", [&] { return sort<J>(a); });
  of("top_k of rows", [&] { return top_k<J, K>(a, 8); });
  of("take rows", [&] { return take<I>(a, ids); });
  of("scatter_add rows", [&] { return scatter_add<K>(relabel<I, S>(a), ids, n); });
  of("take_along", [&] { return take_along<J>(a, along); });
  of("rms_norm of rows", [&] { return nn::rms_norm<J>(a, gain); });
  of("gradient of its gain",
     [&] { return grad([&](auto const& g) { return sum(nn::rms_norm<J>(a, g)); })(gain); });
  of("matmul", [&] { return matmul(a, b); });
  of("cast to bfloat16", [&] { return cast<bfloat16>(a).tensor(); });
  of("attention, 1024 x 64", [&] {
    auto const q = full<float, Dim<I>, Dim<S>, Dim<H>, Dim<D>>(mesh, {1, 1024, 1, 64}, 1.0F);
    auto const k = full<float, Dim<I>, Dim<T>, Dim<H>, Dim<D>>(mesh, {1, 1024, 1, 64}, 1.0F);
    return nn::attention(q, k, k);
  });
}
