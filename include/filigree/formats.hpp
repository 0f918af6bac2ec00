// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one list of formats. The typed tests, the perf programs and AnyMatrix iterate over it.
#pragma once

#include "filigree/core/precompiled.hpp"
#include "filigree/core/refuse_kokkos_sparse_spmv.hpp"
#include "filigree/formats/bell/bell_check.hpp"
#include "filigree/formats/bell/bell_convert.hpp"
#include "filigree/formats/bell/bell_spmv.hpp"
#include "filigree/formats/bsr/bsr_check.hpp"
#include "filigree/formats/bsr/bsr_convert.hpp"
#include "filigree/formats/bsr/bsr_spmv.hpp"
#include "filigree/formats/cds/cds_check.hpp"
#include "filigree/formats/cds/cds_convert.hpp"
#include "filigree/formats/cds/cds_spmv.hpp"
#include "filigree/formats/coo/coo_check.hpp"
#include "filigree/formats/coo/coo_convert.hpp"
#include "filigree/formats/coo/coo_kokkos.hpp"
#include "filigree/formats/coo/coo_spmv.hpp"
#include "filigree/formats/coo/coo_wrap.hpp"
#include "filigree/formats/crs/crs_check.hpp"
#include "filigree/formats/crs/crs_convert.hpp"
#include "filigree/formats/crs/crs_spmv.hpp"
#include "filigree/formats/dia/dia_check.hpp"
#include "filigree/formats/dia/dia_convert.hpp"
#include "filigree/formats/dia/dia_spmv.hpp"
#include "filigree/formats/dict_cds/dict_cds_check.hpp"
#include "filigree/formats/dict_cds/dict_cds_convert.hpp"
#include "filigree/formats/dict_cds/dict_cds_spmv.hpp"
#include "filigree/formats/ell/ell_check.hpp"
#include "filigree/formats/ell/ell_convert.hpp"
#include "filigree/formats/ell/ell_spmv.hpp"
#include "filigree/formats/hec/hec_check.hpp"
#include "filigree/formats/hec/hec_convert.hpp"
#include "filigree/formats/hec/hec_spmv.hpp"
#include "filigree/formats/hyb/hyb_check.hpp"
#include "filigree/formats/hyb/hyb_convert.hpp"
#include "filigree/formats/hyb/hyb_spmv.hpp"
#include "filigree/formats/jds/jds_check.hpp"
#include "filigree/formats/jds/jds_convert.hpp"
#include "filigree/formats/jds/jds_spmv.hpp"
#include "filigree/formats/sell/sell_check.hpp"
#include "filigree/formats/sell/sell_convert.hpp"
#include "filigree/formats/sell/sell_spmv.hpp"
#include "filigree/formats/split_cds/split_cds_check.hpp"
#include "filigree/formats/split_cds/split_cds_convert.hpp"
#include "filigree/formats/split_cds/split_cds_spmv.hpp"
#include "filigree/formats/sym_cds/sym_cds_check.hpp"
#include "filigree/formats/sym_cds/sym_cds_convert.hpp"
#include "filigree/formats/sym_cds/sym_cds_spmv.hpp"
#include "filigree/formats/wrapped_crs/wrapped_crs_check.hpp"
#include "filigree/formats/wrapped_crs/wrapped_crs_convert.hpp"
#include "filigree/formats/wrapped_crs/wrapped_crs_spmv.hpp"

namespace Filigree {

/// The class template of a format as a type, for lists of formats.
template <template <class, class, class, class, class> class Matrix>
struct Format {
  /// The class of the format with these template arguments.
  template <class Scalar, class Ordinal, class Device, class MemoryTraits, class SizeType>
  using matrix = Matrix<Scalar, Ordinal, Device, MemoryTraits, SizeType>;
};

/// A list of Format types.
template <class... Formats>
struct FormatList {};

/// The formats of matrices that have no special property.
using GeneralFormats = FormatList<Format<CrsMatrix>,
#if FILIGREE_HAS_BSR
                                  Format<BsrMatrix>,
#endif
                                  Format<WrappedCrsMatrix>, Format<CooMatrix>, Format<EllMatrix>,
                                  Format<SellMatrix>, Format<HybMatrix>, Format<HecMatrix>, Format<JdsMatrix>,
                                  Format<DiaMatrix>, Format<CdsMatrix>, Format<BellMatrix>>;

/// The formats of symmetric and Hermitian matrices.
using SymmetricFormats = FormatList<Format<SymCdsMatrix>>;

/// The formats of matrices in which blocks repeat.
using DictionaryFormats = FormatList<Format<DictCdsMatrix>>;

/// The formats of doubles that are stored as two halves.
using SplitFormats = FormatList<Format<SplitCdsMatrix>>;

namespace Impl {
template <class... First, class... Second, class... Third>
FormatList<First..., Second..., Third...> joined(FormatList<First...>, FormatList<Second...>,
                                                 FormatList<Third...> = FormatList<>());
}  // namespace Impl

/// All formats that can have any scalar type. SplitFormats have double only.
using AllFormats = decltype(Impl::joined(GeneralFormats(), SymmetricFormats(), DictionaryFormats()));

// The formats in the list of core/precompiled.hpp, after a first element that stands for none.
#define FILIGREE_LIST_FORMAT(KIND, Name, Scalar, SizeType) , Format<Name>
static_assert(std::is_same_v<FormatList<void FILIGREE_FOR_PRECOMPILED_FORMATS(FILIGREE_LIST_FORMAT, , , )>,
                             decltype(Impl::joined(FormatList<void>(), AllFormats()))>,
              "The list of precompiled formats in core/precompiled.hpp must be that of AllFormats.");
#undef FILIGREE_LIST_FORMAT

/// Calls visit(Format<...>{}) for each format of a list, in its order.
template <class Visit, class... Formats>
void for_each_format(FormatList<Formats...>, Visit&& visit) {
  (visit(Formats{}), ...);
}

/// The variants of a format, each with its name. The first is the default.
template <class Matrix>
auto named_variants() {
  using Traits = MatrixTraits<Matrix>;
  auto variants = variants_of<typename Traits::options_type>();
  for (auto& variant : variants)
    if (variant.name.empty()) variant.name = Traits::name();
  return variants;
}

namespace Impl {
template <class Options, class = void>
struct HasBlockSize : std::false_type {};
template <class Options>
struct HasBlockSize<Options, std::void_t<decltype(Options::block_size)>> : std::true_type {};

/// Sets the block size in the options of a format, if they have one.
template <class Options>
void set_block_size(Options& options, int block_size) {
  if constexpr (HasBlockSize<Options>::value) options.block_size = block_size;
}
}  // namespace Impl

}  // namespace Filigree
