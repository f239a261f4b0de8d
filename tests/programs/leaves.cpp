// A call of each family of operations. leaves FAMILY CALLS: rank 1 ends after so many calls, the
// others call once more: E06, by messages and where ranks wait in a window that they share. another
// FAMILY: rank 1 calls another operation instead. `threads`: each call in a second thread is E08.
// SOURCES: tests/harness/yield.cpp
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <shardtype/fft/fft.hpp>
#include <shardtype/linalg/linalg.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y", 2> {};
struct Z : Axis<"Z"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};

struct World {
  Environment& env;
  Mesh<X> mesh;
  Mesh<Y, Z> grid;
};
using Call = std::function<void()>;

auto cyclic(World const& w) {
  return from_function<double, Dim<I>, Dim<J, Cyclic<X, 2>>>(
      w.mesh, {12, 12}, [](auto i, auto j) { return i == j ? 9.0 : 1.0; });
}
auto column(World const& w) { return full<double, Dim<I>>(w.mesh, {12}, 1.0); }
auto rows(World const& w) { return full<double, Dim<I, X>>(w.mesh, {48}, 1.0); }

std::map<std::string, std::function<Call(World&)>> const families = {
    {"solve",
     [](World& w) -> Call {
       return [a = cyclic(w), b = column(w)] { static_cast<void>(linalg::solve<I, J>(a, b)); };
     }},
    {"refined",
     [](World& w) -> Call {
       return [a = cyclic(w), b = column(w)] {
         static_cast<void>(linalg::solve<I, J>(a, b, linalg::refined));
       };
     }},
    {"cholesky",
     [](World& w) -> Call {
       return [a = cyclic(w)] { static_cast<void>(linalg::cholesky<I, J>(a)); };
     }},
    {"qr",
     [](World& w) -> Call {
       return [a = cyclic(w)] { static_cast<void>(linalg::qr<I, J, K>(a)); };
     }},
    {"fft",
     [](World& w) -> Call {
       auto const a = full<Kokkos::complex<double>, Dim<I, X>, Dim<J>>(w.mesh, {16, 16}, 1.0);
       return [a] { static_cast<void>(fft<J, Dim<I>, Dim<J, X>>(a)); };
     }},
    // a window of one mesh, and the others wait in another one
    {"solve_elsewhere",
     [](World& w) -> Call {
       static_cast<void>(linalg::solve<I, J>(cyclic(w), column(w)));
       auto const a = full<double, Dim<I, Y>>(w.grid, {48}, 1.0);
       return [a] { static_cast<void>(all_gather<Y>(a)); };
     }},
    // the root sends, and waits for nobody
    {"item",
     [](World& w) -> Call {
       return [a = full<double>(w.mesh, {}, 1.0)] { static_cast<void>(item(a)); };
     }},
    {"started",
     [](World& w) -> Call {
       auto const a = full<double, Dim<I>, Unreduced<X>>(w.mesh, {100000}, 1.0);
       return [a] { static_cast<void>(start(op::AllReduce<X>{}, a).wait()); };
     }},
    {"transfer",
     [](World& w) -> Call {
       return [a = rows(w), &w] { static_cast<void>(transfer<Dim<I>>(a, w.grid)); };
     }},
    {"mesh", [](World& w) -> Call { return [&w] { Mesh<X> const made(w.env.world()); }; }},
    {"mesh_of_ranks",
     [](World& w) -> Call { return [&w] { Mesh<X> const made(w.env.world(), {1}, {0}); }; }},
};

// Whether each of these calls, and those of the table, is E08 in a second thread.
bool refused_in_threads(World& w) {
  bool good = true;
  auto const expect = [&](std::string const& name, Call const& call) {
    std::string text = "no error";
    std::thread([&] {
      try {
        call();
      } catch (Error const& e) {
        text = e.what();
      }
    }).join();
    if (text.find("[shardtype E08] an operation in a second thread") == 0) return;
    good = false;
    std::printf("%s: %s\n", name.c_str(), text.c_str());
  };
  for (auto const& [name, make] : families) expect(name, make(w));
  auto const a = rows(w);
  auto pending = start(op::AllGather<X>{}, a);
  expect("wait", [&] { static_cast<void>(std::move(pending).wait()); });
  expect("test", [&] { static_cast<void>(pending.test()); });
  static_cast<void>(std::move(pending).wait());
  expect("to_host", [&] { static_cast<void>(to_host(a)); });
  expect("print", [&] { print(a); });
  expect("allclose", [&] { static_cast<void>(allclose(a, a)); });
  expect("save_npy", [&] { save_npy(a, "never.npy"); });
  expect("read_machine", [&] { static_cast<void>(read_machine(w.env.world(), "never")); });
  expect("barrier", [&] { w.mesh.state().whole().barrier(); });
  // what each thread may ask and let go of: the mesh's end is left to the first thread
  std::thread([&, made = std::optional(Mesh<X>(w.env.world()))]() mutable {
    good = good && w.env.rank() >= 0 && w.env.size() > w.env.rank();
    made.reset();
  }).join();
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  Environment env(argc, argv);
  World w{env, Mesh<X>(env.world()), Mesh<Y, Z>(env.world())};
  std::string const what = argc > 1 ? argv[1] : "";
  bool good = true;
  if (what == "threads") {
    good = refused_in_threads(w);
  } else {
    Call const call = families.at(argc > 2 ? argv[2] : "")(w);
    int const calls = argc > 3 ? std::atoi(argv[3]) : 2;
    for (int k = 0; k <= calls; ++k) {
      bool const last = k == calls && env.rank() == 1;
      if (last && what == "leaves") return 0;
      if (last) {
        static_cast<void>(all_gather<X>(rows(w)));
      } else {
        call();
      }
    }
  }
  if (!good || env.rank() == 0) std::puts(good ? "came to its end" : "wrong");
}
