#pragma once
/// Refusals of meshes, access and random numbers.

#include <shardtype/check/refused.hpp>

namespace shardtype::checking {

template <bool legal, class... YourTypes>
struct refused<Code::M01_axis_not_in_mesh, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype M01] the tensor type names a mesh axis that this Mesh does not have. "
                "Add the axis to the Mesh, or drop it from the type.");
};
template <bool legal, class... YourTypes>
struct refused<Code::A01_item_has_dims, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype A01] item takes the one value of a tensor without dims; this one has "
                "dims. Sum over them first, as einsum<>(a, b) does, or take the whole array with "
                "to_host(a) (an all_gather).");
};
template <bool legal, class... YourTypes>
struct refused<Code::A02_still_unreduced, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype A02] this takes values, but the tensor is still unreduced: its ranks "
                "hold summands, or candidates of a maximum or minimum. all_reduce<X>(a) it first, "
                "or, if it has a dim, reduce_scatter it (half the bytes).");
};
template <bool legal, class... YourTypes>
struct refused<Code::A03_no_such_index, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype A03] the tensor has no dim with this index. Check the indices of the "
                "tensor.");
};
template <bool legal, class... YourTypes>
struct refused<Code::A04_under_way, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype A04] this is a Pending result, not yet a tensor. Take the result "
                "first, which empties the Pending: auto a = std::move(pending).wait(); it "
                "sends nothing more.");
};
template <bool legal, class... YourTypes>
struct refused<Code::A05_run_time_extent, legal, YourTypes...> : Poisoned {
  static_assert(
      legal,
      "[shardtype A05] the plan of this function depends on an extent or a value that is known at "
      "run time only. Give the index a static extent, as in struct I : Index<\"I\", 1500> {}, or "
      "keep what depends on it out of the function.");
};
template <bool legal, class... YourTypes>
struct refused<Code::A06_no_such_argument, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype A06] unexpected last argument. Indices, mesh axes and the dims of "
                "a result are template arguments: sum<J>(a), all_gather<X>(a), einsum<I, "
                "K>(a, b), matmul<Dim<I, X>, Dim<K>>(a, b). Drop the argument, or write it "
                "there.");
};
template <bool legal, class... YourTypes>
struct refused<Code::A07_truth, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype A07] a tensor is neither true nor false, it has one bool per element. "
                "item(p) reads one without dims; item(any<Tensor<bool>>(p)) or "
                "item(all<Tensor<bool>>(p)) is one for all ranks "
                "(an all_reduce); where(p, a, b) chooses by element (free).");
};
template <bool legal, class... YourTypes>
struct refused<Code::A08_another_type, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype A08] the variable has other dims, another sharding or another "
                "element type than the value that is assigned or returned; all three are part "
                "of its type. Give the value a variable of its own, auto b = ... (free), or "
                "bring it to this type: a = reshard<Dim<...>...>(b) (its plan says the cost), "
                "cast<T>(b) (free).");
};
template <bool legal, class... YourTypes>
struct refused<Code::A09_expression, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype A09] this variable is an expression (auto w = a * 2), whose type says "
                "how it is computed, so no other value fits. Declare it as the tensor: auto w = "
                "(a * 2).tensor(), or with its type, Tensor<...> w = a * 2; both are free.");
};
template <bool legal, class... YourTypes>
struct refused<Code::A10_summand_read, legal, YourTypes...> : Poisoned {
  static_assert(
      legal,
      "[shardtype A10] local() reads values, but the tensor is unreduced: its ranks hold "
      "summands, or candidates of a maximum or minimum. Read a = "
      "all_reduce<X>(u), an all_reduce; u.unreduced_local() is this rank's summand, free.");
};
template <bool legal, class... YourTypes>
struct refused<Code::A11_no_number, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype A11] a tensor is no C++ number. item(a) reads one without dims; the "
                "total of all elements is item(sum<Tensor<float>>(a)) (an all_reduce), which all "
                "ranks call.");
};
template <bool legal, class... YourTypes>
struct refused<Code::A12_word, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype A12] an option is an enumerator and no word: sort<J>(a, "
                "op::Order::descending), shift<I>(a, 1, op::Edge::wrap), cumsum<I>(a, "
                "op::Cumulate::exclusive), fft<I>(a, op::FftNorm::ortho).");
};
template <bool legal, class... YourTypes>
struct refused<Code::A13_argument_order, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype A13] the tensor comes first, then the file: save_npy(a, \"a.npy\").");
};
template <bool legal, class... YourTypes>
struct refused<Code::A14_no_member, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype A14] functions of tensors are no members, and dims have names: "
                "sum<I>(a), mean<J>(a), at<I>(a, 3), slice<I, K>(a, 0, 4), transpose<J, I>(a), "
                "split_dim, merge_dims, cast<double>(a). A loop over elements reads the "
                "rank's block: a.local(), a.local_extent<I>().");
};
template <bool legal, class... YourTypes>
struct refused<Code::A15_another_header, legal, YourTypes...> : Poisoned {
  static_assert(
      legal,
      "[shardtype A15] this function is in a header beside shardtype.hpp, the one above: "
      "#include <shardtype/random/random.hpp> has normal, uniform and RandomKey, "
      "<shardtype/fft/fft.hpp> the Fourier transforms, <shardtype/fft/frequencies.hpp> fftfreq "
      "and fftshift, <shardtype/fft/four_step.hpp> fft_four_step, "
      "<shardtype/visualize/program_page.hpp> to_html and write_html, timeline.hpp beside it "
      "to_svg "
      "and write_svg, png.hpp save_png, choices.hpp there explain_choices, "
      "<shardtype/freeze/to_source.hpp> "
      "to_source.");
};
template <bool legal, class... YourTypes>
struct refused<Code::A16_another_name, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype A16] this function has another name here: psum<X>(a) is "
                "all_reduce<X>(a); for jvp, forward mode, there is grad or vjp. docs/from_jax.md "
                "has the others.");
};
template <bool legal, class... YourTypes>
struct refused<Code::G01_no_such_distribution, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype G01] this distribution has no tensors of this type. uniform, "
                "exponential, gumbel, gamma and truncated_normal need float, double or bfloat16, "
                "normal those or complex, "
                "integers int32 or int64, bernoulli any type but complex, permutation "
                "and choice int32 or int64 and one dim.");
};
template <bool legal, class... YourTypes>
struct refused<Code::A20_no_picture, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype A20] a picture shows real numbers along two dims, or along three, the "
                "last of them channels; this tensor has other dims or complex numbers. Choose an "
                "index of a dim with at<I>(a, i) or sum over it; of complex numbers take abs(a).");
};

}  // namespace shardtype::checking
