#pragma once
/// What a registry of operations holds.

#include <string_view>

namespace shardtype::op {

/// An operation by its names: of the object in namespace `op`, and of the function that users call. Each folder
/// with operations lists its own (ops/registry.hpp, manual/registry.hpp), so that it can be left out;
/// tests/structure/registry.cpp joins the lists and asks each operation for a rule, a plan, a run, a row in
/// the documents and a case in the random programs.
struct Registered {
  std::string_view object;
  std::string_view function;
};

}  // namespace shardtype::op
