// Threads beside that of the Environment: threads WORD. `reads`: they read blocks of tensors and
// let go of them while the first thread computes. `computes`: each computes, which is an Error,
// E08, that it catches. `dies`: nobody catches it.
// SOURCES: tests/harness/yield.cpp
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <shardtype/shardtype.hpp>

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;

A make(Mesh<X> const& mesh, float value) {
  return full<float, Dim<I, X>, Dim<J>>(mesh, {64, 33}, value);
}

// Four threads read tensors of their own and let go of them, one by one, while this one computes.
bool read(Mesh<X> const& mesh) {
  std::int64_t const before = runtime::run_time.memory.now();
  std::atomic<int> wrong{0};
  for (int round = 0; round < 20; ++round) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      std::vector<A> mine;
      for (int k = 0; k < 300; ++k) mine.push_back(make(mesh, static_cast<float>(k)));
      threads.emplace_back([&wrong, mine = std::move(mine)]() mutable {
        while (!mine.empty()) {
          auto const block = mine.back().local();
          float const value = static_cast<float>(mine.size() - 1);
          for (std::int64_t k = 0; k < mine.back().local_size(); ++k)
            if (block.data()[k] != value) ++wrong;
          mine.pop_back();
        }
      });
    }
    for (int k = 0; k < 300; ++k) {
      A const a = make(mesh, 1.0F);
      if (a.local_size() > 0 && a.local().data()[0] != 1.0F) ++wrong;
    }
    for (std::thread& t : threads) t.join();
  }
  A const last = make(mesh, 1.0F);  // what the threads released is collected
  std::int64_t const own = static_cast<std::int64_t>(sizeof(float)) * last.local_size();
  return wrong == 0 && runtime::run_time.memory.now() == before + own;
}

// How many of four threads get the Error, each in another operation, while this one computes.
int computed(Mesh<X> const& mesh) {
  A const a = make(mesh, 1.0F);
  std::atomic<int> caught{0};
  auto const expect = [&](auto run) {
    return std::thread([&caught, run] {
      for (int k = 0; k < 50; ++k) try {
          run();
        } catch (Error const& e) {
          if (e.code() == "E08" && std::string(e.what()).find("(threads.cpp:") != std::string::npos)
            ++caught;
        }
    });
  };
  std::vector<std::thread> threads;
  threads.push_back(expect([&] { static_cast<void>(sum<I>(a)); }));
  threads.push_back(expect([&] { static_cast<void>(transpose<J, I>(a)); }));
  threads.push_back(expect([&] { A const b = a + a; }));
  threads.push_back(expect([&] { static_cast<void>(evaluate<Dim<I>, Dim<J>>(mesh, lazy(a))); }));
  for (int k = 0; k < 50; ++k) static_cast<void>(item(all_reduce<X>(sum<>(a))));
  for (std::thread& t : threads) t.join();
  return caught;
}

}  // namespace

int main(int argc, char** argv) {
  Environment env(argc, argv);
  Mesh<X> const mesh(env.world(), {env.size()});
  std::string const word = argc > 1 ? argv[1] : "";
  if (word == "dies") {
    A const a = make(mesh, 1.0F);
    std::thread([&] { static_cast<void>(sum<I>(a)); }).join();
  }
  bool const good = word == "reads" ? read(mesh) : computed(mesh) == 200;
  if (!good) std::printf("rank %d: wrong\n", env.rank());
  if (env.rank() == 0) std::puts("came to its end");
}
