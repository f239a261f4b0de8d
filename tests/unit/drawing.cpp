// Pictures of shardings, as printed.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <shardtype/visualize/drawing.hpp>

#include "../harness/catch.hpp"

using namespace shardtype;
using detail::List;

namespace {

/// A picture over the mesh X = 4, Y = 2.
ShardingPicture over_xy(List<std::int64_t> extents, List<List<int>> axes) {
  ShardingPicture p;
  p.index_names = List<std::string>{"I", "J", "K"};
  p.extents = std::move(extents);
  p.axes = std::move(axes);
  p.mesh_names = {"X", "Y"};
  p.mesh_sizes = {4, 2};
  return p;
}

constexpr int X = 0, Y = 1;

/// The text of a raw literal that begins with a line break.
std::string lines(char const* text) { return text + 1; }

std::string without_colors(std::string const& text) {
  std::string out;
  for (std::size_t k = 0; k < text.size(); ++k) {
    if (text[k] == '\x1b')
      k = text.find('m', k);
    else
      out += text[k];
  }
  return out;
}

std::size_t longest_line(std::string const& text) {
  std::istringstream in(text);
  std::size_t most = 0;
  for (std::string line; std::getline(in, line);) most = std::max(most, detail::text_width(line));
  return most;
}

}  // namespace

TEST_CASE("a replicated tensor is one box") {
  auto p = over_xy({1500, 1100}, {{}, {}});
  p.title = "A f32[1500, 1100]";
  CHECK(detail::draw(p) == lines(R"(
A f32[1500, 1100]
┌──────────────────────┐
│ rank 0,1,2,3,4,5,6,7 │
└──────────────────────┘
not split
replicated over X, Y: 8 ranks hold equal copies of each cell
)"));
}

TEST_CASE("a dimension that is split has a row or column per block") {
  CHECK(detail::draw(over_xy({1500, 1100}, {{X}, {}})) == lines(R"(
┌──────────┐
│ rank 0,1 │
├──────────┤
│ rank 2,3 │
├──────────┤
│ rank 4,5 │
├──────────┤
│ rank 6,7 │
└──────────┘
I over X: 4 blocks of 375; J whole
replicated over Y: 2 ranks hold equal copies of each cell
)"));
  CHECK(detail::draw(over_xy({1500, 1100}, {{}, {Y}})) == lines(R"(
┌──────────────┬──────────────┐
│ rank 0,2,4,6 │ rank 1,3,5,7 │
└──────────────┴──────────────┘
I whole; J over Y: 2 blocks of 550
replicated over X: 4 ranks hold equal copies of each cell
)"));
  CHECK(detail::draw(over_xy({1500, 1100}, {{X}, {Y}})) == lines(R"(
┌────────┬────────┐
│ rank 0 │ rank 1 │
├────────┼────────┤
│ rank 2 │ rank 3 │
├────────┼────────┤
│ rank 4 │ rank 5 │
├────────┼────────┤
│ rank 6 │ rank 7 │
└────────┴────────┘
I over X: 4 blocks of 375; J over Y: 2 blocks of 550
)"));
}

TEST_CASE("of two axes on one dimension the first is major") {
  CHECK(detail::draw(over_xy({8, 8}, {{}, {X, Y}})) == lines(R"(
┌────────┬────────┬────────┬────────┬────────┬────────┬────────┬────────┐
│ rank 0 │ rank 1 │ rank 2 │ rank 3 │ rank 4 │ rank 5 │ rank 6 │ rank 7 │
└────────┴────────┴────────┴────────┴────────┴────────┴────────┴────────┘
I whole; J over X, Y: 8 blocks of 1
)"));
  CHECK(detail::draw(over_xy({8, 8}, {{}, {Y, X}})) == lines(R"(
┌────────┬────────┬────────┬────────┬────────┬────────┬────────┬────────┐
│ rank 0 │ rank 2 │ rank 4 │ rank 6 │ rank 1 │ rank 3 │ rank 5 │ rank 7 │
└────────┴────────┴────────┴────────┴────────┴────────┴────────┴────────┘
I whole; J over Y, X: 8 blocks of 1
)"));
}

TEST_CASE("uneven blocks have uneven cells, and an empty one a mark") {
  CHECK(detail::draw(over_xy({5, 5}, {{X}, {Y}})) == lines(R"(
┌────────────────────┬─────────────┐
│                    │             │
│       rank 0       │   rank 1    │
│                    │             │
├────────────────────┼─────────────┤
│                    │             │
│       rank 2       │   rank 3    │
│                    │             │
├────────────────────┼─────────────┤
│       rank 4       │   rank 5    │
│                    │             │
├────────────────────┼─────────────┤
│      rank 6 ∅      │  rank 7 ∅   │
└────────────────────┴─────────────┘
I over X: 4 blocks of 2, 2, 1, 0; J over Y: 2 blocks of 3, 2
∅: an empty block
)"));
}

TEST_CASE("blocks nest: the second axis cuts each piece of the first") {
  auto const p = over_xy({10, 7}, {{X, Y}, {}});
  CHECK(detail::block_sizes(p, 0) == List<std::int64_t>{2, 1, 2, 1, 2, 1, 1, 0});
}

TEST_CASE("an unreduced tensor says what its copies are") {
  auto p = over_xy({8, 8}, {{X}, {}});
  p.unreduced = {Y};
  CHECK(detail::draw(p) == lines(R"(
┌──────────┐
│ rank 0,1 │
├──────────┤
│ rank 2,3 │
├──────────┤
│ rank 4,5 │
├──────────┤
│ rank 6,7 │
└──────────┘
I over X: 4 blocks of 2; J whole
each cell is a partial sum over Y: add the 2 copies
)"));
  auto q = over_xy({8, 8}, {{}, {}});
  q.unreduced = {X};
  q.unreduced_kind = "max";
  q.reduced = {Y};
  CHECK(detail::draw(q) == lines(R"(
┌──────────────────────┐
│ rank 0,1,2,3,4,5,6,7 │
└──────────────────────┘
not split
each cell is a partial max over X: take the max of the 4 copies
replicated over Y: 2 ranks hold equal copies of each part
reduced over Y: the gradient of these copies is left as partial sums
)"));
}

TEST_CASE("a vector is one row") {
  auto p = over_xy({5}, {{X}});
  p.unreduced = {Y};
  p.title = "v f32[5@X]{U:Y}";
  CHECK(detail::draw(p) == lines(R"(
v f32[5@X]{U:Y}
┌────────────────────────┬────────────────────────┬────────────┬────────────┐
│        rank 0,1        │        rank 2,3        │  rank 4,5  │ rank 6,7 ∅ │
└────────────────────────┴────────────────────────┴────────────┴────────────┘
I over X: 4 blocks of 2, 2, 1, 0
∅: an empty block
each cell is a partial sum over Y: add the 2 copies
)"));
}

TEST_CASE("other numbers of dimensions are described in words") {
  auto p = over_xy({8, 16, 32}, {{X}, {}, {Y}});
  p.title = "x f32[8@X, 16, 32@Y]";
  CHECK(detail::draw(p) == lines(R"(
x f32[8@X, 16, 32@Y]
I over X: 4 blocks of 2; J whole; K over Y: 2 blocks of 16
)"));
  auto s = over_xy({}, {});
  s.unreduced = {X};
  CHECK(detail::draw(s) == lines(R"(
a single value
each cell is a partial sum over X: add the 4 copies
replicated over Y: 2 ranks hold equal copies of each part
)"));
}

TEST_CASE("ranks may lie anywhere in the mesh, and extents be unknown") {
  auto p = over_xy({-1, 6}, {{X}, {Y}});
  p.mesh_sizes = {2, 2};
  p.ranks = {3, 2, 1, 0};
  CHECK(detail::draw(p) == lines(R"(
┌────────┬────────┐
│ rank 3 │ rank 2 │
├────────┼────────┤
│ rank 1 │ rank 0 │
└────────┴────────┘
I over X: 2 blocks; J over Y: 2 blocks of 3
)"));
}

TEST_CASE("long lists of ranks are shortened") {
  List<int> even;
  for (int k = 0; k < 32; ++k) even.push_back(2 * k);
  CHECK(detail::rank_list(even, 80) == "0,2,4,6,..,62");
  CHECK(detail::rank_list(even, 10) == "0,2,..,62");
  CHECK(detail::rank_list(even, 7) == "0,..,62");
  CHECK(detail::rank_list(even, 6) == "0..");
  CHECK(detail::rank_list({5}, 1) == "5");
  CHECK(detail::rank_list({5, 7}, 2) == "5..");
  auto p = over_xy({64, 64}, {{Y}, {}});
  p.mesh_sizes = {32, 2};
  CHECK(detail::draw(p) == lines(R"(
┌────────────────────┐
│ rank 0,2,4,6,..,62 │
├────────────────────┤
│ rank 1,3,5,7,..,63 │
└────────────────────┘
I over Y: 2 blocks of 32; J whole
replicated over X: 32 ranks hold equal copies of each cell
)"));
}

TEST_CASE("a large mesh is summarised") {
  auto p = over_xy({1024, 1024}, {{X}, {Y}});
  p.mesh_sizes = {64, 64};
  CHECK(detail::draw(p, {false, 40}) == lines(R"(
┌──────┬──────┬──────┬──────┬───┬──────┐
│  0   │  1   │  2   │  3   │ … │  63  │
├──────┼──────┼──────┼──────┼───┼──────┤
│  64  │  65  │  66  │  67  │ … │ 127  │
├──────┼──────┼──────┼──────┼───┼──────┤
│ 128  │ 129  │ 130  │ 131  │ … │ 191  │
├──────┼──────┼──────┼──────┼───┼──────┤
│ 192  │ 193  │ 194  │ 195  │ … │ 255  │
├──────┼──────┼──────┼──────┼───┼──────┤
│ 256  │ 257  │ 258  │ 259  │ … │ 319  │
├──────┼──────┼──────┼──────┼───┼──────┤
│ 320  │ 321  │ 322  │ 323  │ … │ 383  │
├──────┼──────┼──────┼──────┼───┼──────┤
│ 384  │ 385  │ 386  │ 387  │ … │ 447  │
├──────┼──────┼──────┼──────┼───┼──────┤
│ 448  │ 449  │ 450  │ 451  │ … │ 511  │
├──────┼──────┼──────┼──────┼───┼──────┤
│ 512  │ 513  │ 514  │ 515  │ … │ 575  │
├──────┼──────┼──────┼──────┼───┼──────┤
│ 576  │ 577  │ 578  │ 579  │ … │ 639  │
├──────┼──────┼──────┼──────┼───┼──────┤
│  …   │  …   │  …   │  …   │ … │  …   │
├──────┼──────┼──────┼──────┼───┼──────┤
│ 4032 │ 4033 │ 4034 │ 4035 │ … │ 4095 │
└──────┴──────┴──────┴──────┴───┴──────┘
I over X: 64 blocks of 16; J over Y: 64
  blocks of 16
the numbers are ranks
…: blocks left out here
)"));
}

TEST_CASE("every picture keeps to its width") {
  for (std::int64_t const rows : {1, 2, 17, 64})
    for (std::int64_t const cols : {1, 3, 12, 100})
      for (std::int64_t const extent : {-1, 0, 7, 1024})
        for (int const width : {32, 80})
          for (auto const& axes : {List<List<int>>{{X}, {Y}},
                                   {{}, {Y}},
                                   {{X}, {}},
                                   {{Y, X}, {}},
                                   {{}, {X, Y}},
                                   {{}, {}}}) {
            auto p = over_xy({extent, extent}, axes);
            p.mesh_sizes = {rows, cols};
            auto const text = detail::draw(p, {false, width});
            INFO(text);
            CHECK(longest_line(text) <= static_cast<std::size_t>(width));
            CHECK(std::count(text.begin(), text.end(), '\n') <= 48);
            CHECK(text.find('\x1b') == text.npos);
          }
}

TEST_CASE("colours change nothing but colours") {
  auto const p = over_xy({5, 5}, {{X}, {Y}});
  auto const text = detail::draw(p, {true, 80});
  CHECK(without_colors(text) == detail::draw(p));
  // a cell in the first row and its right neighbour; the empty block of rank 6 has none
  CHECK(text.find("\x1b[38;5;16;48;5;117m       rank 0       \x1b[0m│\x1b[38;5;16;48;5;222m") !=
        text.npos);
  CHECK(text.find("│      rank 6 ∅      │") != text.npos);
}

TEST_CASE("a file that is no terminal gets no colours") {
  std::FILE* const file = std::tmpfile();
  REQUIRE(file != nullptr);
  CHECK_FALSE(detail::use_color(file));
  std::fclose(file);
}

TEST_CASE("a block-cyclic dim is drawn block by block") {
  auto p = over_xy({11, 5}, {{X}, {Y}});
  p.mesh_sizes = {2, 2};
  p.cyclic = {4, 0};
  CHECK(detail::draw(p) ==
        "┌────────────────┬───────────┐\n"
        "│     rank 0     │  rank 1   │\n"
        "├────────────────┼───────────┤\n"
        "│     rank 2     │  rank 3   │\n"
        "├────────────────┼───────────┤\n"
        "│     rank 0     │  rank 1   │\n"
        "└────────────────┴───────────┘\n"
        "I over X in cyclic blocks of 4; J over Y: 2 blocks of 3, 2\n");
  // unknown extents: two rounds; many rounds: the middle ones are left out, and the last one
  // belongs to its rank
  p.extents = {-1, 5};
  auto const unknown = detail::draw(p);
  CHECK(std::count(unknown.begin(), unknown.end(), '\n') == 10);
  p.extents = {4 * 1'000'001, 5};
  auto const sizes = detail::block_sizes(p, 0);
  CHECK(sizes.size() < 1005);
  CHECK((sizes.size() - 1) % 2 == 1'000'000 % 2);
  p.extents = {0, 5};
  CHECK(detail::draw(p).find("∅") != std::string::npos);
}
