// The launches of some operations and kernels on n x n floats, one rank: operation, label, functor,
// how often, parallel length, the most MiB of device memory that one touches, and "few" where these
// are more than 2^20 elements and the length is below 65,536. Fails if there is another "few" than
// those of `known`.
//
// usage: guard_launches [n [PART]]     4096 without n; PART: only operations with it in their name
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <cxxabi.h>

#include <shardtype/kernels/convert.hpp>
#include <shardtype/kernels/pitched.hpp>
#include <shardtype/kernels/segments.hpp>
#include <shardtype/kernels/sum_parts.hpp>
#include <shardtype/kernels/unpack.hpp>
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

/// Functors that may be launched with few calls: those that touch far more memory than they read,
/// because it opens in pieces.
bool is_known(std::string const& functor) {
  constexpr char const* known[] = {
      "ScanTotals",    // reads a 256th of the elements that it passes
      "AddBefore",     // likewise
      "RunningLevel",  // its higher levels read as many running extremes, far apart
      "MergeLists",    // of 16 bytes for an element: at most 2^19
  };
  return std::any_of(std::begin(known), std::end(known),
                     [&](char const* name) { return functor == name; });
}
bool failed = false;
std::string part;

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

/// Prints the launches of `run`, which are at most `most`.
template <class Run>
void of(char const* operation, Run run, std::int64_t most = 1000) {
  if (std::string(operation).find(part) == std::string::npos) return;
  launches.clear();
  guard::on_launch(note);
  static_cast<void>(run());
  guard::on_launch(nullptr);
  std::int64_t all = 0;
  for (Launches const& k : launches) all += k.times;
  if (all > most) {
    std::printf("%s: more than %lld launches\n", operation, static_cast<long long>(most));
    failed = true;
  }
  for (Launches const& k : launches) {
    bool const few = k.length < 65'536 && k.mebibytes > 4;
    bool const fails = few && !is_known(k.functor);
    failed = failed || fails;
    std::printf("%-22s %-24s %-18s %6lld %10lld %8.1f%s\n", operation, k.label.c_str(),
                k.functor.c_str(), static_cast<long long>(k.times),
                static_cast<long long>(k.length), k.mebibytes,
                fails ? "  few: FAILED"
                : few ? "  few"
                      : "");
  }
  std::fflush(stdout);
}

/// Kernels that move the blocks of collectives.
template <class A>
void kernels_of(A const& a, std::int64_t n) {
  using Exec = Kokkos::DefaultExecutionSpace;
  Exec const exec;
  auto const* const from = static_cast<float const*>(a.buffer().data());
  A const made = a.clone();
  auto* const to = static_cast<float*>(made.buffer().data());
  auto const done = [&] {
    exec.fence();
    return 0;
  };
  runtime::Buffer const begin = a.mesh().state().pool().template take<Exec::memory_space>(64);
  std::int64_t const of_messages[] = {0, n / 2, n};
  runtime::copy_bytes<Exec::memory_space, Kokkos::HostSpace>(begin.data(), of_messages,
                                                             sizeof of_messages);
  auto const* const segments = static_cast<std::int64_t const*>(begin.data());
  of("pack, outer dim", [&] {
    kernels::move_segments<kernels::Packing::split>(exec, from, to, segments, 2, 1, n, n);
    return done();
  });
  of("pack, inner dim", [&] {
    kernels::move_segments<kernels::Packing::join>(exec, from, to, segments, 2, n, n, 1);
    return done();
  });
  of("unpack", [&] {
    kernels::Layout rows;
    rows.rank = 2;
    rows.extent[0] = rows.extent[1] = n;
    kernels::copy_unpacked(exec, from, rows.packed(), to);
    return done();
  });
  of("add_pitched", [&] {
    kernels::add_pitched(exec, from, n, to, n, n, n);
    return done();
  });
  of("sum of parts", [&] {
    kernels::sum_parts(exec, from, n * n / 2, 2, 1, n * n / 2, n * n / 2, to);
    return done();
  });
  of("convert", [&] {
    kernels::convert(exec, 1, kernels::Matrix<float const>{from, n, n, n, 1, n * n},
                     kernels::Matrix<float>{to, n, n, n, 1, n * n});
    return done();
  });
}

}  // namespace

int main(int argc, char** argv) {
  Environment env(argc, argv);
  Mesh<X> const mesh(env.world(), {1});
  std::int64_t const n = argc > 1 ? std::atoll(argv[1]) : 4096;
  if (argc > 2) part = argv[2];
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
  of("layer_norm of rows", [&] { return nn::layer_norm<J>(a, gain, gain); });
  of("its gradient",
     [&] { return grad([&](auto const& x) { return sum(nn::layer_norm<J>(x, gain, gain)); })(a); });
  of("cumsum, exclusive", [&] { return cumsum<I>(all, op::Cumulate::exclusive); });
  of("scatter_along", [&] { return scatter_along<J>(a, along, n); });
  of("concat", [&] { return concat<J>(a, a); });
  kernels_of(a, n);
  of("matmul", [&] { return matmul(a, b); });
  of("cast to bfloat16", [&] { return cast<bfloat16>(a).tensor(); });
  auto const attention = [&](std::int64_t heads) {
    auto const q = zeros<float, Dim<I>, Dim<S>, Dim<H>, Dim<D>>(mesh, {1, 1024, heads, 64});
    auto const k = zeros<float, Dim<I>, Dim<T>, Dim<H>, Dim<D>>(mesh, {1, 1024, heads, 64});
    return nn::attention(q, k, k);
  };
  // with one that fills each operand
  of("attention, 1024 x 64", [&] { return attention(1); }, 3);
  of("4 heads", [&] { return attention(4); }, 3);
  return failed ? 1 : 0;
}
