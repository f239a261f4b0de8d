// User-defined names beside `using namespace shardtype`: names of the library's internals do not
// conflict.
#include <array>
#include <cstdint>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"

using namespace shardtype;

struct Rows : Index<"R"> {};
struct Range : Index<"Range"> {};
struct Own : Index<"Own"> {};
struct Step : Index<"Step"> {};
struct Box : Index<"Box"> {};
struct Window : Index<"Window"> {};
struct Slot : Index<"Slot"> {};
struct Labels : Index<"Labels"> {};
struct Names : Index<"Names"> {};
struct Segments : Index<"Segments"> {};
struct Stream : Index<"Stream"> {};
struct Message : Index<"Message"> {};
struct Pool : Axis<"Pool"> {};
struct Link : Axis<"Link"> {};
struct Edge {
  int from, to;
};
struct Buffer {
  std::array<char, 8> bytes;
};
struct Key {
  int value;
};
struct Size {
  int value;
};
struct Args {
  int count;
};
struct Cost {
  double seconds;
};
struct Scope {};
struct Parcel {};
struct Held {};
struct Counts {};
struct Exchange {};
struct Verdict {};
struct Move {};
enum class Order { first, last };
enum class Action { stay, go };
enum class Code { ok };
inline constexpr int zero = 0;
inline constexpr int part = 1;
inline constexpr int record = 2;
inline constexpr int block = 3;

namespace {

struct Taken {
  Held held;
  Counts counts;
  Exchange exchange;
  Verdict verdict;
  Move move;
  Scope scope;
  Parcel parcel;
  Buffer buffer;
  Args args;
  Cost cost;
};

}  // namespace

TEST_CASE("names that the engine uses, too, are the user's") {
  Mesh<Pool, Link> const mesh(MPI_COMM_WORLD, {1, 1});
  auto const a = zeros<double, Dim<Rows, Pool>, Dim<Range, Link>>(mesh, {3, 2});
  auto const b = zeros<double, Dim<Range, Link>, Dim<Step>>(mesh, {2, 4});
  auto const c = reshard<Dim<Rows>, Dim<Step>>(matmul(a, b));
  CHECK(to_host(c).size() == 12);
  auto const d =
      relabel<Own, Window>(split_dim<Rows, Own, Box>(reshard<Dim<Rows>, Dim<Range>>(a), {3, 1}));
  CHECK(d.extents()[0] == 3);
  auto const e = zeros<double, Dim<Slot>, Dim<Labels>, Dim<Names, Pool>>(mesh, {1, 2, 3});
  auto const f = zeros<double, Dim<Segments>, Dim<Stream>, Dim<Message>>(mesh, {1, 2, 3});
  CHECK(item(all_reduce<Pool>(sum<Slot, Labels, Names>(e))) +
            item(sum<Segments, Stream, Message>(f)) ==
        0);
  Edge const edge{zero, part};
  Taken const taken{};
  CHECK(edge.from + edge.to + record + block + Key{1}.value + Size{2}.value + taken.args.count ==
        9);
  CHECK((Order::first != Order::last && Action::stay != Action::go && Code::ok == Code{}));
}
