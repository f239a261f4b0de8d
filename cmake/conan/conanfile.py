"""shardtype as a package of Conan 2, with the MPI, Kokkos, Boost and BLAS of the system: conan create cmake/conan"""
import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load
from conan.tools.system.package_manager import Apt

required_conan_version = ">=2.0"


def root_of(recipe):
    """The sources, when the recipe is exported."""
    return os.path.dirname(os.path.dirname(recipe.recipe_folder))


class Shardtype(ConanFile):
    name = "shardtype"
    description = "A distributed tensor whose sharding is in its type"
    license = "Apache-2.0"
    package_type = "static-library"
    settings = "os", "arch", "compiler", "build_type"
    # compiled: with shardtype::compiled, the engine compiled once
    options = {"compiled": [True, False], "blas": [True, False]}
    default_options = {"compiled": True, "blas": True}
    test_package_folder = "../../tests/package/conan"

    def set_version(self):
        text = load(self, os.path.join(root_of(self), "CMakeLists.txt"))
        self.version = re.search(r"^  VERSION (\S+)$", text, re.M)[1]

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "cmake/*", "docs/*",
                        "examples/*", "include/*", "src/*"):
            copy(self, pattern, root_of(self), self.export_sources_folder)

    def validate(self):
        check_min_cppstd(self, 20)

    def system_requirements(self):
        apt = Apt(self)
        apt.install_substitutes(["libmpich-dev", "mpich"], ["libopenmpi-dev", "openmpi-bin"])
        apt.install_substitutes(["libkokkos-dev"], ["libtrilinos-kokkos-dev"])
        apt.install_substitutes(["libboost-dev"], ["libboost1.81-dev"])
        if self.options.blas:
            apt.install(["libopenblas-dev"], check=True)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["SHARDTYPE_COMPILED"] = bool(self.options.compiled)
        toolchain.cache_variables["SHARDTYPE_BLAS"] = bool(self.options.blas)
        for part in ("TESTS", "EXAMPLES", "BENCH"):
            toolchain.cache_variables["SHARDTYPE_BUILD_" + part] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()

    def package_id(self):
        if not self.info.options.compiled:  # headers are for all compilers, but what CMake found is kept
            self.info.settings.rm_safe("compiler")
            self.info.settings.rm_safe("build_type")

    def package_info(self):
        # find_package(shardtype) reads the configuration that CMake has installed.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["lib/cmake/shardtype"]
