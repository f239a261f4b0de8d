// Batches of a file of tokens, and of rows of an array: the same on every sharding and number of
// ranks, each window once in an epoch, with what follows; all types of elements; files that are
// missing, broken or too short.
// NEEDS: Random123
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include <sys/stat.h>

#include <shardtype/shardtype.hpp>
#include <shardtype/train/array_file.hpp>
#include <shardtype/train/tokens.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"
#include "harness/temp_dir.hpp"

using namespace shardtype;
using on_ranks::code_of;
using train::TokenType;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct B : Index<"B", 5> {};
struct S : Index<"S", 7> {};
using Whole = Tensor<std::int64_t, Dim<B>, Dim<S>>;
using Rows = Tensor<std::int64_t, Dim<B, X, Y>, Dim<S>>;
using Grid = Tensor<std::int32_t, Dim<B, Y>, Dim<S, X>>;

template <class A>
std::vector<std::int64_t> numbers(A const& a) {
  auto const host = to_host(a);
  return std::vector<std::int64_t>(host.begin(), host.end());
}

// Rank 0 writes; the others wait.
template <class T>
void write(std::string const& path, std::vector<std::int64_t> const& tokens,
           std::string const& header = {}) {
  if (on_ranks::my_rank() == 0) {
    std::ofstream out(path, std::ios::binary);
    out << header;
    for (std::int64_t const t : tokens) {
      T const x = static_cast<T>(t);
      out.write(reinterpret_cast<char const*>(&x), sizeof x);
    }
  }
  harness::meet();
}

std::vector<std::int64_t> counting(std::int64_t n, std::int64_t below) {
  std::vector<std::int64_t> out;
  for (std::int64_t k = 0; k < n; ++k) out.push_back(k * 7 % below);
  return out;
}

// Rank 0 writes an array whose element (n, c, d) is value(n, c, d).
template <class T, class F>
void write_array(std::string const& path, std::array<std::int64_t, 3> const& n, bool fortran,
                 F value) {
  if (on_ranks::my_rank() == 0) {
    std::ofstream out(path, std::ios::binary);
    std::string const dtype = sizeof(T) == 1 ? "|u1" : io::npy_dtype<float>();
    out << io::format_npy_header(dtype, {n[0], n[1], n[2]}, fortran);
    for (std::int64_t k = 0; k < n[0] * n[1] * n[2]; ++k) {
      T const x = static_cast<T>(fortran ? value(k % n[0], k / n[0] % n[1], k / n[0] / n[1])
                                         : value(k / n[2] / n[1], k / n[2] % n[1], k % n[2]));
      out.write(reinterpret_cast<char const*>(&x), sizeof x);
    }
  }
  harness::meet();
}

TEST_CASE("batches of an array are its rows, each once in an epoch") {
  struct C : Index<"C"> {};
  struct D : Index<"D", 3> {};
  harness::TempDir const dir("arrays");
  auto const mesh = on_ranks::two_axes<X, Y>();
  using Images = Tensor<float, Dim<B>, Dim<C>, Dim<D>>;
  using Split = Tensor<float, Dim<B, Y>, Dim<C, X>, Dim<D>>;
  std::int64_t const all = 13, c = 4;
  auto const value = [](std::int64_t n, std::int64_t k, std::int64_t d) {
    return 12 * n + 3 * k + d;
  };
  write_array<float>(dir / "c.npy", {all, c, 3}, false, value);
  write_array<float>(dir / "f.npy", {all, c, 3}, true, value);
  write_array<std::uint8_t>(dir / "u.npy", {all, c, 3}, false, value);
  // docs: arrays
  train::ArrayFile const file(mesh, dir / "c.npy");
  auto const batch = file.batch<Split>(0, RandomKey{3});  // f32[B@Y, C@X, D]
  auto const last = file.rows<Split>(8);                  // rows 8 to 12, in order
  // docs: end
  train::ArrayFile const fortran(mesh, dir / "f.npy"), bytes(mesh, dir / "u.npy");
  CHECK(to_host(batch) == to_host(file.batch<Images>(0, RandomKey{3})));
  CHECK(file.size() == all);
  CHECK(file.extents() == std::vector<std::int64_t>{all, c, 3});
  std::vector<std::int64_t> seen;
  for (std::int64_t step = 0; step < 13; ++step) {
    auto const whole = to_host(file.batch<Images>(step, RandomKey{3}));
    REQUIRE(whole.size() == 5 * 4 * 3);
    for (std::size_t r = 0; r < 5; ++r) {
      std::int64_t const n = static_cast<std::int64_t>(whole[12 * r]) / 12;
      seen.push_back(n);
      for (std::size_t k = 0; k < 12; ++k)
        REQUIRE(whole[12 * r + k] == static_cast<float>(12 * n + static_cast<std::int64_t>(k)));
    }
    CHECK(to_host(file.batch<Split>(step, RandomKey{3})) == whole);
    CHECK(to_host(fortran.batch<Split>(step, RandomKey{3})) == whole);
    CHECK(to_host(bytes.batch<Split>(step, RandomKey{3}, 5)) == whole);
  }
  CHECK(seen.size() == 5 * 13);
  for (std::size_t epoch = 0; epoch < 5; ++epoch) {
    std::vector<std::int64_t> rows(seen.begin() + static_cast<std::ptrdiff_t>(13 * epoch),
                                   seen.begin() + static_cast<std::ptrdiff_t>(13 * epoch + 13));
    CHECK_FALSE(std::is_sorted(rows.begin(), rows.end()));
    std::sort(rows.begin(), rows.end());
    for (std::int64_t n = 0; n < all; ++n) CHECK(rows[static_cast<std::size_t>(n)] == n);
  }
  auto const end = to_host(last);
  for (std::size_t k = 0; k < end.size(); ++k) CHECK(end[k] == static_cast<float>(96 + k));
  // what is none
  using Flat = Tensor<float, Dim<B>, Dim<D>>;
  using Ints = Tensor<std::int64_t, Dim<B>, Dim<C>, Dim<D>>;
  using Wrong = Tensor<float, Dim<B>, Dim<D>, Dim<C>>;
  using Open = Tensor<float, Dim<C>, Dim<S>, Dim<D>>;
  CHECK(code_of([&] { (void)file.rows<Images>(9); }) == "IO6");
  CHECK(code_of([&] { (void)file.rows<Images>(-1); }) == "E85");
  CHECK(code_of([&] { (void)file.batch<Flat>(0, RandomKey{3}); }) == "IO5");
  CHECK(code_of([&] { (void)file.batch<Ints>(0, RandomKey{3}); }) == "IO4");
  CHECK(code_of([&] { (void)file.batch<Wrong>(0, RandomKey{3}); }) == "E20");
  CHECK(code_of([&] { (void)file.batch<Open>(0, RandomKey{3}); }) == "E85");
  write_array<float>(dir / "e.npy", {0, c, 3}, false, value);
  train::ArrayFile const empty(mesh, dir / "e.npy");
  CHECK(code_of([&] { (void)empty.batch<Images>(0, RandomKey{3}); }) == "IO6");
  CHECK(code_of([&] { train::ArrayFile const none(mesh, dir / "none.npy"); }) == "IO1");
}

}  // namespace

TEST_CASE("numbers of batches that are none") {
  Mesh<X, Y> const mesh = on_ranks::two_axes<X, Y>();
  harness::TempDir const folder("tokens");
  std::string const path = folder / "text";
  write<std::uint8_t>(path, counting(101, 256));
  train::Tokens const text(mesh, path);
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t const step :
       {std::int64_t{-1}, std::numeric_limits<std::int64_t>::min(), most, most / 5, most / 5 - 1})
    CHECK(code_of([&] { (void)text.batch<Rows>(step, RandomKey{1}); }) == "E85");
  // the last number
  CHECK(numbers(text.batch<Rows>(most / 5 - 2, RandomKey{1}).ids) ==
        numbers(text.batch<Whole>(most / 5 - 2, RandomKey{1}).ids));
}

TEST_CASE("batches are the same on every sharding, and each window comes once in an epoch") {
  Mesh<X, Y> const mesh = on_ranks::two_axes<X, Y>();
  harness::TempDir const folder("tokens");
  std::int64_t const n =
      GENERATE(8, 100, 250, 9000);  // windows: 1, 14, 35, 1285 (a network's order)
  std::string const path = folder / "text";
  // each pair of bytes of a window tells where it begins
  std::vector<std::int64_t> tokens;
  for (std::int64_t k = 0; k < n; ++k)
    tokens.push_back(k % 7 == 0 ? k / 7 % 251 : k / 7 / 251 * 16 + k % 7);
  write<std::uint8_t>(path, tokens);
  train::Tokens const text(mesh, path);
  CHECK(text.size() == n);
  CHECK(text.vocabulary() == 256);
  std::int64_t const windows = (n - 1) / 7;
  RandomKey const key{11};
  std::vector<std::int64_t> begun;
  for (std::int64_t step = 0; step < 3 + 2 * windows / 5; ++step) {
    auto const rows = text.batch<Rows>(step, key);
    auto const ids = numbers(rows.ids);
    auto const targets = numbers(rows.targets);
    for (std::size_t b = 0; b < 5; ++b) {
      std::int64_t const window = ids[b * 7] + (ids[b * 7 + 1] / 16) * 251;
      REQUIRE(window < windows);
      begun.push_back(window);
      for (std::size_t s = 0; s < 7; ++s) {
        REQUIRE(ids[b * 7 + s] == tokens[static_cast<std::size_t>(window) * 7 + s]);
        REQUIRE(targets[b * 7 + s] == tokens[static_cast<std::size_t>(window) * 7 + s + 1]);
      }
    }
    if (step % 50 != 0) continue;
    auto const whole = text.batch<Whole>(step, key);
    auto const grid = text.batch<Grid>(step, key);
    CHECK(numbers(whole.ids) == ids);
    CHECK(numbers(whole.targets) == targets);
    CHECK(numbers(grid.ids) == ids);
    CHECK(numbers(grid.targets) == targets);
  }
  for (std::int64_t epoch = 0; (epoch + 1) * windows <= static_cast<std::int64_t>(begun.size());
       ++epoch) {
    std::vector<std::int64_t> one(begun.begin() + epoch * windows,
                                  begun.begin() + (epoch + 1) * windows);
    if (windows > 10) CHECK(!std::is_sorted(one.begin(), one.end()));
    std::sort(one.begin(), one.end());
    bool each_once = true;
    for (std::int64_t k = 0; k < windows; ++k)
      each_once = each_once && one[static_cast<std::size_t>(k)] == k;
    CHECK(each_once);
  }
  if (windows > 10) {
    auto const first = numbers(text.batch<Whole>(0, key).ids);
    CHECK(first != numbers(text.batch<Whole>(0, RandomKey{12}).ids));
    CHECK(first == numbers(text.batch<Whole>(0, key).ids));
  }
}

TEST_CASE("all types of tokens, and tokens held out") {
  Mesh<X, Y> const mesh = on_ranks::two_axes<X, Y>();
  harness::TempDir const folder("tokens");
  std::vector<std::int64_t> const small = counting(200, 256);
  std::vector<std::int64_t> const large = counting(200, 60000);
  auto const header = [](std::string const& type) {
    std::string text = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (200,), }";
    text.resize(117, ' ');
    text += '\n';
    return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(text.size()) +
           std::string(1, '\0') + text;
  };
  write<std::uint8_t>(folder / "a", small);
  write<std::uint16_t>(folder / "b", large);
  write<std::int32_t>(folder / "c", large);
  write<std::int64_t>(folder / "d", large);
  write<std::uint8_t>(folder / "a.npy", small, header("|u1"));
  write<std::uint16_t>(folder / "b.npy", large, header("<u2"));
  write<std::int32_t>(folder / "c.npy", large, header("<i4"));
  write<std::int64_t>(folder / "d.npy", large, header("<i8"));
  struct Case {
    char const* name;
    TokenType type;
  };
  for (Case const& one : {Case{"a", TokenType::bytes}, Case{"b", TokenType::u16},
                          Case{"c", TokenType::i32}, Case{"d", TokenType::i64}}) {
    std::vector<std::int64_t> const& tokens = one.type == TokenType::bytes ? small : large;
    for (bool const npy : {false, true}) {
      INFO(one.name << npy);
      train::Tokens const text(mesh, folder / (one.name + std::string(npy ? ".npy" : "")),
                               {.type = npy ? TokenType::bytes : one.type, .held_out = 0.4});
      CHECK(text.size() == 200);
      CHECK(text.vocabulary() == (one.type == TokenType::bytes
                                      ? 256
                                      : 1 + *std::max_element(tokens.begin(), tokens.end())));
      REQUIRE(text.evaluation_batches<Rows>() == 2);  // 79 / 7 windows
      for (std::int64_t k = 0; k < 2; ++k) {
        auto const batch = text.evaluation<Rows>(k);
        auto const ids = numbers(batch.ids);
        auto const targets = numbers(batch.targets);
        bool right = true;
        for (std::size_t at = 0; at < 35; ++at) {
          std::size_t const place = 120 + static_cast<std::size_t>(k) * 35 + at;
          right = right && ids[at] == tokens[place] && targets[at] == tokens[place + 1];
        }
        CHECK(right);
      }
      CHECK(code_of([&] { text.evaluation<Rows>(2); }) == "IO6");
      CHECK(code_of([&] { text.evaluation<Rows>(-1); }) == "IO6");
    }
  }
}

TEST_CASE("files that hold no tokens") {
  Mesh<X, Y> const mesh = on_ranks::two_axes<X, Y>();
  harness::TempDir const folder("tokens");
  auto const opened = [&](std::string const& name, train::TokensOptions const& options = {}) {
    return code_of([&] { train::Tokens(mesh, folder / name, options); });
  };
  CHECK(opened("none") == "IO1");
  CHECK(opened(".") == "IO1");
  CHECK(opened("/../../../../../../../../../../dev/zero") == "IO1");
  if (on_ranks::my_rank() == 0) mkfifo((folder / "fifo").c_str(), 0600);
  harness::meet();
  CHECK(opened("fifo") == "IO1");  // and nobody waits for its writer
  write<std::int64_t>(folder / "largest", {1, std::numeric_limits<std::int64_t>::max()});
  CHECK(opened("largest", {.type = TokenType::i64}) == "IO4");
  write<std::uint8_t>(folder / "odd", counting(9, 256));
  CHECK(opened("odd", {.type = TokenType::u16}) == "IO6");
  CHECK(opened("odd", {.held_out = 1}) == "E30");
  CHECK(opened("odd", {.held_out = -0.5}) == "E30");
  write<std::int32_t>(folder / "negative", {1, 2, -3, 4});
  CHECK(opened("negative", {.type = TokenType::i32}) == "IO4");
  write<std::uint8_t>(folder / "broken.npy", {}, "\x93NUMPY\x01");
  CHECK(opened("broken.npy") == "IO3");
  write<std::uint8_t>(folder / "empty", {});
  CHECK(opened("empty") == "none");
  write<std::uint8_t>(folder / "short", counting(7, 256));
  train::Tokens const text(mesh, folder / "short");
  CHECK(code_of([&] { text.batch<Rows>(0, RandomKey{1}); }) == "IO6");

  // a file that becomes shorter is told, and does not end the program by a signal
  write<std::uint8_t>(folder / "cut", counting(70000, 256));
  train::Tokens const cut(mesh, folder / "cut");
  CHECK(code_of([&] { cut.batch<Rows>(0, RandomKey{1}); }) == "none");
  harness::meet();
  if (on_ranks::my_rank() == 0) std::filesystem::resize_file(folder / "cut", 10);
  harness::meet();
  CHECK(code_of([&] { cut.batch<Rows>(1, RandomKey{1}); }) == "IO6");
}

TEST_CASE("tokens on a mesh that some ranks are not in") {
  harness::TempDir const folder("tokens");
  write<std::uint8_t>(folder / "text", counting(100, 256));
  Mesh<X, Y> const one(MPI_COMM_WORLD, {1, 1}, {on_ranks::rank_total() - 1});
  train::Tokens const text(one, folder / "text", {.held_out = 0.5});
  auto const batch = text.batch<Rows>(3, RandomKey{1});
  CHECK(batch.ids.mesh().here() == (on_ranks::my_rank() == on_ranks::rank_total() - 1));
  text.evaluation<Rows>(0);
  if (one.here()) CHECK(text.evaluation_batches<Rows>() == 1);
}
