// Loads files that check_mutants.py has written, good and hostile ones, one after the other, and
// says of each whether it was read, its values, and the memory that this took: mutants LIST, a file
// of paths. mutants --save FOLDER writes good files for it.
// SOURCES: tests/harness/yield.cpp
// NEEDS: JSON
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>
#include <string_view>

#include <shardtype/checkpoint/checkpoint.hpp>
#include <shardtype/checkpoint/npz.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;

struct X : Axis<"X"> {};
struct I : Index<"I", 13> {};
struct J : Index<"J", 5> {};

namespace {

template <template <class> class As>
struct Model {
  As<Tensor<float, Dim<I, X>, Dim<J>>> w;
  As<Tensor<float, Dim<I>, Dim<J, X>>> v;
  As<Tensor<double, Dim<J>>> b;
  As<Tensor<std::int64_t, Dim<I, X>>> c;
};
using M = Model<value_t>;

// FNV-1a of the bytes of tensors.
struct Hash {
  std::uint64_t value = 14695981039346656037U;
  template <class A>
  void add(A const& a) {
    auto const host = to_host(a);
    auto const* const bytes = reinterpret_cast<unsigned char const*>(host.data());
    for (std::size_t k = 0; k < host.size() * sizeof(host.data()[0]); ++k)
      value = (value ^ bytes[k]) * 1099511628211U;
  }
};

// The most memory that this rank had since `forget`, in bytes; where that cannot be forgotten,
// since it began.
std::int64_t most_memory() {
#ifdef __SANITIZE_ADDRESS__
  return 0;  // it has memory of its own for each piece of memory
#endif
  std::ifstream in("/proc/self/status");
  for (std::string word; in >> word;)
    if (word == "VmHWM:") {
      std::int64_t kilobytes = 0;
      in >> kilobytes;
      return kilobytes * 1024;
    }
  return 0;
}
void forget() { std::ofstream("/proc/self/clear_refs") << "5"; }

// Whether this rank's text is that of rank 0.
bool same_everywhere(std::string const& mine) {
  std::string first = mine;
  detail::share_text(MPI_COMM_WORLD, first, 0);
  return detail::reduce_number(MPI_COMM_WORLD, first == mine ? 1 : 0, MPI_MIN) == 1;
}

}  // namespace

int main(int argc, char** argv) {
  Environment env(argc, argv);
  if (argc < 2) return 2;
  Mesh<X> const mesh(env.world(), {env.size()});
  auto const fresh = [&] {
    return M{zeros<decltype(M::w)>(mesh), zeros<decltype(M::v)>(mesh), zeros<decltype(M::b)>(mesh),
             zeros<decltype(M::c)>(mesh)};
  };
  if (argc > 2 && std::string_view(argv[1]) == "--save") {
    std::string const folder = argv[2];
    M model{
        from_function<decltype(M::w)>(
            mesh, [](std::int64_t i, std::int64_t j) { return static_cast<float>(10 * i + j); }),
        from_function<decltype(M::v)>(
            mesh, [](std::int64_t i, std::int64_t j) { return static_cast<float>(i - 7 * j); }),
        from_function<decltype(M::b)>(mesh, [](std::int64_t j) { return 0.5 * double(j); }),
        from_function<decltype(M::c)>(mesh, [](std::int64_t i) { return i * i; })};
    checkpoint::save_npz(folder + "/ours.npz", model);
    checkpoint::save_safetensors(folder + "/ours.safetensors", model, {.metadata = {{"a", "b"}}});
    checkpoint::save(folder + "/run", 7, model, {{"epoch", 3}, {"rate", 0.125}, {"text", "a\"b"}});
    save_npy(model.w, folder + "/ours.npy");
    return 0;
  }
  std::ifstream list(argv[1]);
  M model = fresh();
  for (std::string path; std::getline(list, path);) {
    model = fresh();
    std::string said;
    forget();
    std::int64_t const before = most_memory();
    std::int64_t growth = 0;
    Hash hash;
    try {
      if (path.ends_with(".npy")) {
        auto const w = load_npy<float, Dim<I, X>, Dim<J>>(mesh, path);
        growth = most_memory() - before;
        hash.add(w);
      } else {
        if (path.ends_with(".npz")) {
          checkpoint::load_npz(path, model);
        } else if (path.ends_with(".safetensors")) {
          checkpoint::load_safetensors(path, model);
        } else if (path.ends_with(".latest")) {
          path.resize(path.size() - 7);
          checkpoint::latest(mesh, path);
        } else {
          checkpoint::load(path, model);
        }
        growth = most_memory() - before;
        hash.add(model.w);
        hash.add(model.v);
        hash.add(model.b);
        hash.add(model.c);
      }
      said = "read\t" + std::to_string(hash.value);
    } catch (Error const& e) {
      growth = most_memory() - before;
      said = e.code() + "\t" + e.what();
      if (e.where() != FailedOn::every_rank) said = "one rank\t" + said;
    } catch (std::exception const& e) {
      said = std::string("exception\t") + e.what();
    }
    if (!same_everywhere(said)) said = "ranks differ\t" + said;
    growth = detail::reduce_number(MPI_COMM_WORLD, growth, MPI_MAX);
    if (env.rank() == 0)
      std::printf("%s\t%lld\t%s\n", path.c_str(), static_cast<long long>(growth), said.c_str());
  }
  if (env.rank() == 0) std::puts("end");
}
