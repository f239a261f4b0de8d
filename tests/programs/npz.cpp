// Reads the file that check_npz.py has written by numpy.savez, writes one for it, and says what is
// wrong with others: npz IN OUT BAD...
// SOURCES: tests/harness/yield.cpp
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include <shardtype/checkpoint/npz.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;

struct X : Axis<"X"> {};
struct In : Index<"In", 7> {};
struct Out : Index<"Out", 5> {};
struct K : Index<"K", 3> {};

namespace {

template <template <class> class As>
struct Model {
  As<Tensor<float, Dim<In>, Dim<Out, X>>> weight;  // [out, in] in the file
  As<Tensor<double, Dim<K, X>, Dim<In>, Dim<Out>>> kernel;
  As<Tensor<std::int32_t, Dim<In, Cyclic<X, 2>>>> places;
  As<Tensor<std::int64_t>> count;
  As<Tensor<bool, Dim<Out, X>>> mask;
  As<Tensor<Kokkos::complex<float>, Dim<K, X>>> waves;
};

checkpoint::NameInFile name(std::string_view path) {
  return {"model/" + std::string(path), path == "weight"};
}

}  // namespace

int main(int argc, char** argv) {
  Environment env(argc, argv);
  if (argc < 3) return 2;
  Mesh<X> const mesh(env.world(), {env.size()});
  using M = Model<value_t>;
  M model{zeros<decltype(M::weight)>(mesh), zeros<decltype(M::kernel)>(mesh),
          zeros<decltype(M::places)>(mesh), zeros<decltype(M::count)>(mesh),
          zeros<decltype(M::mask)>(mesh),   zeros<decltype(M::waves)>(mesh)};
  checkpoint::FileOptions const options{.names = &name};
  checkpoint::load_npz(argv[1], model, options);
  checkpoint::save_npz(argv[2], model, options);
  for (int k = 3; k < argc; ++k) {
    try {
      checkpoint::load_npz(argv[k], model, options);
      std::printf("%s was read\n", argv[k]);
    } catch (Error const& e) {
      if (env.rank() == env.size() - 1) std::printf("refused %s\n", e.what());
    }
  }
  try {
    checkpoint::save_npz(argv[2], std::tuple(zeros<bfloat16, Dim<In, X>>(mesh)));
    std::puts("bfloat16 was saved");
  } catch (Error const& e) {
    if (env.rank() == env.size() - 1) std::printf("refused %s\n", e.what());
  }
}
