#pragma once
/// The answer of a rule: a result, or a code with the labels and axes at fault.

#include <cstddef>

#include <shardtype/core/spec.hpp>

namespace shardtype::rules {

/// All compile-time refusals. T: types, C: contractions, N: named results, P: elementwise
/// (pointwise), S: reductions (sums), R: reshard, K: collectives, D: dims and shapes, B:
/// block-cyclic dims, I: indexing and sorting, M: meshes, A: access, G: random numbers, V: manual
/// mode (varying blocks), L: automatic mode (lazy expressions), X: gradients, F: Fourier
/// transforms, Q: linear algebra (equations). `docs/errors.md` has one entry for each.
enum class Code {
  ok,
  T01_axis_twice,
  T02_index_twice,
  T03_not_canonical,
  T04_unknown_part,
  T05_not_an_axis,
  T06_same_name,
  T07_too_many,
  T08_element_type,
  T09_not_a_tensor,
  T10_too_many_elements,
  T11_not_callable,
  T12_not_created,
  T13_two_rules,
  T14_no_value,
  T15_not_initialized,
  T16_optimizer_options,
  T17_another_name_in_training,
  T18_lacks_a_member,
  T19_no_memory_space,
  C01_nothing_shared,
  C02_one_side_only,
  C03_several_shared,
  C04_axis_splits_two,
  C05_different_indices,
  C06_order_differs,
  C07_not_linear,
  C08_extremum_operand,
  C09_batch_lists_differ,
  C10_element_types_differ,
  C11_not_numbers,
  N01_unknown_index,
  N02_missing_index,
  N03_wrong_kind,
  N04_nothing_unreduced,
  N05_element_type,
  N06_contracted_kept,
  N07_no_named_form,
  N08_no_such_call_of_nn,
  N09_another_name_in_nn,
  P01_no_operand_has_all,
  P02_lists_differ,
  P03_axis_splits_two,
  P04_not_linear,
  P05_unreduced_and_whole,
  P06_unreduced_and_split,
  P07_two_unreduced,
  P08_kinds_differ,
  P09_element_types_differ,
  P10_number_does_not_fit,
  P11_condition,
  P12_not_floating,
  P13_in_place,
  P14_not_integers,
  S01_no_such_index,
  S02_other_kind,
  S03_split,
  S04_no_order,
  S05_axis_named,
  S06_which_dims,
  R01_indices_differ,
  R02_replicated_to_unreduced,
  R03_split_to_unreduced,
  R04_kind_differs,
  K01_not_split,
  K02_not_minor_most,
  K03_not_unreduced,
  K04_no_such_index,
  K05_already_unreduced,
  K06_split,
  K07_no_axis,
  K08_major_axis,
  D01_no_such_index,
  D02_index_taken,
  D03_along_split,
  D04_roll_along_split,
  D05_extent_changes,
  D06_extents_contradict,
  D07_names_incomplete,
  D08_not_neighbours,
  D09_blocks_differ,
  D10_other_axes,
  D11_pad_unreduced,
  D12_dims_differ,
  D13_unreduced_differs,
  D14_scan_unreduced,
  D15_element_type,
  D16_dims_of_range,
  D17_which_dim,
  D18_rows_and_groups,
  D19_argument_of_moe,
  D21_heads,
  D22_one_hot_targets,
  D23_two_parts,
  D24_window_labels,
  D25_window_options,
  D27_window_too_long,
  I01_not_integers,
  I02_ids_unreduced,
  I03_shared_index,
  I04_looked_up_and_ids,
  I05_axis_on_two,
  I06_unreduced_and_split,
  I07_other_kind,
  I08_index_missing,
  I09_lists_differ,
  I10_sort_unreduced,
  I11_no_order,
  I12_table_of_one_dim,
  I13_unique_of_one_dim,
  B01_cyclic_beside_others,
  B02_block_size,
  B03_through_cyclic,
  B04_behind_cyclic,
  B05_no_range,
  B06_block_sizes_differ,
  M01_axis_not_in_mesh,
  A01_item_has_dims,
  A02_still_unreduced,
  A03_no_such_index,
  A04_under_way,
  A05_run_time_extent,
  A06_no_such_argument,
  A07_truth,
  A08_another_type,
  A09_expression,
  A10_summand_read,
  A11_no_number,
  A12_word,
  A13_argument_order,
  A14_no_member,
  A15_another_header,
  A16_another_name,
  A18_no_such_call_of_checkpoint,
  A19_another_name_of_numbers,
  A20_no_picture,
  G01_no_such_distribution,
  F01_element_type,
  F02_along_split,
  F03_extremum,
  F04_no_other_dim,
  F05_transposed_order,
  Q01_matrix_split,
  Q02_not_linear,
  Q03_both_cyclic,
  Q04_rows_cyclic,
  Q05_one_matrix,
  Q06_shapes,
  Q07_not_tall,
  Q08_not_scalapack,
  Q09_wide_matrix,
  Q12_no_such_call_of_linalg,
  Q13_another_name_in_linalg,
  Q14_device_memory,
  V01_mixed,
  V02_wrong_mode,
  V03_not_varying,
  V04_already,
  V05_not_invariant,
  V06_unreduced,
  V07_output_varies,
  V08_output_unreduced,
  V09_output_dims,
  V10_uneven,
  V11_carry_changes,
  V12_branches_differ,
  V13_condition_varies,
  V14_named_result,
  V15_no_local,
  V16_kind,
  V17_not_manual,
  V18_strict_inside,
  V19_stage_changes,
  L01_not_recorded,
  L02_cyclic,
  L03_too_large,
  L04_memory_limit,
  L05_not_evaluated,
  L06_not_a_policy,
  L07_other_indices,
  L08_no_sharding,
  L09_results_named,
  L10_active,
  X01_gradient_unreduced,
  X02_gradient_in_blocks,
  X03_not_differentiable,
  X04_loss,
  X05_captured,
  X06_other_cotangent,
  X07_custom_vjp,
  X08_not_double,
  X09_read,
  X10_no_parameters,
  X11_assigned,
  X12_no_function,
  X13_no_such_update,
  X14_gradient_of_other_form
};

/// The answer of a rule: the result's Spec, or the reason why there is none.
struct Verdict {
  Code code = Code::ok;
  Spec result{};
  int label = -1;  ///< the index at fault, if any
  int other = -1;  ///< a second index at fault, if any
  int axis = -1;   ///< the mesh axis at fault, if any

  constexpr explicit operator bool() const { return code == Code::ok; }
};

/// The verdicts on the results of an operation that has several: all accept, or all refuse.
template <std::size_t N>
struct Verdicts {
  Verdict at[N];

  /// The first that refuses, or else the first.
  constexpr Verdict const& one() const {
    for (Verdict const& v : at)
      if (!v) return v;
    return at[0];
  }
};
template <class... Vs>
Verdicts(Vs...) -> Verdicts<sizeof...(Vs)>;

constexpr Verdict accept(Spec const& result) { return {Code::ok, result}; }
constexpr Verdict refuse(Code code, int label = -1, int other = -1, int axis = -1) {
  return {code, {}, label, other, axis};
}
/// Accepts `result` if `v` accepts.
constexpr Verdict accept_if(Verdict const& v, Spec const& result) { return v ? accept(result) : v; }
/// Refuses the first of these axes, if there is any.
constexpr Verdict refuse_any(Code code, AxisSet axes, int label = -1) {
  return axes.empty() ? Verdict{} : refuse(code, label, -1, axes.first());
}

}  // namespace shardtype::rules
