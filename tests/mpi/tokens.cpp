// Batches of a file of tokens: the same on every sharding and number of ranks, each window once in
// an epoch, with what follows; all types of elements; files that are missing, broken or too short.
// NEEDS: Random123
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include <sys/stat.h>

#include <shardtype/shardtype.hpp>
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
