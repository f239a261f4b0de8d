// Named Fourier transforms with shardings drawn at run time: the plan that the library makes for
// them is run on this rank's blocks, in shared memory, by messages and by messages in pieces, and
// compared with sums over all rows of the whole array.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <source_location>
#include <string>
#include <vector>

#include <shardtype/fft/fft.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/draw.hpp"
#include "harness/on_ranks.hpp"
#include "harness/sending.hpp"
#include "shim/pmpi.hpp"

namespace fourier_cases {

using namespace shardtype;
using namespace shardtype::runtime;
using planning::FourierCall;
using rules::FourierKind;

using Int = std::int64_t;
using Sum = std::complex<double>;

inline constexpr int axes = 3;
inline constexpr int labels = 4;          // of drawn operands
inline constexpr int new_label = labels;  // of their last transformed dim, if it changes

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct Z : Axis<"Z"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct L : Index<"L"> {};
struct F : Index<"F"> {};

inline constexpr Names const& names =
    core::Scope<Tensor<float, Dim<I>, Dim<J>, Dim<K>, Dim<L>, Reduced<X, Y, Z>>,
                Tensor<float, Dim<F>>>::names;

enum class Way { window, messages, pieces, huge };

struct Case {
  FourierCall call{};
  Spec wanted{};  // of the result, in its own labels
  std::array<Int, labels + 1> n{};
  op::FftNorm norm = op::FftNorm::backward;
  Way way = Way::window;
  bool single = false;  // float in place of double
};

inline Int& extent(Case& c, int label) { return c.n[static_cast<std::size_t>(label)]; }
inline Int extent(Case const& c, int label) { return c.n[static_cast<std::size_t>(label)]; }

inline std::string text(Case const& c) {
  char const* const kinds[] = {"fft", "ifft", "rfft", "irfft"};
  char const* const norms[] = {"backward", "ortho", "forward"};
  char const* const ways[] = {"window", "messages", "pieces", "huge"};
  std::string out = std::string(kinds[static_cast<int>(c.call.kind)]) + " over ";
  for (int k = 0; k < c.call.over.size; ++k) out += "IJKLF"[c.call.over.at[k]];
  if (c.call.renamed >= 0) out += std::string(" -> ") + "IJKLF"[c.call.renamed];
  out += ", ";
  out += core::spec_text(c.call.given, names) + " -> " + core::spec_text(c.wanted, names) + " of";
  for (int d = 0; d < c.call.given.rank; ++d)
    out += (d == 0 ? " " : " x ") + std::to_string(extent(c, c.call.given.dims[d].label));
  if (c.call.renamed >= 0) out += " to " + std::to_string(extent(c, c.call.renamed));
  return out + ", norm " + norms[static_cast<int>(c.norm)] + ", " + ways[static_cast<int>(c.way)] +
         (c.single ? ", float" : ", double");
}

// Shardings.

// Dims `of` in some order, each axis at one of them or at none.
inline Spec draw_spec(Draw& draw, std::vector<int> of, bool turns, int odd) {
  Spec s;
  if (turns) draw.shuffle(of);
  for (int const l : of) s.add(l);
  std::vector<int> order = {0, 1, 2};
  draw.shuffle(order);
  for (int const x : order) {
    int const where = draw.below(s.rank + 1);
    if (where < s.rank)
      s.dims[where].axes.push(x);
    else if (draw.one_in(odd))
      s.reduced.insert(x);
    else if (draw.one_in(odd))
      s.unreduced.insert(x);
  }
  for (int d = 0; d < s.rank; ++d)
    if (s.dims[d].axes.size == 1 && draw.one_in(2 * odd)) s.dims[d].axes.cyclic = 1 + draw.below(3);
  return s;
}
// Removes the axes `all` from `s`.
inline void take_axes(Spec& s, AxisList const& all) {
  for (int k = 0; k < all.size; ++k) {
    for (int d = 0; d < s.rank; ++d)
      if (s.dims[d].axes.contains(all[k])) s.dims[d].axes = s.dims[d].axes.without(all[k]);
    s.reduced.erase(all[k]);
    s.unreduced.erase(all[k]);
  }
}
// Whether the library accepts the call.
inline bool legal(Case const& c) {
  Spec together = c.call.given;
  for (int k = 0; k < c.call.over.size; ++k)
    if (int const d = together.find(c.call.over.at[k]); together.dims[d].axes.cyclic == 0)
      together.dims[d].axes = {};
  Spec from;
  Spec to;
  for (int k = 0; k < c.call.over.size; ++k) from.add(c.call.over.at[k]);
  if (c.call.renamed >= 0) to.add(c.call.renamed);
  rules::Question const q{&together, 1, from, to, names.extents(), names.sizes(), false};
  return rules::fourier(q, c.call.kind) &&
         rules::reshard(c.call.of_result(c.call.given), c.wanted) &&
         planning::axis_without_place(c.call) < 0;
}
// Shardings of the operand and of the result, which have `rank` dims. Few are odd: block-cyclic,
// reduced, unreduced.
inline void draw_shardings(Draw& draw, Case& c, int rank, bool renames) {
  c.call.renamed = renames ? new_label : -1;
  std::vector<int> of;
  for (int l = 0; l < rank; ++l) of.push_back(l);
  int const odd = draw.one_in(4) ? 2 : 1000;
  bool const turns = draw.one_in(4);
  do {
    c.call.given = draw_spec(draw, of, turns, odd);
    Spec result = draw_spec(draw, of, turns, odd);
    if (draw.one_in(4)) {  // a dim that stays as it is, perhaps block-cyclic
      int const d = draw.below(rank);
      bool const cyclic = draw.one_in(2) && !c.call.over.contains(c.call.given.dims[d].label);
      if (cyclic) {
        AxisList one;
        one.push(draw.below(axes));
        take_axes(c.call.given, one);
        one.cyclic = 1 + draw.below(4);
        c.call.given.dims[d].axes = one;
      }
      DimSpec const& stays = c.call.given.dims[d];
      take_axes(result, stays.axes);
      result.dims[result.find(stays.label)].axes = stays.axes;
    }
    c.wanted = c.call.of_result(result);
    c.call.wanted = c.call.of_operand(c.wanted);
  } while (!legal(c));
}
inline void draw_way(Draw& draw, Case& c) {
  c.norm = static_cast<op::FftNorm>(draw.below(3));
  c.way = draw.one_in(12) ? Way::huge : static_cast<Way>(draw.below(3));
  c.single = draw.one_in(4);
}
// `bits`: which dims are transformed; `last` of them is the halved one.
inline void set_over(Case& c, int bits, int last) {
  c.call.over = {};
  int chosen = -1;
  for (int l = 0; l < labels; ++l) {
    if (((bits >> l) & 1) == 0) continue;
    if (last-- == 0)
      chosen = l;
    else
      c.call.over.push(l);
  }
  c.call.over.push(chosen);
}
// The label that the last transformed dim has in the result.
inline int made_label(Case const& c) {
  return c.call.renamed >= 0 ? c.call.renamed : c.call.last();
}
// Extents of the operand's labels; that of the halved dim is the number of real rows.
inline void set_extents(Case& c, std::array<Int, labels + 1> const& n) {
  c.n = n;
  int const last = c.call.last();
  Int const rows = extent(c, last);
  extent(c, made_label(c)) = rows;
  if (c.call.kind == FourierKind::real_to_complex)
    extent(c, made_label(c)) = rules::half_rows(rows);
  if (c.call.kind == FourierKind::complex_to_real) extent(c, last) = rules::half_rows(rows);
}

// The `k`-th choice of a kind and of dims among `rank`, with the last one.
inline int forms(int rank) { return 4 * rank << (rank - 1); }
inline void set_form(Case& c, int rank, int k) {
  c.call.kind = static_cast<FourierKind>(k % 4);
  k /= 4;
  for (int bits = 1; bits < 1 << rank; ++bits)
    for (int last = 0; last < std::popcount(static_cast<unsigned>(bits)); ++last)
      if (k-- == 0) return set_over(c, bits, last);
}

// Of 20000 cases, the first have all forms and norms with all sizes 1 to 10 in two dims, and all
// forms with the sizes 1, 2, 3, 5, 8 in three; everything else is drawn.
inline constexpr int all_cases = 20000;

inline Case case_number(int number, int ranks) {
  Draw draw(static_cast<unsigned>(number * 8 + ranks));
  Case c;
  int rank = 2;
  std::vector<Int> n;
  if (number < 4800) {
    set_form(c, rank, number % 16);
    n = {1 + number / 16 % 10, 1 + number / 160 % 10};
  } else if (number < 10800) {
    rank = 3;
    int const k = number - 4800;
    Int const sizes[] = {1, 2, 3, 5, 8};
    set_form(c, rank, k % 48);
    n = {sizes[k / 48 % 5], sizes[k / 240 % 5], sizes[k / 1200 % 5]};
  } else {
    rank = 1 + draw.below(4);
    set_form(c, rank, draw.below(forms(rank)));
    Int volume = 1;
    for (int d = 0; d < rank; ++d) {
      Int const close = std::max<Int>(1, ranks * (1 + draw.below(2)) + draw.below(3) - 1);
      int const kind = draw.below(4);
      Int const most = std::max<Int>(1, 2000 / volume);
      Int const one = kind == 0 ? 1 + draw.below(4) : kind == 1 ? close : 1 + draw.below(40);
      n.push_back(std::min(one, most));
      volume *= n.back();
    }
    bool const real = rules::is_real(c.call.kind);
    for (int d = 0; d < rank; ++d)
      if (draw.one_in(60) && (!real || d != c.call.last())) n[static_cast<std::size_t>(d)] = 0;
  }
  draw_shardings(draw, c, rank, rules::is_real(c.call.kind) || draw.one_in(4));
  draw_way(draw, c);
  if (number < 4800) c.norm = static_cast<op::FftNorm>(number / 1600);
  std::array<Int, labels + 1> by_label;
  by_label.fill(1);
  std::copy(n.begin(), n.end(), by_label.begin());
  set_extents(c, by_label);
  return c;
}

// The whole array, and its transform.

struct Dense {
  std::vector<Int> n;
  std::vector<Sum> at;

  Int volume() const {
    Int v = 1;
    for (Int const e : n) v *= e;
    return v;
  }
};

// The integers that make up the elements: of one summand, with `where` along the unreduced axes.
inline Sum element(std::vector<Int> const& index, Int where) {
  std::uint64_t h = 0x9e3779b97f4a7c15U + static_cast<std::uint64_t>(where);
  for (Int const i : index) h = (h ^ static_cast<std::uint64_t>(i + 1)) * 0xd6e8feb86659fd93U;
  h ^= h >> 32;
  return {static_cast<double>(h % 65) / 32 - 1, static_cast<double>(h / 65 % 65) / 32 - 1};
}
inline void next(std::vector<Int>& index, std::vector<Int> const& n) {
  for (std::size_t d = n.size(); d-- > 0; index[d] = 0)
    if (++index[d] < n[d]) return;
}

// Along dim `d`: sums over the rows; of real results `rows` rows, by the symmetry of their
// spectrum.
inline Dense along(Dense const& a, std::size_t d, int sign, Int rows, bool halved) {
  Dense out;
  out.n = a.n;
  out.n[d] = rows;
  Int const given = a.n[d];
  Int const n = halved ? rows : given;
  std::vector<Sum> roots;
  for (Int k = 0; k < n; ++k) {
    long double const angle =
        sign * 2 * std::acos(-1.0L) * static_cast<long double>(k) / static_cast<long double>(n);
    roots.emplace_back(static_cast<double>(std::cos(angle)), static_cast<double>(std::sin(angle)));
  }
  Int inner = 1;
  for (std::size_t k = d + 1; k < a.n.size(); ++k) inner *= a.n[k];
  Int const outer = given == 0 ? 0 : a.volume() / given / std::max<Int>(inner, 1);
  out.at.resize(static_cast<std::size_t>(out.volume()));
  for (Int o = 0; o < outer; ++o)
    for (Int r = 0; r < rows; ++r)
      for (Int i = 0; i < inner; ++i) {
        Sum sum = 0;
        for (Int k = 0; k < given; ++k) {
          Sum const x = a.at[static_cast<std::size_t>((o * given + k) * inner + i)];
          Sum const y = x * roots[static_cast<std::size_t>(k * r % n)];
          bool const mirrored = halved && k > 0 && 2 * k != n;
          if (!halved)
            sum += y;
          else if (mirrored)
            sum += 2 * y.real();
          else
            sum += x.real() * roots[static_cast<std::size_t>(k * r % n)].real();
        }
        out.at[static_cast<std::size_t>((o * rows + r) * inner + i)] = sum;
      }
  return out;
}

inline bool is_forward(FourierKind kind) {
  return kind == FourierKind::forward || kind == FourierKind::real_to_complex;
}
inline double factor_of(Case const& c) {
  double rows = 1;
  for (int k = 0; k < c.call.over.size; ++k) {
    bool const made = c.call.kind == FourierKind::complex_to_real && k + 1 == c.call.over.size;
    rows *= static_cast<double>(extent(c, made ? made_label(c) : c.call.over.at[k]));
  }
  if (c.norm == op::FftNorm::ortho) return 1 / std::sqrt(rows);
  auto const divides = is_forward(c.call.kind) ? op::FftNorm::forward : op::FftNorm::backward;
  return c.norm == divides ? 1 / rows : 1;
}
// A drawn array of these extents, the sum of so many summands.
inline Dense drawn(std::vector<Int> const& n, bool real, Int summands = 1) {
  Dense a;
  a.n = n;
  std::vector<Int> index(n.size(), 0);
  for (Int k = 0; k < a.volume(); ++k, next(index, n)) {
    Sum sum = 0;
    for (Int w = 0; w < summands; ++w) sum += element(index, w);
    a.at.push_back(real ? sum.real() : sum);
  }
  return a;
}
// The ranks along these axes.
inline Int summands(core::AxisSet over, Sizes const& sizes) {
  Int n = 1;
  for (int x = 0; x < axes; ++x)
    if (over.contains(x)) n *= sizes[x];
  return n;
}
inline std::vector<Int> extents_of(Spec const& s, Case const& c) {
  std::vector<Int> n;
  for (int d = 0; d < s.rank; ++d) n.push_back(extent(c, s.dims[d].label));
  return n;
}

// The result of a case, with the dims in the order of the operand's.
inline Dense expected(Case const& c, Sizes const& sizes) {
  Spec const& s = c.call.given;
  bool const real = c.call.kind == FourierKind::real_to_complex;
  bool const back = c.call.kind == FourierKind::complex_to_real;
  Dense a = drawn(extents_of(s, c), real, summands(s.unreduced, sizes));
  for (int k = 0; k < c.call.over.size; ++k) {
    auto const d = static_cast<std::size_t>(s.find(c.call.over.at[k]));
    bool const halved = (real || back) && k + 1 == c.call.over.size;
    a = along(a, d, is_forward(c.call.kind) ? -1 : 1, halved ? extent(c, made_label(c)) : a.n[d],
              halved && back);
  }
  for (Sum& x : a.at) x *= factor_of(c);
  return a;
}

// Settings of one way of exchange, while it exists.
struct Sent {
  explicit Sent(Way way)
      : window(run_time.settings.fft.window, way == Way::window),
        on_one_node(run_time.on_one_node, run_time.on_one_node && way != Way::pieces),
        sizes(limits(way)) {}
  static SendingLimits limits(Way way) {
    SendingLimits out{};
    if (way == Way::pieces) out.least_piece = 48;
    if (way == Way::huge) out.largest_count = 5;
    return out;
  }
  harness::WhileSet<bool> window;
  harness::WhileSet<bool> on_one_node;
  harness::Sending sizes;
};

// What one rank found.
struct Found {
  std::string wrong;        // empty: nothing
  std::uint64_t block = 0;  // the coordinates on which the block depends
  std::uint64_t bits = 0;   // of the block
};

// Calls `use(k, index)` for the k-th element of the block of sharding `s` and its global indices in
// the order of the labels `order`.
template <class Use>
void for_block(Spec const& s, planning::Sizing const& z, Coords const& at, Spec const& order,
               Use use) {
  std::vector<Int> n;
  std::vector<Rows> rows;
  for (int d = 0; d < s.rank; ++d) {
    rows.push_back(planning::rows_of(s, d, z, at));
    n.push_back(rows.back().size());
  }
  Int all = 1;
  for (Int const e : n) all *= e;
  std::vector<Int> local(n.size(), 0);
  std::vector<Int> global(n.size(), 0);
  for (Int k = 0; k < all; ++k, next(local, n)) {
    for (int d = 0; d < s.rank; ++d)
      global[static_cast<std::size_t>(order.find(s.dims[d].label))] =
          rows[static_cast<std::size_t>(d)][local[static_cast<std::size_t>(d)]];
    use(k, global);
  }
}

template <class T>
T as(Sum const& x) {
  if constexpr (shardtype::detail::is_complex<T>) {
    using Real = shardtype::detail::real_of<T>;
    return T(static_cast<Real>(x.real()), static_cast<Real>(x.imag()));
  } else {
    return static_cast<T>(x.real());
  }
}
template <class T>
Sum as_sum(T const& x) {
  if constexpr (shardtype::detail::is_complex<T>) {
    return {static_cast<double>(x.real()), static_cast<double>(x.imag())};
  } else {
    return static_cast<double>(x);
  }
}

inline planning::Sizing sizing_of(Case const& c, AxisMap const& map, Int bytes) {
  planning::Sizing z{{}, map.sizes, bytes};
  for (int l = 0; l <= labels; ++l) z.extents.at[l] = extent(c, l);
  return z;
}

// Compares a block of sharding `s` with the whole array, whose dims are in the order of `order`.
template <class U>
Found look_at(U const* block, Spec const& s, Spec const& order, planning::Sizing const& z,
              MeshState& mesh, AxisMap const& map, Dense const& dense) {
  using Real = shardtype::detail::real_of<U>;
  Found found;
  double most = 0;
  for (Sum const& x : dense.at) most = std::max(most, std::abs(x));
  double const unit = 20 * std::numeric_limits<Real>::epsilon() *
                      std::log2(static_cast<double>(dense.at.size()) + 2) * std::max(most, 1e-30);
  auto const at = [&](std::vector<Int> const& index) {
    Int place = 0;
    for (std::size_t d = 0; d < dense.n.size(); ++d) place = place * dense.n[d] + index[d];
    return static_cast<std::size_t>(place);
  };
  // a pending sum: of the blocks of one rank for each summand
  std::vector<double> sums;
  if (!s.unreduced.empty()) {
    sums.assign(2 * dense.at.size(), 0);
    bool first = true;
    for (int x = 0; x < axes; ++x)
      if (s.dim_of(x) < 0 && !s.unreduced.contains(x)) first &= map.coords[x] == 0;
    for_block(s, z, map.coords, order, [&](Int k, std::vector<Int> const& index) {
      Sum const x = first ? as_sum(block[k]) : 0;
      sums[2 * at(index)] += x.real();
      sums[2 * at(index) + 1] += x.imag();
    });
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM,
                  mesh.whole().raw());
  }
  found.bits = 0xcbf29ce484222325U;
  for_block(s, z, map.coords, order, [&](Int k, std::vector<Int> const& index) {
    Sum const got =
        sums.empty() ? as_sum(block[k]) : Sum(sums[2 * at(index)], sums[2 * at(index) + 1]);
    Sum const wanted = dense.at[at(index)];
    if (!(std::abs(got - wanted) < unit) && found.wrong.empty()) {
      found.wrong = "element";
      for (Int const i : index) found.wrong += " " + std::to_string(i);
      found.wrong += " is " + std::to_string(got.real()) + " + " + std::to_string(got.imag()) +
                     "i, not " + std::to_string(wanted.real()) + " + " +
                     std::to_string(wanted.imag()) + "i";
    }
    unsigned char bytes_of[sizeof(U)];
    std::memcpy(bytes_of, &block[k], sizeof(U));
    for (unsigned char const b : bytes_of) found.bits = (found.bits ^ b) * 0x100000001b3U;
  });
  for (int x = 0; x < axes; ++x)
    if (s.dim_of(x) >= 0 || s.unreduced.contains(x))
      found.block = found.block * 64 + static_cast<std::uint64_t>(map.coords[x]);
  return found;
}
// A line for each block that differs from one of another rank that should have the same bits;
// `names_of(k)`: what the k-th block is. Collective.
template <class NamesOf>
std::string differing(std::vector<Found> const& mine, NamesOf names_of) {
  auto const ranks = static_cast<std::size_t>(on_ranks::rank_total());
  std::vector<std::uint64_t> own;
  for (Found const& f : mine) {
    own.push_back(f.block);
    own.push_back(f.bits);
  }
  std::vector<std::uint64_t> all(own.size() * ranks);
  int const n = static_cast<int>(own.size());
  MPI_Allgather(own.data(), n, MPI_UINT64_T, all.data(), n, MPI_UINT64_T, MPI_COMM_WORLD);
  std::string out;
  for (std::size_t c = 0; c < mine.size(); ++c)
    for (std::size_t r = 0; r < ranks; ++r) {
      std::uint64_t const* const theirs = &all[r * own.size() + 2 * c];
      if (theirs[0] == mine[c].block && theirs[1] != mine[c].bits)
        out += names_of(c) + ": the block differs from that of rank " + std::to_string(r) + "\n";
    }
  return out;
}

// Drawn elements, or this rank's summands of them.
template <class T>
void fill(T* data, Spec const& s, Spec const& order, planning::Sizing const& z,
          AxisMap const& map) {
  Int where = 0;
  for (int x = 0; x < axes; ++x)
    if (s.unreduced.contains(x)) where = where * map.sizes[x] + map.coords[x];
  for_block(s, z, map.coords, order,
            [&](Int k, std::vector<Int> const& at) { data[k] = as<T>(element(at, where)); });
}

// The case that is planned now: planners are functions without state.
inline Case const* planned = nullptr;
inline std::int64_t element_bytes[2];
inline Plan make_plan(planning::Sizing const& z, Machine const& m) {
  return planning::fourier_plan("fft", planned->call, planned->wanted, z, element_bytes, m);
}

template <class T, class U>
Found run(MeshState& mesh, AxisMap const& map, Case const& c) {
  Found found;
  planned = &c;
  element_bytes[0] = sizeof(T);
  element_bytes[1] = sizeof(U);
  planning::Sizing open{names.extents(), names.sizes(), element_bytes[0]};
  planning::Sizing const z = sizing_of(c, map, element_bytes[0]);
  Plan const plan = shardtype::detail::choose_plan(&make_plan, names, open, z, {});
  Dense const dense = expected(c, map.sizes);

  Int const size = local_elements(c.call.given, z.extents, z.sizes, map.coords);
  Buffer operand = mesh.pool().take<Kokkos::HostSpace>(static_cast<std::size_t>(size) * sizeof(T));
  auto* const data = static_cast<T*>(operand.data());
  fill(data, c.call.given, c.call.given, z, map);
  std::vector<T> const before(data, data + size);

  Sent const sent(c.way);
  shim::reset();
  Int const in_windows = run_time.exchanged_in_windows;
  Buffer const result = execute::FourierRun<T, U, Kokkos::HostSpace>(
                            mesh, map, std::source_location::current(), plan, c.call, factor_of(c))
                            .run(operand);
  Int const bytes = shim::bytes() + run_time.exchanged_in_windows - in_windows;
  // the messages of a gather of huge blocks are counted where they are sent
  if (bytes != plan.bytes(map.coords) && c.way != Way::huge)
    found.wrong = "sent " + std::to_string(bytes) + " bytes, planned " +
                  std::to_string(plan.bytes(map.coords));
  if (size > 0 && std::memcmp(before.data(), data, before.size() * sizeof(T)) != 0)
    found.wrong = "the operand changed";

  Found const block = look_at(static_cast<U const*>(result.data()), c.wanted,
                              c.call.of_result(c.call.given), z, mesh, map, dense);
  if (found.wrong.empty()) found.wrong = block.wrong;
  found.block = block.block;
  found.bits = block.bits;
  return found;
}

inline Found run(MeshState& mesh, AxisMap const& map, Case const& c) {
  using Complex = Kokkos::complex<double>;
  using Single = Kokkos::complex<float>;
  switch (c.call.kind) {
    case FourierKind::real_to_complex:
      return c.single ? run<float, Single>(mesh, map, c) : run<double, Complex>(mesh, map, c);
    case FourierKind::complex_to_real:
      return c.single ? run<Single, float>(mesh, map, c) : run<Complex, double>(mesh, map, c);
    default:
      return c.single ? run<Single, Single>(mesh, map, c) : run<Complex, Complex>(mesh, map, c);
  }
}

// Meshes of all ranks with three axes.
inline std::vector<std::array<Int, 3>> grids() {
  Int const p = on_ranks::rank_total();
  std::vector<std::array<Int, 3>> out = {{p, 1, 1}};
  for (Int k = 2; k < p; ++k)
    if (p % k == 0) out.push_back({k, p / k, 1});
  if (p % 4 == 0) out.push_back({2, p / 4, 2});
  return out;
}

inline std::vector<Mesh<X, Y, Z>> all_meshes() {
  std::vector<Mesh<X, Y, Z>> out;
  for (auto const& grid : grids()) {
    out.emplace_back(MPI_COMM_WORLD, grid);
    out.back().state().window().reserve(1 << 20);  // growing it sends messages
  }
  return out;
}

// Runs `count` of the cases on all ranks, evenly; the same ones on each rank.
inline void run_cases(int count) {
  int const ranks = on_ranks::rank_total();
  std::vector<Mesh<X, Y, Z>> const meshes = all_meshes();
  int const batch = 100;
  for (int first = 0; first < count; first += batch) {
    std::vector<Case> cases;
    std::vector<Found> found;
    std::string wrong;
    for (int k = first; k < std::min(count, first + batch); ++k) {
      // a step without a common divisor: every part of the list has all kinds, sizes and norms
      int const number = static_cast<int>(std::int64_t{k} * 7919 % all_cases);
      Mesh<X, Y, Z> const& mesh = meshes[static_cast<std::size_t>(k) % meshes.size()];
      AxisMap const map = map_axes(mesh.state(), names);
      cases.push_back(case_number(number, ranks));
      found.push_back(run(mesh.state(), map, cases.back()));
      if (!found.back().wrong.empty())
        wrong += text(cases.back()) + ": " + found.back().wrong + "\n";
    }
    wrong += differing(found, [&](std::size_t k) { return text(cases[k]); });
    INFO(wrong);
    CHECK(wrong.empty());
  }
}

}  // namespace fourier_cases
