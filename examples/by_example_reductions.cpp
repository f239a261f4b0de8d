// The programs of docs/by_example/reductions.md, one for each function. On 2 ranks.
// SHOWN: docs
// ALONE: it calls all functions of a family, which checks of all examples would read again
// RANKS: 2
#include <array>
#include <cstdint>
#include <cstdio>
#include <limits>
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
struct V : Index<"V"> {};
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
// docs: end

bool first = true;  // of the ranks
void say(std::string const& line) {
  if (first) std::printf("%s\n", line.c_str());
}
void part(char const* name) { say(std::string("== ") + name); }

void whole_dims(Mesh<X> const& mesh) {
  {
    part("sum");
    // docs: sum
    auto const a =
        from_host<double, Dim<I, X>, Dim<J>>(mesh, {2, 3}, std::vector<double>{1, 2, 3, 4, 5, 6});
    print(sum<J>(a));
    print(sum<Dim<J>>(a));             // over I, which is split: one all_reduce
    print(sum<Tensor<double>>(a));     // over all dims
    print(sum<J>(a, where(a > 2.0)));  // of these elements alone
    // docs: end
  }
  {
    part("nansum");
    // docs: nansum
    auto const a = from_host<double, Dim<I, X>, Dim<J>>(
        mesh, {2, 3}, std::vector<double>{1, nan, 6, nan, nan, nan});
    print(nansum<J>(a));  // 0 of NaN alone
    // docs: end
  }
  {
    part("nanprod");
    // docs: nanprod
    auto const a = from_host<double, Dim<I, X>, Dim<J>>(
        mesh, {2, 3}, std::vector<double>{1, nan, 6, nan, nan, nan});
    print(nanprod<J>(a));  // 1 of NaN alone
    // docs: end
  }
  {
    part("nanmax");
    // docs: nanmax
    auto const a = from_host<double, Dim<I, X>, Dim<J>>(
        mesh, {2, 3}, std::vector<double>{1, nan, 6, nan, nan, nan});
    print(nanmax<J>(a));  // -inf of NaN alone
    // docs: end
  }
  {
    part("nanmin");
    // docs: nanmin
    auto const a = from_host<double, Dim<I, X>, Dim<J>>(
        mesh, {2, 3}, std::vector<double>{1, nan, 6, nan, nan, nan});
    print(nanmin<J>(a));  // inf of NaN alone
    // docs: end
  }
  {
    part("nanmean");
    // docs: nanmean
    auto const a = from_host<double, Dim<I, X>, Dim<J>>(
        mesh, {2, 3}, std::vector<double>{1, nan, 6, nan, nan, nan});
    print(nanmean<J>(a));  // NaN of NaN alone
    // docs: end
  }
  {
    part("nanvar");
    // docs: nanvar
    auto const a = from_host<double, Dim<I, X>, Dim<J>>(
        mesh, {2, 3}, std::vector<double>{1, nan, 6, nan, nan, nan});
    print(nanvar<J>(a));
    // docs: end
  }
  {
    part("nanstddev");
    // docs: nanstddev
    auto const a = from_host<double, Dim<I, X>, Dim<J>>(
        mesh, {2, 3}, std::vector<double>{1, nan, 6, nan, nan, nan});
    print(nanstddev<J>(a));
    // docs: end
  }
  {
    part("mean");
    // docs: mean
    auto const a =
        from_host<double, Dim<I, X>, Dim<J>>(mesh, {2, 3}, std::vector<double>{1, 2, 3, 4, 5, 6});
    print(mean<J>(a));
    print(mean<Dim<J>>(a));
    // docs: end
  }
  {
    part("var");
    // docs: var
    auto const a =
        from_host<double, Dim<I, X>, Dim<J>>(mesh, {2, 3}, std::vector<double>{1, 2, 3, 4, 5, 9});
    print(var<J>(a));
    print(var<J>(a, 1));    // divided by 3 - 1
    print(var<Dim<J>>(a));  // over I
    // docs: end
  }
  {
    part("stddev");
    // docs: stddev
    auto const a =
        from_host<double, Dim<I, X>, Dim<J>>(mesh, {2, 3}, std::vector<double>{1, 2, 3, 4, 5, 9});
    print(stddev<J>(a));
    print(stddev<J>(a, 1));  // divided by 3 - 1
    // docs: end
  }
  {
    part("prod");
    // docs: prod
    auto const a =
        from_host<double, Dim<I, X>, Dim<J>>(mesh, {2, 3}, std::vector<double>{1, 2, 3, 4, 5, 6});
    print(prod<J>(a));
    print(prod<Dim<J>>(a));
    // docs: end
  }
  {
    part("argmax");
    // docs: argmax
    auto const a =
        from_host<double, Dim<I, X>, Dim<J>>(mesh, {2, 3}, std::vector<double>{1, 3, 3, 6, 2, 4});
    print(argmax<J>(a));  // the first of equal ones
    print(argmax<Dim<J>>(a));
    // docs: end
  }
  {
    part("argmin");
    // docs: argmin
    auto const a =
        from_host<double, Dim<I, X>, Dim<J>>(mesh, {2, 3}, std::vector<double>{2, 1, 1, 6, 0, 4});
    print(argmin<J>(a));
    print(argmin<Dim<J>>(a));
    // docs: end
  }
  {
    part("any");
    // docs: any
    auto const a =
        from_host<double, Dim<I, X>, Dim<J>>(mesh, {2, 3}, std::vector<double>{1, -2, 3, 4, 5, 6});
    print(any<J>(a < 0.0));
    // docs: end
  }
  {
    part("all");
    // docs: all
    auto const a =
        from_host<double, Dim<I, X>, Dim<J>>(mesh, {2, 3}, std::vector<double>{1, -2, 3, 4, 5, 6});
    print(all<J>(a > 0.0));
    // docs: end
  }
  {
    part("count_nonzero");
    // docs: count_nonzero
    auto const a =
        from_host<double, Dim<I, X>, Dim<J>>(mesh, {2, 3}, std::vector<double>{1, 0, 3, 0, 0, 6});
    print(count_nonzero<J>(a));
    // docs: end
  }
  {
    part("item");
    // docs: item
    auto const a = from_host<double, Dim<I, X>>(mesh, {3}, std::vector<double>{1.0, 2.0, 3.0});
    double const total = item(sum<Tensor<double>>(a));  // a C++ number, the same on all ranks
    say(std::to_string(total));
    // docs: end
  }
  {
    part("norm");
    // docs: norm
    auto const a =
        from_host<double, Dim<I, X>, Dim<J>>(mesh, {2, 2}, std::vector<double>{3, 4, 5, 12});
    print(norm<J>(a));
    print(norm<Dim<J>>(a));
    // docs: end
  }
  {
    part("norm_1");
    // docs: norm_1
    auto const a =
        from_host<double, Dim<I, X>, Dim<J>>(mesh, {2, 2}, std::vector<double>{3, -4, 5, 12});
    print(norm_1<J>(a));
    // docs: end
  }
  {
    part("norm_inf");
    // docs: norm_inf
    auto const a =
        from_host<double, Dim<I, X>, Dim<J>>(mesh, {2, 2}, std::vector<double>{3, -4, 5, 12});
    print(norm_inf<J>(a));
    // docs: end
  }
  {
    part("counted_max");
    // docs: counted_max
    auto const a =
        from_host<double, Dim<I, X>, Dim<J>>(mesh, {2, 3}, std::vector<double>{1, 3, 3, 6, 5, 4});
    auto const [most, ties] = counted_max<J>(a);
    print(most);
    print(ties);  // how many elements equal it
    // docs: end
  }
  {
    part("counted_min");
    // docs: counted_min
    auto const a =
        from_host<double, Dim<I, X>, Dim<J>>(mesh, {2, 3}, std::vector<double>{1, 3, 3, 4, 4, 4});
    auto const [least, ties] = counted_min<J>(a);
    print(least);
    print(ties);
    // docs: end
  }
  {
    part("counted_prod");
    // docs: counted_prod
    auto const a =
        from_host<double, Dim<I, X>, Dim<J>>(mesh, {2, 3}, std::vector<double>{2, 3, 4, 5, 0, 6});
    auto const [rest, zeros] = counted_prod<J>(a);
    print(rest);  // of the elements that are not 0
    print(zeros);
    // docs: end
  }
  {
    part("logsumexp");
    // docs: logsumexp
    auto const a =
        from_host<double, Dim<I, X>, Dim<J>>(mesh, {2, 2}, std::vector<double>{5, 5, 800, 801});
    print(logsumexp<J>(a));  // exp(800) would overflow
    // docs: end
  }
  {
    part("softmax");
    // docs: softmax
    auto const a =
        from_host<double, Dim<I, X>, Dim<J>>(mesh, {2, 2}, std::vector<double>{0, 0, 800, 801});
    print(softmax<J>(a));  // each row adds up to 1
    // docs: end
  }
  {
    part("log_softmax");
    // docs: log_softmax
    auto const a =
        from_host<double, Dim<I, X>, Dim<J>>(mesh, {2, 2}, std::vector<double>{0, 0, 800, 801});
    print(log_softmax<J>(a));
    // docs: end
  }
}

void products(Mesh<X> const& mesh) {
  {
    part("matmul");
    // docs: matmul
    auto const a =
        from_host<double, Dim<I, X>, Dim<J>>(mesh, {2, 3}, std::vector<double>{1, 2, 3, 4, 5, 6});
    auto const b =
        from_host<double, Dim<J>, Dim<K>>(mesh, {3, 2}, std::vector<double>{1, 0, 0, 1, 1, 1});
    print(matmul(a, b));  // over J, the index that both have
    // docs: end
  }
  {
    part("einsum");
    // docs: einsum
    auto const a =
        from_host<double, Dim<V, X>, Dim<J>>(mesh, {2, 2}, std::vector<double>{1, 2, 3, 4});
    auto const b =
        from_host<double, Dim<V, X>, Dim<J>>(mesh, {2, 2}, std::vector<double>{1, 1, 10, 10});
    print(einsum<V>(a, b));  // V is a batch, J is summed
    // docs: end
  }
  {
    part("outer");
    // docs: outer
    auto const a = from_host<double, Dim<I, X>>(mesh, {2}, std::vector<double>{1.0, 2.0});
    auto const b = from_host<double, Dim<J>>(mesh, {3}, std::vector<double>{1.0, 10.0, 100.0});
    print(outer(a, b));
    // docs: end
  }
  {
    part("kron");
    // docs: kron
    auto const a = from_host<double, Dim<I, X>>(mesh, {2}, std::vector<double>{1.0, 2.0});
    auto const b = from_host<double, Dim<J>>(mesh, {3}, std::vector<double>{1.0, 10.0, 100.0});
    print(kron<K>(a, b));
    // docs: end
  }
  {
    part("meshgrid");
    // docs: meshgrid
    auto const u = from_host<double, Dim<I, X>>(mesh, {2}, std::vector<double>{1.0, 2.0});
    auto const v = from_host<double, Dim<J>>(mesh, {3}, std::vector<double>{10.0, 20.0, 30.0});
    auto const [us, vs] = meshgrid(u, v);
    print(us);
    print(vs);
    // docs: end
  }
}

void sorting(Mesh<X> const& mesh) {
  {
    part("sort");
    // docs: sort
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{3.0, nan, 1.0, 2.0});
    print(sort<I, Dim<I, X>>(a));  // along the split dim; a NaN comes last
    auto const b =
        from_host<double, Dim<I, X>, Dim<J>>(mesh, {2, 3}, std::vector<double>{3, 1, 2, 4, 6, 5});
    print(sort<J>(b));  // each row by itself: nothing is sent
    print(sort<J>(b, op::Order::descending));
    // docs: end
  }
  {
    part("unique");
    // docs: unique
    auto const a = from_host<double, Dim<I, X>>(mesh, {5}, std::vector<double>{2, 1, 2, 3, 1});
    auto const [values, counts, distinct] = unique<I, V, Dim<V>>(a, 4, 0.0);
    print(values);  // room for 4, so a 0 behind the 3
    print(counts);
    print(distinct);
    // docs: end
  }
  {
    part("argsort");
    // docs: argsort
    auto const a = from_host<double, Dim<I, X>>(mesh, {3}, std::vector<double>{30.0, 10.0, 20.0});
    print(argsort<I, Dim<I, X>>(a));  // the positions of the least, the next, ...
    // docs: end
  }
  {
    part("top_k");
    // docs: top_k
    auto const a = from_host<double, Dim<I, X>, Dim<J>>(
        mesh, {2, 4}, std::vector<double>{3, 1, 4, 2, 8, 7, 6, 5});
    auto const [values, places] = top_k<J, K>(a, 2);
    print(values);
    print(places);
    // docs: end
  }
  {
    part("median");
    // docs: median
    auto const a = from_host<double, Dim<I, X>, Dim<J>>(
        mesh, {2, 4}, std::vector<double>{3, 1, 4, 2, 8, 7, 6, 50});
    print(median<J>(a));
    print(median<I, Dim<J>>(a));  // along the split dim
    // docs: end
  }
  {
    part("quantile");
    // docs: quantile
    auto const a = from_host<double, Dim<I, X>, Dim<J>>(
        mesh, {2, 5}, std::vector<double>{5, 4, 3, 2, 1, 0, 10, 20, 30, 40});
    print(quantile<J>(a, 0.25));
    print(quantile<J>(a, 0.9));  // between two elements
    // docs: end
  }
  {
    part("searchsorted");
    // docs: searchsorted
    auto const table = from_host<double, Dim<V>>(mesh, {3}, std::vector<double>{1.0, 2.0, 4.0});
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{0.0, 2.0, 3.0, 9.0});
    print(searchsorted<V>(table, a));  // before equal elements
    print(searchsorted<V>(table, a, op::Side::right));
    // docs: end
  }
  {
    part("bincount");
    // docs: bincount
    auto const ids =
        from_host<std::int64_t, Dim<I, X>>(mesh, {5}, std::vector<std::int64_t>{2, 0, 2, 3, 2});
    print(bincount<V, Dim<V>>(ids, 4));  // how often 0, 1, 2 and 3 are there
    // docs: end
  }
  {
    part("histogram");
    // docs: histogram
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {5}, std::vector<double>{0.1, 0.2, 0.4, 0.9, 1.0});
    print(histogram<V, Dim<V>>(a, 4, 0.0, 1.0));  // four bins from 0 to 1
    // docs: end
  }
}

void indexing(Mesh<X> const& mesh) {
  {
    part("at");
    // docs: at
    auto const a =
        from_host<double, Dim<I, X>, Dim<J>>(mesh, {2, 3}, std::vector<double>{1, 2, 3, 4, 5, 6});
    print(at<J>(a, 0));          // the first column
    print(at<I, Dim<J>>(a, 1));  // a row of another rank
    // docs: end
  }
  {
    part("take");
    // docs: take
    auto const table = from_host<double, Dim<V>, Dim<J>>(
        mesh, {3, 2}, std::vector<double>{1, 2, 10, 20, 100, 200});
    auto const ids =
        from_host<std::int64_t, Dim<I, X>>(mesh, {4}, std::vector<std::int64_t>{2, 0, 2, 1});
    print(take<V>(table, ids));  // the rows with these numbers
    // docs: end
  }
  {
    part("take_along");
    // docs: take_along
    auto const a =
        from_host<double, Dim<I, X>, Dim<J>>(mesh, {2, 3}, std::vector<double>{1, 2, 3, 4, 5, 6});
    auto const ids = from_host<std::int64_t, Dim<I, X>, Dim<J>>(
        mesh, {2, 2}, std::vector<std::int64_t>{2, 0, 1, 1});
    print(take_along<J>(a, ids));  // of each row its own columns
    // docs: end
  }
  {
    part("scatter_along");
    // docs: scatter_along
    auto const updates =
        from_host<double, Dim<I, X>, Dim<K>>(mesh, {2, 2}, std::vector<double>{1, 2, 3, 4});
    auto const ids = from_host<std::int64_t, Dim<I, X>, Dim<K>>(
        mesh, {2, 2}, std::vector<std::int64_t>{2, 0, 1, 1});
    print(scatter_along<J, K>(updates, ids, 3));  // equal ids add up
    // docs: end
  }
  {
    part("scatter_add");
    // docs: scatter_add
    auto const updates =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, 2.0, 3.0, 4.0});
    auto const ids =
        from_host<std::int64_t, Dim<I, X>>(mesh, {4}, std::vector<std::int64_t>{2, 0, 2, 1});
    print(scatter_add<V, Dim<V>>(updates, ids, 4));  // equal ids add up
    // docs: end
  }
  {
    part("scatter_max");
    // docs: scatter_max
    auto const updates =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, 2.0, 3.0, 4.0});
    auto const ids =
        from_host<std::int64_t, Dim<I, X>>(mesh, {4}, std::vector<std::int64_t>{2, 0, 2, 1});
    print(scatter_max<V, Dim<V>>(updates, ids, 4));  // of equal ids the largest; no id: -inf
    // docs: end
  }
  {
    part("scatter_min");
    // docs: scatter_min
    auto const updates =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, 2.0, 3.0, 4.0});
    auto const ids =
        from_host<std::int64_t, Dim<I, X>>(mesh, {4}, std::vector<std::int64_t>{2, 0, 2, 1});
    print(scatter_min<V, Dim<V>>(updates, ids, 4));  // of equal ids the least; no id: inf
    // docs: end
  }
  {
    part("scatter_set");
    // docs: scatter_set
    auto const a = zeros<double, Dim<V, X>>(mesh, {4});
    auto const updates =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, 2.0, 3.0, 4.0});
    auto const ids =
        from_host<std::int64_t, Dim<I, X>>(mesh, {4}, std::vector<std::int64_t>{2, 0, 2, 1});
    print(scatter_set<V, Dim<V, X>>(a, updates, ids));  // of equal ids the last
    // docs: end
  }
  {
    part("one_hot");
    // docs: one_hot
    auto const ids = from_host<std::int64_t, Dim<I, X>>(mesh, {2}, std::vector<std::int64_t>{2, 0});
    print(one_hot<V>(ids, 3));
    // docs: end
  }
  {
    part("dynamic_slice");
    // docs: dynamic_slice
    auto const a = from_host<double, Dim<I, X>, Dim<J>>(
        mesh, {2, 4}, std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8});
    auto const start = full<std::int64_t>(mesh, 1);  // a number that is computed
    print(dynamic_slice<J, K>(a, start, 2));
    // docs: end
  }
  {
    part("dynamic_update");
    // docs: dynamic_update
    auto const a = from_host<double, Dim<I, X>, Dim<J>>(
        mesh, {2, 4}, std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8});
    auto const update =
        from_host<double, Dim<I, X>, Dim<K>>(mesh, {2, 2}, std::vector<double>{10, 20, 30, 40});
    print(dynamic_update<J, K>(a, update, 1));
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
  whole_dims(mesh);
  products(mesh);
  sorting(mesh);
  indexing(mesh);
  return 0;
}
