// The programs of docs/by_example/shapes.md, one for each function. On 2 ranks.
// SHOWN: docs
// ALONE: it calls all functions of a family, which checks of all examples would read again
// RANKS: 2
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include <shardtype/shardtype.hpp>

using namespace shardtype;

namespace {

// docs: names
struct X : Axis<"X", 2> {};  // two ranks
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct L : Index<"L"> {};
// docs: end

bool first = true;  // of the ranks
void say(std::string const& line) {
  if (first) std::printf("%s\n", line.c_str());
}
void part(char const* name) { say(std::string("== ") + name); }

void creation(Mesh<X> const& mesh) {
  {
    part("full");
    // docs: full
    print(full<float, Dim<I, X>>(mesh, {4}, 2.5F));
    // docs: end
  }
  {
    part("zeros");
    // docs: zeros
    print(zeros<float, Dim<I, X>, Dim<J>>(mesh, {2, 3}));
    // docs: end
  }
  {
    part("ones");
    // docs: ones
    print(ones<float, Dim<I, X>, Dim<J>>(mesh, {2, 3}));
    // docs: end
  }
  {
    part("from_function");
    // docs: from_function
    // each rank computes its own elements
    print(from_function<std::int64_t, Dim<I, X>, Dim<J>>(
        mesh, {2, 3}, [](std::int64_t i, std::int64_t j) { return 10 * i + j; }));
    // docs: end
  }
  {
    part("from_host");
    // docs: from_host
    std::vector<double> const whole{1, 2, 3, 4, 5, 6};  // on every rank
    print(from_host<double, Dim<I, X>, Dim<J>>(mesh, {2, 3}, whole));
    // docs: end
  }
  {
    part("wrap");
    // docs: wrap
    std::vector<double> mine{1, 2, 3};  // the block of each rank
    auto const a = wrap<double, Dim<I, X>>(mesh, {6}, std::span<double>(mine));
    mine[0] = 10;  // the tensor's memory is that of the vector
    print(a);
    // docs: end
  }
  {
    part("arange");
    // docs: arange
    print(arange<std::int64_t, Dim<I, X>>(mesh, 5));
    print(arange<std::int64_t, Dim<I, X>>(mesh, 10, 20, 3));
    // docs: end
  }
  {
    part("linspace");
    // docs: linspace
    print(linspace<double, Dim<I, X>>(mesh, {5}, 0.0, 1.0));
    // docs: end
  }
  {
    part("eye");
    // docs: eye
    print(eye<float, Dim<I, X>, Dim<J>>(mesh, {2, 3}));
    print(eye<float, Dim<I, X>, Dim<J>>(mesh, {2, 3}, 1));  // the diagonal above
    // docs: end
  }
  {
    part("full_like");
    // docs: full_like
    auto const a = zeros<float, Dim<I, X>, Dim<J>>(mesh, {2, 3});
    print(full_like(a, 2.5F));  // type, extents and mesh of a
    // docs: end
  }
  {
    part("zeros_like");
    // docs: zeros_like
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, 2.0, 3.0, 4.0});
    print(zeros_like(a));
    // docs: end
  }
  {
    part("ones_like");
    // docs: ones_like
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, 2.0, 3.0, 4.0});
    print(ones_like(a));
    // docs: end
  }
}

void order_of_dims(Mesh<X> const& mesh) {
  {
    part("transpose");
    // docs: transpose
    auto const a =
        from_host<double, Dim<I, X>, Dim<J>>(mesh, {2, 3}, std::vector<double>{1, 2, 3, 4, 5, 6});
    print(transpose<J, I>(a));
    // docs: end
  }
  {
    part("relabel");
    // docs: relabel
    auto const a = from_host<double, Dim<I, X>>(mesh, {3}, std::vector<double>{1.0, 2.0, 3.0});
    auto const b = from_host<double, Dim<I>>(mesh, {3}, std::vector<double>{1.0, 2.0, 3.0});
    print(a * b);                       // labels are equal: element by element
    print(outer(a, relabel<I, J>(b)));  // other labels: each by each
    // docs: end
  }
  {
    part("squeeze");
    // docs: squeeze
    auto const a =
        from_host<double, Dim<I, X>, Dim<J>>(mesh, {4, 1}, std::vector<double>{1, 2, 3, 4});
    print(squeeze<J>(a));
    // docs: end
  }
  {
    part("expand");
    // docs: expand
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, 2.0, 3.0, 4.0});
    print(expand<K>(a));
    // docs: end
  }
  {
    part("broadcast");
    // docs: broadcast
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, 2.0, 3.0, 4.0});
    print(broadcast<Dim<K>>(a, {2}));
    // docs: end
  }
  {
    part("split_dim");
    // docs: split_dim
    auto const a = from_host<double, Dim<I, X>>(
        mesh, {8}, std::vector<double>{1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0});
    print(split_dim<I, J, K>(a, {2, 4}));  // K runs fastest
    // docs: end
  }
  {
    part("merge_dims");
    // docs: merge_dims
    auto const a =
        from_host<double, Dim<J, X>, Dim<K>>(mesh, {2, 3}, std::vector<double>{1, 2, 3, 4, 5, 6});
    print(merge_dims<J, K, I>(a));
    // docs: end
  }
  {
    part("reshape");
    // docs: reshape
    auto const a = from_host<double, Dim<I, X>, Dim<J>>(
        mesh, {4, 2}, std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8});
    print(reshape<K, L>(a, {2, 4}));  // all elements in their order
    // docs: end
  }
}

void parts_of_rows(Mesh<X> const& mesh) {
  {
    part("slice");
    // docs: slice
    auto const a = from_host<double, Dim<I, X>, Dim<J>>(
        mesh, {2, 4}, std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8});
    print(slice<J>(a, 1, 3));     // columns 1 and 2
    print(slice<J>(a, 0, 4, 2));  // every second one
    // docs: end
  }
  {
    part("pad");
    // docs: pad
    auto const a =
        from_host<double, Dim<I, X>, Dim<J>>(mesh, {2, 2}, std::vector<double>{1, 2, 3, 4});
    print(pad<J, K>(a, 1, 2));       // zeros before and behind
    print(pad<J, K>(a, 0, 1, 9.0));  // another value
    // docs: end
  }
  {
    part("repeat");
    // docs: repeat
    auto const a =
        from_host<double, Dim<I, X>, Dim<J>>(mesh, {2, 2}, std::vector<double>{1, 2, 3, 4});
    print(repeat<J, K>(a, 2));
    // docs: end
  }
  {
    part("tile");
    // docs: tile
    auto const a =
        from_host<double, Dim<I, X>, Dim<J>>(mesh, {2, 2}, std::vector<double>{1, 2, 3, 4});
    print(tile<J, K>(a, 2));
    // docs: end
  }
  {
    part("flip");
    // docs: flip
    auto const a =
        from_host<double, Dim<I, X>, Dim<J>>(mesh, {2, 3}, std::vector<double>{1, 2, 3, 4, 5, 6});
    print(flip<J>(a));
    // docs: end
  }
  {
    part("roll");
    // docs: roll
    auto const a = from_host<double, Dim<I, X>, Dim<J>>(
        mesh, {2, 4}, std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8});
    print(roll<J>(a, 1));
    // docs: end
  }
  {
    part("concat");
    // docs: concat
    auto const a =
        from_host<double, Dim<I, X>, Dim<J>>(mesh, {2, 2}, std::vector<double>{1, 2, 3, 4});
    auto const b = from_host<double, Dim<I, X>, Dim<J>>(mesh, {2, 1}, std::vector<double>{10, 20});
    print(concat<J>(a, b));
    // docs: end
  }
  {
    part("stack");
    // docs: stack
    auto const a = from_host<double, Dim<I, X>>(mesh, {2}, std::vector<double>{1.0, 2.0});
    auto const b = from_host<double, Dim<I, X>>(mesh, {2}, std::vector<double>{10.0, 20.0});
    print(stack<K>(a, b));
    // docs: end
  }
  {
    part("compress");
    // docs: compress
    auto const a = from_host<double, Dim<I>, Dim<J, X>>(
        mesh, {4, 2}, std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8});
    auto const large = from_host<bool, Dim<I>>(mesh, {4}, std::array{false, true, false, true});
    auto const [rows, kept] = compress<I, K>(a, large, 3);  // room for three rows
    print(rows);
    print(kept);
    // docs: end
  }
}

void matrices(Mesh<X> const& mesh) {
  {
    part("tril");
    // docs: tril
    auto const a =
        from_host<double, Dim<I, X>, Dim<J>>(mesh, {2, 3}, std::vector<double>{1, 2, 3, 4, 5, 6});
    print(tril<I, J>(a));
    print(tril<I, J>(a, 1));  // with the diagonal above
    // docs: end
  }
  {
    part("triu");
    // docs: triu
    auto const a =
        from_host<double, Dim<I, X>, Dim<J>>(mesh, {2, 3}, std::vector<double>{1, 2, 3, 4, 5, 6});
    print(triu<I, J>(a));
    // docs: end
  }
  {
    part("diagonal");
    // docs: diagonal
    auto const a =
        from_host<double, Dim<I, X>, Dim<J>>(mesh, {2, 3}, std::vector<double>{1, 2, 3, 4, 5, 6});
    print(diagonal<I, J>(a));
    // docs: end
  }
  {
    part("diag");
    // docs: diag
    auto const a = from_host<double, Dim<I, X>>(mesh, {3}, std::vector<double>{1.0, 2.0, 3.0});
    print(diag<I, J>(a));
    // docs: end
  }
  {
    part("trace");
    // docs: trace
    auto const a =
        from_host<double, Dim<I, X>, Dim<J>>(mesh, {2, 2}, std::vector<double>{1, 2, 3, 4});
    print(trace<I, J, Tensor<double>>(a));
    // docs: end
  }
}

void windows(Mesh<X> const& mesh) {
  {
    part("shift");
    // docs: shift
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, 2.0, 3.0, 4.0});
    print(shift<I>(a, 1));  // a neighbour sends a row
    print(shift<I>(a, 1, op::Edge::wrap));
    // docs: end
  }
  {
    part("diff");
    // docs: diff
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, 4.0, 9.0, 16.0});
    print(diff<I>(a));  // of 0 before the first row
    // docs: end
  }
  {
    part("cumsum");
    // docs: cumsum
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, 2.0, 3.0, 4.0});
    print(cumsum<I>(a));
    print(cumsum<I>(a, op::Cumulate::exclusive));
    // docs: end
  }
  {
    part("cumprod");
    // docs: cumprod
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, 2.0, 3.0, 4.0});
    print(cumprod<I>(a));
    // docs: end
  }
  {
    part("cummax");
    // docs: cummax
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, 3.0, 2.0, 4.0});
    print(cummax<I>(a));
    // docs: end
  }
  {
    part("cummin");
    // docs: cummin
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{4.0, 2.0, 3.0, 1.0});
    print(cummin<I>(a));
    // docs: end
  }
  {
    part("halo_exchange");
    // docs: halo_exchange
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, 2.0, 3.0, 4.0});
    auto const h =
        halo_exchange<I>(a, 1, 1);  // the first rank: 0, its rows 1 and 2, 3 of the second
    auto const in = h.local();
    Tensor<double, Dim<I, X>> sums = zeros_like(a);
    auto const out = sums.mutable_local();
    for (std::int64_t i = 0; i < a.local_extent<I>(); ++i) out(i) = in(i) + in(i + 1) + in(i + 2);
    print(sums);
    // docs: end
  }
  {
    part("halo_add");
    // docs: halo_add
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, 2.0, 3.0, 4.0});
    auto h = zeros_like(halo_exchange<I>(a, 1, 1));
    auto const in = h.mutable_local();
    for (std::size_t i = 0; i < in.extent(0); ++i) in(i) = 1;  // own rows and those of neighbours
    print(halo_add(h));
    // docs: end
  }
}

}  // namespace

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  first = env.rank() == 0;
  // docs: mesh
  Mesh<X> const mesh(env.world());
  // docs: end
  creation(mesh);
  order_of_dims(mesh);
  parts_of_rows(mesh);
  matrices(mesh);
  windows(mesh);
  return 0;
}
