// Gradients of automatic mode beside those of strict mode, for the operations of the registry on
// drawn layouts.
// RANKS: 2 4 8
// SOURCES: tests/shim/pmpi.cpp
// TIMEOUT: 600
#include "harness/registry_gradients.hpp"

#include "harness/cases.hpp"
#include "harness/cases/samples.hpp"

using registry_gradients::check_all;
using Names = std::vector<std::string_view>;

namespace {

registry_costs::Grid grid() { return {MPI_COMM_WORLD, on_ranks::grids().front()}; }

}  // namespace

// What is left out has several results, or no gradient in strict mode either.
TEST_CASE("gradients of operations along dims") {
  CHECK(check_all<samples::along_samples>(grid(), 10) == Names{});
}
TEST_CASE("gradients of further operations") {
  CHECK(check_all<samples::other_samples>(grid(), 10) ==
        Names{"CountedMax", "CountedMin", "CountedProd", "Quantile", "TopK", "Unique"});
}
TEST_CASE("gradients of operations of nn and linalg") {
  CHECK(check_all<samples::nn_samples>(grid(), 10) == Names{});
  CHECK(check_all<samples::linalg_samples>(grid(), 10) == Names{"Eigh", "LeastNormSolution",
                                                                "LeastSquares", "LuRcond", "Qr",
                                                                "Rcond", "Solve", "Svd"});
}
