// Reads the file that check_safetensors.py has written, with its names and orientation, and writes
// files for it: safetensors IN OUT RUN.
// SOURCES: tests/harness/yield.cpp
// NEEDS: JSON
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include <shardtype/checkpoint/checkpoint.hpp>
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
  As<Tensor<float, Dim<Out>>> bias;
  As<Tensor<double, Dim<K, X>, Dim<In>, Dim<Out>>> kernel;
  As<Tensor<bfloat16, Dim<In, X>>> small;
  As<Tensor<std::int32_t, Dim<In>>> places;
  As<Tensor<std::int64_t>> count;
  As<Tensor<bool, Dim<Out, X>>> mask;
  As<Tensor<Kokkos::complex<float>, Dim<K, X>>> waves;
};

// docs: names
checkpoint::NameInFile torch_name(std::string_view path) {
  if (path == "weight") return {"model.fc.weight", true};
  return {"model." + std::string(path)};
}
// docs: end

}  // namespace

int main(int argc, char** argv) {
  Environment env(argc, argv);
  if (argc < 4) return 2;
  Mesh<X> const mesh(env.world(), {env.size()});
  using M = Model<value_t>;
  M model{zeros<decltype(M::weight)>(mesh), zeros<decltype(M::bias)>(mesh),
          zeros<decltype(M::kernel)>(mesh), zeros<decltype(M::small)>(mesh),
          zeros<decltype(M::places)>(mesh), zeros<decltype(M::count)>(mesh),
          zeros<decltype(M::mask)>(mesh),   zeros<decltype(M::waves)>(mesh)};
  // docs: read
  checkpoint::FileOptions options{.names = &torch_name, .metadata = {{"format", "pt"}}};
  auto const texts = checkpoint::load_safetensors(argv[1], model, options);
  // docs: end
  if (env.rank() == 0) std::printf("read %s\n", texts.at("made").c_str());
  checkpoint::save_safetensors(argv[2], model, options);
  checkpoint::save(argv[3], 1, model);
}
