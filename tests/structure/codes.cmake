# Codes, sentences, refusal tests and docs/errors.md are one set; Poisoned has Tensor's members. Each
# check also proves that it can fail.
if(Python3_FOUND)
  set(codes_check "${PROJECT_SOURCE_DIR}/scripts/check_docs.py")
  set(members_check "${CMAKE_CURRENT_LIST_DIR}/poisoned_members.py")
  add_test(NAME structure.codes COMMAND "${Python3_EXECUTABLE}" "${codes_check}")
  add_test(NAME structure.codes.faults COMMAND "${Python3_EXECUTABLE}" "${codes_check}" --self-test)
  add_test(NAME structure.poisoned COMMAND "${Python3_EXECUTABLE}" "${members_check}"
                                           "${PROJECT_SOURCE_DIR}" --self-test)
  set_tests_properties(structure.codes structure.codes.faults structure.poisoned
                       PROPERTIES LABELS structure)
endif()
