// Pictures of tensors as PNG files, read back by libpng, and of losses: the pixels on every
// sharding are those of the whole array, errors are the same on every rank.
// NEEDS: PNG
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include <png.h>

#include <shardtype/shardtype.hpp>
#include <shardtype/visualize/curves.hpp>
#include <shardtype/visualize/png.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct C : Index<"C"> {};

using Int = std::int64_t;

struct File {
  Int rows = 0, columns = 0;
  int channels = 0;
  std::vector<int> bytes;
};

/// A file of this number of ranks, and its pixels.
std::string path_of(char const* name) {
  return "png_" + std::to_string(on_ranks::rank_total()) + "_" + name;
}
File read(std::string const& path) {
  MPI_Barrier(MPI_COMM_WORLD);
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  REQUIRE(png_image_begin_read_from_file(&image, path.c_str()) != 0);
  File out;
  out.rows = image.height;
  out.columns = image.width;
  out.channels = static_cast<int>(PNG_IMAGE_PIXEL_CHANNELS(image.format));
  std::vector<png_byte> bytes(PNG_IMAGE_SIZE(image));
  REQUIRE(png_image_finish_read(&image, nullptr, bytes.data(), 0, nullptr) != 0);
  out.bytes.assign(bytes.begin(), bytes.end());
  MPI_Barrier(MPI_COMM_WORLD);
  if (on_ranks::my_rank() == 0) std::filesystem::remove(path);
  return out;
}
Mesh<X> mesh_of_all() { return Mesh<X>(MPI_COMM_WORLD, {on_ranks::rank_total()}); }
double number_at(Int i, Int j) { return static_cast<double>((7 * i + 5 * j) % 31) - 3; }

template <class A, class M>
A ramp(M const& mesh, Int rows, Int columns) {
  std::vector<typename A::element> all;
  for (Int i = 0; i < rows; ++i)
    for (Int j = 0; j < columns; ++j)
      all.push_back(static_cast<typename A::element>(number_at(i, j)));
  return from_host<A>(mesh, {rows, columns}, all);
}

}  // namespace

TEST_CASE("a picture of a matrix has the color of each number") {
  Mesh<X> const mesh = mesh_of_all();
  for (Int const rows : {Int(1), Int(5), Int(13)}) {
    Int const columns = 9;
    auto const check = [&](auto const& a) {
      std::string const path = path_of("gray.png");
      save_png(a, path, {.colors = visualizing::ColorMap::gray, .low = -3, .high = 27, .zoom = 2});
      File const f = read(path);
      REQUIRE(f.rows == 2 * rows);
      REQUIRE(f.columns == 2 * columns);
      REQUIRE(f.channels == 3);
      bool equal = true;
      for (Int i = 0; i < f.rows; ++i)
        for (Int j = 0; j < f.columns; ++j)
          for (Int c = 0; c < 3; ++c)
            equal = equal && f.bytes[static_cast<std::size_t>((i * f.columns + j) * 3 + c)] ==
                                 std::lround((number_at(i / 2, j / 2) + 3) / 30 * 255);
      CHECK(equal);
    };
    check(ramp<Tensor<float, Dim<I, X>, Dim<J>>>(mesh, rows, columns));
    check(ramp<Tensor<double, Dim<I>, Dim<J, X>>>(mesh, rows, columns));
    check(ramp<Tensor<bfloat16, Dim<I>, Dim<J>>>(mesh, rows, columns));
    check(ramp<Tensor<std::int64_t, Dim<I, Cyclic<X, 2>>, Dim<J>>>(mesh, rows, columns));
  }
}

TEST_CASE("pixels of a long matrix are means") {
  Mesh<X> const mesh = mesh_of_all();
  Int const rows = 37, columns = 6, most = 10;
  std::string const path = path_of("means.png");
  save_png(ramp<Tensor<float, Dim<I, X>, Dim<J>>>(mesh, rows, columns), path,
           {.colors = visualizing::ColorMap::gray, .low = -3, .high = 27, .most = most, .zoom = 1});
  File const f = read(path);
  REQUIRE(f.rows == most);
  REQUIRE(f.columns == columns);
  std::vector<double> sum(static_cast<std::size_t>(most * columns)), count(sum.size());
  for (Int i = 0; i < rows; ++i)
    for (Int j = 0; j < columns; ++j) {
      auto const at = static_cast<std::size_t>(i * most / rows * columns + j);
      sum[at] += number_at(i, j);
      count[at] += 1;
    }
  for (std::size_t k = 0; k < sum.size(); ++k)
    CHECK(std::abs(f.bytes[3 * k] - (sum[k] / count[k] + 3) / 30 * 255) < 0.51);
}

TEST_CASE("NaN, infinity, one number only, and zero in the middle") {
  Mesh<X> const mesh = mesh_of_all();
  double const nan = std::numeric_limits<double>::quiet_NaN();
  double const inf = std::numeric_limits<double>::infinity();
  auto const bytes = [&](std::vector<double> const& row, PngOptions options) {
    options.zoom = 1;
    std::string const path = path_of("row.png");
    save_png(from_host<Tensor<double, Dim<I>, Dim<J, X>>>(
                 mesh, {Int(1), static_cast<Int>(row.size())}, row),
             path, options);
    return read(path).bytes;
  };
  CHECK(bytes({nan, -inf, inf, 0, 1}, {.colors = visualizing::ColorMap::gray}) ==
        std::vector<int>{255, 0, 0, 0, 0, 0, 255, 255, 255, 0, 0, 0, 255, 255, 255});
  CHECK(bytes({-1, 0, 2}, {.colors = visualizing::ColorMap::diverging})[4] == 247);
  CHECK(bytes({4, 4}, {}) == std::vector<int>{68, 1, 84, 68, 1, 84});
  CHECK(bytes({0, 1}, {}) == std::vector<int>{68, 1, 84, 253, 231, 37});
}

TEST_CASE("an image has its own colors") {
  Mesh<X> const mesh = mesh_of_all();
  for (Int const channels : {Int(1), Int(3), Int(4)}) {
    std::vector<float> light;
    std::vector<std::int32_t> levels;
    for (Int k = 0; k < 6 * 2 * channels; ++k) {
      levels.push_back(static_cast<std::int32_t>(k * 5 % 256));
      light.push_back(static_cast<float>(levels.back()) / 255.0F);
    }
    std::vector<int> const expected(levels.begin(), levels.end());
    std::string const path = path_of("image.png");
    save_png(from_host<Tensor<float, Dim<I, X>, Dim<J>, Dim<C>>>(mesh, {Int(6), Int(2), channels},
                                                                 light),
             path);
    File const f = read(path);
    CHECK(f.channels == channels);
    CHECK(f.bytes == expected);
    save_png(from_host<Tensor<std::int32_t, Dim<I>, Dim<J>, Dim<C, X>>>(
                 mesh, {Int(6), Int(2), channels}, levels),
             path);
    CHECK(read(path).bytes == expected);
  }
}

TEST_CASE("errors of pictures") {
  Mesh<X> const mesh = mesh_of_all();
  using A = Tensor<float, Dim<I, X>, Dim<J>>;
  auto const a = ramp<A>(mesh, 3, 2);
  auto const code = [&](auto const& given, std::string const& path, PngOptions const& options) {
    return on_ranks::code_of([&] { save_png(given, path, options); });
  };
  CHECK(code(a, "nowhere/at/all.png", {}) == "IO8");
  CHECK(code(ramp<A>(mesh, 0, 2), path_of("no.png"), {}) == "E87");
  CHECK(code(zeros<float, Dim<I, X>, Dim<J>, Dim<C>>(mesh, {2, 2, 2}), path_of("no.png"), {}) ==
        "E87");
  CHECK(code(a, path_of("no.png"), {.most = 0}) == "E87");
  CHECK(code(a, path_of("no.png"), {.zoom = -1}) == "E87");
  CHECK(code(a, path_of("no.png"), {.zoom = 20000}) == "E87");
  CHECK(code(a, path_of("no.png"), {.low = 2, .high = 1}) == "E87");
  CHECK(!std::filesystem::exists(path_of("no.png")));
}

TEST_CASE("losses as a picture") {
  std::vector<double> losses;
  for (int k = 0; k < 5000; ++k) losses.push_back(1.0 / (k + 1));
  losses[10] = std::numeric_limits<double>::quiet_NaN();
  std::string const svg =
      visualizing::curves_svg({{"training", losses}, {"<held out>", {0.5, 0.25}, {0, 2500}}},
                              {.title = "loss", .logarithmic = true});
  CHECK(svg.find(">training</text>") != std::string::npos);
  CHECK(svg.find("&lt;held out&gt;") != std::string::npos);
  CHECK(svg.find(">0.0001</text>") != std::string::npos);
  CHECK(svg.find("nan") == std::string::npos);
  CHECK(svg.size() < 60000);
  CHECK(visualizing::curves_svg({}).find("<svg") == 0);
  CHECK(visualizing::curves_svg({{"one", {3}}}).find("<polyline") != std::string::npos);
  CHECK(on_ranks::code_of([] { visualizing::curves_svg({{"one", {3}, {1, 2}}}); }) == "E87");
  CHECK(on_ranks::code_of([] { write_svg({}, "nowhere/at/all.svg"); }) == "E72");
}
