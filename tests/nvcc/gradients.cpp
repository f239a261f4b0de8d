// Operations of four operands, as the gradient of cross_entropy has one, and of five: nvcc did not
// find their own function of element types and refused them with C10. Nothing runs.
#include <shardtype/nn/nn.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;

struct X : Axis<"X", 2> {};
struct B : Index<"B", 8> {};
struct V : Index<"V", 16> {};

auto gradient(Tensor<double, Dim<B, X>, Dim<V>> const& logits,
              Tensor<std::int64_t, Dim<B, X>> const& targets) {
  return grad([&](auto const& x) { return nn::mean_cross_entropy<V, Tensor<double>>(x, targets); })(
      logits);
}

// Five operands, as many as no operation of the library has without a pack.
struct Five {
  template <class, class, class, class, class>
  static constexpr checking::Code elements() {
    return checking::Code::ok;
  }
};
static_assert(detail::refused_elements<Five, float, float, float, float, int>() ==
              checking::Code::ok);
