# Codes, sentences, refusal tests and docs/errors.md are one set. Each check also proves that it can
# fail. Operands are judged in two headers.
if(Python3_FOUND)
  set(codes_check "${PROJECT_SOURCE_DIR}/scripts/check_docs.py")
  add_test(NAME structure.codes COMMAND "${Python3_EXECUTABLE}" "${codes_check}")
  add_test(NAME structure.codes.faults COMMAND "${Python3_EXECUTABLE}" "${codes_check}" --self-test)
  add_test(NAME structure.judged_once
           COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_LIST_DIR}/judged_once.py"
                   "${PROJECT_SOURCE_DIR}" --self-test)
  # Specialisations for operations and headers of a family: their number may fall.
  add_test(NAME structure.mechanisms
           COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_LIST_DIR}/mechanisms.py"
                   "${PROJECT_SOURCE_DIR}" --self-test)
  add_test(NAME structure.code_lines
           COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/scripts/code_lines" --self-test)
  set_tests_properties(structure.codes structure.codes.faults structure.judged_once structure.mechanisms
                       structure.code_lines PROPERTIES LABELS structure)
endif()
if(Python3_FOUND AND SHARDTYPE_CLANGXX)
  # docs/reference.md has an entry for each name in namespace shardtype, and more (reference.py);
  # Poisoned has Tensor's members.
  set(reference_pages "")
  if(SHARDTYPE_ALL_TESTS)
    set(reference_pages --all)
  endif()
  add_test(
    NAME structure.reference
    COMMAND
      "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_LIST_DIR}/reference.py" "${PROJECT_SOURCE_DIR}"
      "${CMAKE_CURRENT_BINARY_DIR}/every_header.hpp" "${PROJECT_BINARY_DIR}/tests/flags.CXX"
      "${SHARDTYPE_CLANGXX}" --self-test ${reference_pages})
  # What clang instantiates for small programs stays within 3 % of compile_counts.txt.
  add_test(NAME structure.compile_counts
           COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/scripts/compile_counts"
                   "${SHARDTYPE_CLANGXX}" "${PROJECT_BINARY_DIR}/tests/flags.CXX" --self-test)
  # A user's function of a public name is called, or the call is ambiguous; docs/reference.md lists the rest. CI asks
  # every second day.
  set(names_compilers "${CMAKE_CXX_COMPILER}" "${SHARDTYPE_CLANGXX}")
  list(REMOVE_DUPLICATES names_compilers)
  set(names_part --once) # all names and kinds by all compilers: scripts/test --all
  if(SHARDTYPE_ALL_TESTS)
    set(names_part "")
  endif()
  shardtype_drawn(user_names 2 drawn)
  if(drawn)
    add_test(
      NAME structure.user_names
      COMMAND
        "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_LIST_DIR}/user_names.py"
        "${CMAKE_CURRENT_BINARY_DIR}/every_header.hpp"
        "${PROJECT_SOURCE_DIR}/include/shardtype/shardtype.hpp" "${PROJECT_BINARY_DIR}/tests/flags.CXX"
        "${PROJECT_SOURCE_DIR}/docs/reference.md" "${SHARDTYPE_CLANGXX}" ${names_compilers}
        ${names_part})
    set_tests_properties(structure.user_names PROPERTIES TIMEOUT 3000 PROCESSORS 2 LABELS structure)
  endif()
  # No call of ours finds a user's function: by clang's syntax tree, and beside functions of all these names. It
  # compiles the registry of operations: each has a rule, a plan, a run and a gradient or none.
  add_test(
    NAME structure.unqualified_calls
    COMMAND
      "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_LIST_DIR}/unqualified_calls.py"
      "${CMAKE_CURRENT_BINARY_DIR}/every_header.hpp" "${PROJECT_BINARY_DIR}/tests/flags.CXX"
      "${CMAKE_CURRENT_LIST_DIR}/registry.cpp" "${SHARDTYPE_CLANGXX}" ${names_compilers}
      ${names_part})
  set_tests_properties(structure.unqualified_calls PROPERTIES TIMEOUT 3000 PROCESSORS 2)
  set_tests_properties(structure.reference structure.compile_counts structure.unqualified_calls
                       PROPERTIES LABELS structure)
endif()
