// A model whose tensors are to be assigned later.
// EXPECT: \[shardtype T14\] a tensor without a value: it has no mesh
// EXPECT: train::initialize<Model<value_t>>
// MAX-LINES: 10
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X"> {};
struct D : Index<"D", 8> {};
using W = Tensor<float, Dim<D, X>>;

template <template <class> class As>
struct Model {
  As<W> w;
  As<W> v;
};

auto made(Mesh<X> const& mesh) {
#ifdef LEGAL
  Model<value_t> m{zeros<W>(mesh), zeros<W>(mesh)};
#else
  Model<value_t> m;
#endif
  m.w = zeros<W>(mesh);
  return m;
}
