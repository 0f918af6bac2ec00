#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Checks that the object of test_precompiled.cpp refers to what the library has precompiled and does not contain it:
#
#     check_object.sh <nm> <object> <precompiled.hpp>
set -euo pipefail
symbols=$("$1" -C "$2")

contained=$(grep -E '^[0-9a-f]* *[TtWw] .*Filigree::Impl::(Product|Conversion|CrsCheck|Optimization)<[^(]*>::' <<< "$symbols" || true)
if [ -n "$contained" ]; then
  printf 'The object contains functions that the library has precompiled:\n%s\n' "$contained"
  exit 1
fi

# must_refer_to <class> <function> [format]
must_refer_to() {
  if ! grep -qE "^ *U .*Filigree::Impl::$1<.*${3:+[A-Za-z:]*::$3<.*}::$2\(" <<< "$symbols"; then
    echo "The object does not refer to $1::$2${3:+ of $3}"
    exit 1
  fi
}
# BSR exists only with newer Kokkos Kernels.
formats=$(grep -oE '\(KIND, [A-Za-z]+Matrix, Scalar' "$3" | grep -oE '[A-Za-z]+Matrix' | grep -v BsrMatrix)
[ "$(wc -w <<< "$formats")" -ge 13 ] || { echo "$3 lists too few formats: $formats"; exit 1; }
for format in $formats; do
  # Kokkos Kernels multiplies CRS. Whether the compiler keeps the call for other strides depends on its optimisation.
  if [ "$format" != CrsMatrix ]; then
    must_refer_to Product one_column "$format"
    must_refer_to Product all_columns "$format"
  fi
  must_refer_to Product scale_y "$format"
  must_refer_to Conversion from_crs "$format"
  must_refer_to Conversion refill "$format"
  must_refer_to Conversion first_mismatch "$format"
  must_refer_to Conversion to_crs "$format"
done
must_refer_to Product one_column_by_kokkos_kernels CrsMatrix
must_refer_to CrsCheck check
must_refer_to Optimization predict_all
must_refer_to Optimization convert_to_best
