// All ranks run the same test cases in the same order, and each reports its own failures.
#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>
#include <catch2/catch_test_macros.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

#include "columns.hpp"

using namespace shardtype;

TEST_CASE("columns without their means") {
  Mesh<X> mesh(MPI_COMM_WORLD);
  Table a = full<double, Dim<I, X>, Dim<J>>(mesh, {9, 4}, 1.0) * arange<double, Dim<I, X>>(mesh, 9);
  CHECK(allclose(column_means(a), full<double, Dim<J>>(mesh, {4}, 4.0)));
  CHECK(allclose(column_means(centered(a)), zeros<double, Dim<J>>(mesh, {4})));
}

int main(int argc, char** argv) {
  Environment env(argc, argv);
  return Catch::Session().run(argc, argv);
}
