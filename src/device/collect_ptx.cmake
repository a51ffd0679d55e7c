# Copies the PTX that the compiler kept (NAMES, in KEPT) to OUTPUT, and removes what else it kept, which is much.
#   cmake -D KEPT=<folder> -D OUTPUT=<folder> -D NAMES=<name>,... -P collect_ptx.cmake
string(REPLACE "," ";" NAMES "${NAMES}")
foreach(name IN LISTS NAMES)
  if(NOT EXISTS ${KEPT}/${name}.ptx)
    message(FATAL_ERROR "the compiler did not keep ${name}.ptx in ${KEPT}: delete the object of ${name} and build again")
  endif()
  file(COPY_FILE ${KEPT}/${name}.ptx ${OUTPUT}/${name}.ptx)
endforeach()
file(GLOB kept ${KEPT}/*)
list(FILTER kept EXCLUDE REGEX "\\.ptx$")
if(kept)  # file(REMOVE) wants something to remove
  file(REMOVE ${kept})
endif()
