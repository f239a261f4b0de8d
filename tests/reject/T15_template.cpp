// The template of a model in the place of the model.
// EXPECT: \[shardtype T15\] initialize<Model<value_t>>\(mesh, RandomKey{1}, init\) makes a model
// FORBID: Resolve<|basic_type|Pack<|NotTaken
// FORBID: error:.*error:
// NEEDS: full
#include <string_view>

#include <shardtype/shardtype.hpp>
#include <shardtype/train/train.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct D : Index<"D", 8> {};
struct V : Index<"V", 4> {};
template <template <class> class As>
struct Model {
  As<Tensor<float, Dim<D>, Dim<V>>> w;
  As<Tensor<float, Dim<V>>> b;
};
auto const init = [](std::string_view, auto) { return train::Initial::zeros(); };

#ifdef LEGAL
auto make(Mesh<X> const& mesh) {
  return train::initialize<Model<value_t>>(mesh, RandomKey{1}, init);
}
#else
auto make(Mesh<X> const& mesh) { return train::initialize<Model>(mesh, RandomKey{1}, init); }
#endif
