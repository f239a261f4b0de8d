// The meaning of instructions: values of whole tensors from their definition, without shardings,
// plans or ranks.
#pragma once

#include <cstdint>

#include "harness/cases.hpp"
#include "harness/program_values.hpp"

namespace programs {

/// The elements of whole tensors, each on a single rank.
struct WholeOperands final : Values {
  WholeOperands(Distributed const& a, Distributed const& b, Distributed const& c,
                Extents const& its_extents)
      : operands{&a, &b, &c}, extents(its_extents) {}
  Int of(int operand, Extents const& at) const override {
    Distributed const& v = *operands[operand];
    return *v.held[0][static_cast<std::size_t>(simulate::place(v.spec, extents, at))];
  }
  Distributed const* operands[3];
  Extents const& extents;
};

/// The result of an instruction, as a tensor on a single rank.
inline Distributed meaning(Instruction const& in, Distributed const& a, Distributed const& b,
                           Distributed const& c, planning::Sizing const& z) {
  WholeOperands const operands(a, b, c, z.extents);
  CaseOf const& its = case_of(in.op);
  Distributed out{in.result, {{}}};
  for (Int k = 0; k < simulate::volume(in.result, z.extents); ++k)
    out.held[0].push_back(its.finished(
        in, z, its.element({in, z, operands, simulate::indices(in.result, z.extents, k)})));
  return out;
}

}  // namespace programs
